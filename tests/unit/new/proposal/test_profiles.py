"""A spec that is proposed over profiles has what they lack, and nothing that they have."""

from __future__ import annotations

import pytest
import yaml
from typer.testing import CliRunner

from tests.support.new_specs import NewSpecs
from triton_fleet.cli.commands import app
from triton_fleet.findings import FindingsError

GPU = 'triton: "25.04"\ninstance: {type: ml.g5.2xlarge, count: 2}\n'


def test_what_a_profile_has_is_not_repeated(new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", GPU)
    text = new.text(profiles=["gpu"])
    keys = yaml.safe_load(text)
    assert keys["profile"] == "gpu"
    assert not {"triton", "instance"} & keys.keys()
    assert {"endpoint", "mode", "models", "scaling"} <= keys.keys()
    assert new.spec().instance.type == "ml.g5.2xlarge"
    assert new.findings() == []


def test_the_count_of_a_profile_gives_way_to_the_range_of_scaling(new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", GPU.replace("count: 2", "count: 1"))
    text = new.text(profiles=["gpu"])
    assert yaml.safe_load(text)["instance"] == {"count": 2}
    assert "# `scaling` keeps 2 to 4 instances; a layer below begins with 1." in text
    assert new.spec().instance.type == "ml.g5.2xlarge"
    assert new.findings() == []


def test_several_profiles_are_named_in_their_order(new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", GPU)
    new.fleet.write("profiles/scaled.yaml", "scaling: {min: 3, max: 9, gpu_utilization: 50}\n")
    keys = yaml.safe_load(new.text(profiles=["gpu", "scaled"]))
    assert keys["profile"] == ["gpu", "scaled"]
    assert "scaling" not in keys
    scaling = new.spec().scaling
    assert scaling is not None
    assert scaling.max == 9


def test_a_profile_that_is_given_twice_is_named_once(new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", GPU)
    assert yaml.safe_load(new.text(profiles=["gpu", "gpu"]))["profile"] == "gpu"


def test_a_profile_counts_in_an_environment_with_promoted_specs(new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", GPU)
    new.fleet.environment(name="early")
    new.fleet.environment("promoted_from: early\n")
    assert "instance" not in yaml.safe_load(new.text(profiles=["gpu"]))


def test_an_unknown_profile_is_told_and_nothing_is_written(new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", GPU)
    with pytest.raises(FindingsError, match="there is no profile 'gpus'"):
        new.text(profiles=["gpus"])
    assert not (new.fleet.root / "model_specs/fresh.yaml").exists()


def test_a_profile_goes_with_a_repository(new: NewSpecs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(new.fleet.root)
    result = CliRunner().invoke(app, ["new", "fresh", "--from-spec", "sentences", "--profile", "gpu"])
    assert result.exit_code == 2
