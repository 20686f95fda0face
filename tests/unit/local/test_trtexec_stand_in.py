"""The stand-in of trtexec takes what the real one takes, as far as the catalog and its own data know."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_engine.trtexec import TensorRT, build_command, load_command
from fleet_emulator.stand_ins.engines.trtexec import Trtexec, options
from triton_fleet.builds.engines.endpoint_engines import trtexec_arguments
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.engines import engine_option
from triton_fleet.catalog.images import release, releases
from triton_fleet.catalog.releases import numbers
from triton_fleet.spec.engine import Engine

VERSIONS = sorted(
    {
        version
        for version in (release(name).tensorrt for name in releases())
        if version is not None and numbers(version) >= (8, 6)
    }
    | {"10.16.0.0", "11.0.0.0", "11.1.0.106"}
)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_precision_is_taken_by_those_that_the_catalog_knows_it_of(version: str) -> None:
    for value, declared_precision in data_file("tensorrt.yaml")["precisions"].items():
        if flag := declared_precision.get("flag"):
            assert (flag in options(version)) == engine_option("precision", value).known_to(version), flag


@pytest.mark.parametrize("version", VERSIONS)
def test_both_calls_of_a_build_are_taken(version: str) -> None:
    engine = Engine.model_validate(
        {
            "model": "m",
            "onnx": "m.onnx",
            "precision": "fp16",
            "compatibility": "ampere+",
            "workspace": "1GiB",
            "shapes": {"ids": ["1x2", "2x2", "4x2"]},
        }
    )
    arguments = [argument.text for argument in trtexec_arguments(engine, version)]
    tensorrt, path = TensorRT("trtexec", version), Path("here")
    commands = [
        build_command(tensorrt, arguments, onnx=path, plan=path),
        load_command(tensorrt, arguments, plan=path),
    ]
    for command in commands:
        assert {argument.partition("=")[0] for argument in command[1:]} <= options(version)


def test_every_line_says_that_it_is_a_stand_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in = Trtexec("10.9.0.34", {})
    for arguments in (["--help"], ["--workspace=1"], [f"--loadEngine={tmp_path / 'none'}"], ["--fp16"]):
        stand_in.answer(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 12
    assert [line for line in lines if "stand-in" not in line] == []
