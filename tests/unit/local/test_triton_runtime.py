"""Where there is no Triton, the reason and the way out are said."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

import pytest

from triton_fleet.findings import CannotRunError
from triton_fleet.local.triton.runtime import LIBPYTHON, check_starts, find_runtime, linker_error


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "ppc64le")]
)
def test_another_platform_is_told_which_ones_have_triton_and_what_works_without(
    system: str, machine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(CannotRunError) as caught:
        find_runtime(tmp_path)
    assert caught.value.problem == f"there is no Triton for {system} {machine}"
    assert "x86_64 and aarch64" in caught.value.remedy
    assert "synth and every test that is not marked `triton` work here" in caught.value.remedy


def test_a_python_that_numpy_1_does_not_exist_for_is_told_which_to_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    with pytest.raises(CannotRunError) as caught:
        find_runtime(tmp_path)
    assert "use Python 3.11 or 3.12" in caught.value.remedy


def test_a_missing_wheel_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def raise_missing_package(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(metadata, "distribution", raise_missing_package)
    with pytest.raises(CannotRunError) as caught:
        find_runtime(tmp_path)
    assert caught.value.remedy.startswith(
        "pip install --no-deps nvidia-pytriton==0.7.0; nvidia-pytriton exists for"
    )


def test_a_missing_libpython_is_named_with_its_debian_package() -> None:
    missing_text = "cannot open shared object file: No such file or directory"
    error = linker_error(
        "stub", f"/x/stub: error while loading shared libraries: {LIBPYTHON}.so.1.0: {missing_text}\n"
    )
    assert f"{LIBPYTHON}.so.1.0: cannot open shared object file" in error.problem
    assert f"apt install {LIBPYTHON}" in error.remedy


def test_a_glibc_that_is_too_old_is_named_with_the_systems_that_have_a_newer_one() -> None:
    error = linker_error("tritonserver", "tritonserver: /lib/libc.so.6: version `GLIBC_2.34' not found\n")
    assert "GLIBC_2.34" in error.problem
    assert "Ubuntu 22.04" in error.remedy


def test_a_program_that_the_linker_cannot_start_is_no_program(tmp_path: Path) -> None:
    program = tmp_path / "stub"
    program.write_text(
        "#!/bin/sh\necho 'stub: error while loading shared libraries: libx.so: none' >&2\nexit 127\n"
    )
    program.chmod(0o755)
    with pytest.raises(CannotRunError, match=r"stub of Triton does not start: .*libx\.so"):
        check_starts([str(program)], ())


def test_a_program_that_only_complains_about_its_arguments_was_started(tmp_path: Path) -> None:
    program = tmp_path / "stub"
    program.write_text("#!/bin/sh\necho 'Expected 9 arguments' >&2\nexit 1\n")
    program.chmod(0o755)
    check_starts([str(program)], ())
