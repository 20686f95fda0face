"""Machines whose nvidia-smi says something else than one line about one GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_engine import gpu
from compile_engine.gpu import require_gpu
from engine_request.problems import BuildError
from engine_request.request import EngineRequest as ScriptRequest
from tests.support.engine_builds import EngineStore

ONE_GPU = "NVIDIA A10G, 550.163.01, 23028 MiB"


class NvidiaSmi:
    """An nvidia-smi that is a script of shell; of the compute capability it says 8.6."""

    def __init__(self, folder: Path, store: EngineStore) -> None:
        self._file, self._store = folder / "nvidia-smi", store

    def says(self, script: str, capability: str = "echo 8.6") -> gpu.Gpu:
        """The GPU that is read of it."""
        self._file.write_text(
            f'#!/bin/sh\ncase "$1" in *compute_cap*) {capability};; *) {script};; esac\n', encoding="utf-8"
        )
        self._file.chmod(0o755)
        return require_gpu(ScriptRequest.of(self._store.request().json().encode()))


@pytest.fixture
def nvidia_smi(store: EngineStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NvidiaSmi:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return NvidiaSmi(tmp_path, store)


def test_of_several_gpus_the_first_counts_which_trtexec_takes(nvidia_smi: NvidiaSmi) -> None:
    gpu = nvidia_smi.says(f"yes '{ONE_GPU}' | head -n 8", "yes 8.6 | head -n 8")
    assert (gpu.name, gpu.compute_capability, gpu.memory) == ("NVIDIA A10G", "8.6", "23028 MiB")


@pytest.mark.parametrize("driver", ["[N/A]", "R550"])
def test_a_driver_that_does_not_say_its_version_is_left_to_trtexec(
    nvidia_smi: NvidiaSmi, driver: str
) -> None:
    assert nvidia_smi.says(f"echo 'NVIDIA A10G, {driver}, 23028 MiB'").driver == driver


def test_a_driver_of_one_number_is_compared(nvidia_smi: NvidiaSmi) -> None:
    with pytest.raises(BuildError, match="driver 525 or newer; this host has 470") as error:
        nvidia_smi.says("echo 'NVIDIA A10G, 470, 23028 MiB'")
    assert error.value.problem.exit_code == 12


def test_a_warning_beside_the_answer_is_not_the_answer(nvidia_smi: NvidiaSmi) -> None:
    assert (
        nvidia_smi.says(f"echo 'WARNING: infoROM is corrupted' >&2; echo '{ONE_GPU}'").name == "NVIDIA A10G"
    )


def test_why_there_is_no_gpu_is_told_wherever_it_is_said(nvidia_smi: NvidiaSmi) -> None:
    with pytest.raises(BuildError, match=r"exit code 9\): Failed to initialize NVML") as error:
        nvidia_smi.says("echo 'Failed to initialize NVML' >&2; exit 9")
    assert error.value.problem.exit_code == 10


def test_what_is_no_utf_8_is_read_all_the_same(nvidia_smi: NvidiaSmi) -> None:
    assert nvidia_smi.says(r"printf 'NVIDIA\256 A10G, 550.1, 23028 MiB\n'").driver == "550.1"


def test_one_that_hangs_is_given_up(nvidia_smi: NvidiaSmi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "ANSWER_SECONDS", 0.1)
    with pytest.raises(BuildError, match="nvidia-smi does not answer within") as error:
        nvidia_smi.says("exec sleep 600")
    assert error.value.problem.exit_code == 10
