"""The lock of one endpoint does not need the credentials that only another one needs."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from tests.support.typed_command import RunFleet

DIGEST = f"sha256:{'a' * 64}"
IN_S3 = SPEC.replace("sentences", "zoo").replace("../repository", "s3://models/zoo/")
ONNX_IN_S3 = SPEC.replace("sentences", "engines").replace(
    "repository: ../repository}",
    f"repository: ../repository, engines: [{{model: embed, onnx: s3://models/a.onnx, digest: {DIGEST!r}}}]}}",
)


@pytest.fixture
def anonymous(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """An endpoint whose repository is a folder, typed by somebody without credentials."""
    monkeypatch.chdir(folder.root)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    folder.spec()
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "x = 1\n")
    return folder


@pytest.mark.parametrize(("name", "spec"), [("zoo", IN_S3), ("engines", ONNX_IN_S3)])
def test_the_others_are_locked_and_the_one_that_needs_aws_is_named_with_its_line(
    anonymous: FleetFolder, run_fleet: RunFleet, name: str, spec: str
) -> None:
    anonymous.spec(name=name, base=spec)
    result = run_fleet("lock", "--env", "dev")
    assert result.code == 2
    assert "wrote locks/dev/sentences.lock.yaml\n" in result.out
    assert (anonymous.root / "locks/dev/sentences.lock.yaml").read_text() != LOCK
    assert not (anonymous.root / f"locks/dev/{name}.lock.yaml").exists()
    errors = " ".join(result.err.split())
    assert f"cannot run: model_specs/{name}.yaml:5: AWS credentials are missing: " in errors
    assert f"the lock of '{name}' is not written" in errors
    assert f"then run `fleet lock --env dev {name}`" in errors


def test_each_endpoint_that_needs_aws_is_named(anonymous: FleetFolder, run_fleet: RunFleet) -> None:
    anonymous.spec(name="zoo", base=IN_S3)
    anonymous.spec(name="engines", base=ONNX_IN_S3)
    result = run_fleet("lock", "--env", "dev")
    assert result.code == 2
    assert result.err.count("AWS credentials are missing") == 2


def test_beside_a_mistake_no_lock_is_written_and_both_are_reported(
    anonymous: FleetFolder, run_fleet: RunFleet
) -> None:
    anonymous.spec(name="zoo", base=IN_S3)
    anonymous.spec(name="gone", base=SPEC.replace("sentences", "gone").replace("../repository", "../gone"))
    result = run_fleet("lock", "--env", "dev")
    assert result.code == 1
    assert "FL401" in result.err
    assert "model_specs/zoo.yaml:5: AWS credentials are missing" in result.err
    assert (anonymous.root / "locks/dev/sentences.lock.yaml").read_text() == LOCK


def test_an_endpoint_that_is_named_alone_asks_for_nothing_of_others(
    anonymous: FleetFolder, run_fleet: RunFleet
) -> None:
    anonymous.spec(name="zoo", base=IN_S3)
    result = run_fleet("lock", "--env", "dev", "sentences")
    assert (result.code, result.err) == (0, "")
