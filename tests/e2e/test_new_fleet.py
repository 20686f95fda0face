"""A fleet of one's own, from its first command to an answer: by the wheel, and in a clone without the examples."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.support.fleet_folder import ROOT
from tests.support.wheels import build_wheels, install

pytestmark = [pytest.mark.cdk, pytest.mark.triton, pytest.mark.nightly]
CONFIG = """\
backend: "python"
max_batch_size: 8
input { name: "TEXT" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "LENGTH" data_type: TYPE_INT32 dims: [ 1 ] }
"""
MODEL = """\
import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("LENGTH", self.lengths(each))]) for each in requests]

    def lengths(self, request):
        texts = pb.get_input_tensor_by_name(request, "TEXT").as_numpy()
        return np.array([[len(each[0])] for each in texts], dtype=np.int32)
"""
REGION = "us-east-1"
REMOVED_FOLDERS = ("examples/", "locks/", "tests/", "benchmarks/")
"""Folders that the owner of a clone may remove; the tests are about the examples."""
ANSWER = '{"outputs": [{"name": "LENGTH", "shape": [2, 1], "datatype": "INT32", "data": [5, 5]}]}\n'


class Shell:
    """Commands in a folder, with an installed Python's programs first on PATH."""

    ready_options = tuple(f"--old-file={name}/.ready" for name in (".venv", ".venv-checkov", "node_modules"))
    """For make: what `make setup` makes exists."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self._bin = folder, python.parent

    def run(self, *command: str, **settings: str) -> str:
        """The output of a command; it must end with 0."""
        path = f"{self._bin}{os.pathsep}{os.environ['PATH']}"
        variables = {**os.environ, **settings, "PATH": path}
        process = subprocess.run(
            [shutil.which(command[0], path=variables["PATH"]) or command[0], *command[1:]],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    def set_up(self, target: str = "setup") -> str:
        """`make TARGET` after `make setup`, with what that installs from indexes there already."""
        (self.folder / ".venv").symlink_to(self._bin.parent)
        (self.folder / "node_modules").mkdir()
        for name in (".bin", "@aws-cdk", "aws-cdk", "plotly.js-basic-dist-min"):
            (self.folder / "node_modules" / name).symlink_to(ROOT / "node_modules" / name)
        for name in (".venv", "node_modules"):
            (self.folder / name / ".ready").touch()
        return self.run("make", "--no-print-directory", *self.ready_options, target)

    @contextmanager
    def endpoint(self) -> Iterator[None]:
        """Add an endpoint from a model repository, and deploy it here."""
        model = self.folder / "models" / "length"
        (model / "1").mkdir(parents=True)
        (model / "config.pbtxt").write_text(CONFIG)
        (model / "1" / "model.py").write_text(MODEL)
        self.run("fleet", "new", "length", "--from-repository", "models")
        try:
            self.run("fleet", "local", "up", "length")
            yield
        finally:
            self.run("fleet", "local", "down")

    def lengths(self, fleet: Shell) -> list[int]:
        """Deploy the CDK app of this folder to a fleet's embedded AWS, and ask its endpoint."""
        matches = re.findall(r"^export (\w+)=(.+)$", fleet.run("fleet", "local", "env"), re.MULTILINE)
        aws = {name: "".join(shlex.split(value)) for name, value in matches}
        session: Any = boto3.Session(
            aws["AWS_ACCESS_KEY_ID"], aws["AWS_SECRET_ACCESS_KEY"], region_name=REGION
        )
        s3, runtime = (
            session.client(text, endpoint_url=aws["AWS_ENDPOINT_URL"]) for text in ("s3", "sagemaker-runtime")
        )
        bucket = f"triton-fleet-local-123456789012-{REGION}"
        [archive] = s3.list_objects_v2(Bucket=bucket, Prefix="endpoints/length/")["Contents"]
        url = f"model_data_url=s3://{bucket}/{archive['Key']}"
        cdk = str(ROOT / "node_modules/.bin/cdk")
        self.run(cdk, "deploy", "--all", "--require-approval", "never", "--context", url, **aws)
        tensor = {"name": "TEXT", "shape": [2, 1], "datatype": "BYTES", "data": ["seven", "eight"]}
        answer = runtime.invoke_endpoint(
            EndpointName="lengths", ContentType="application/json", Body=json.dumps({"inputs": [tensor]})
        )
        [output] = json.loads(answer["Body"].read())["outputs"]
        return list(output["data"])

    def answer(self) -> str:
        """The endpoint's answer."""
        return self.run("fleet", "invoke", "length", "--input", 'TEXT=[["seven"], ["eight"]]')


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return install(build_wheels(folder / "wheel"), folder / "venv")


def test_a_fleet_of_the_wheel_gets_a_spec_and_answers(python: Path, tmp_path: Path) -> None:
    Shell(tmp_path, python).run("fleet", "init", "ours", "--account", "123456789012", "--example", "none")
    fleet = Shell(tmp_path / "ours", python)
    fleet.set_up()
    assert (
        fleet.run("fleet", "check", "--env", "dev")
        == "dev: no findings in model_specs/, which has no specs\n"
    )
    with fleet.endpoint():
        assert fleet.answer() == ANSWER
        host = Shell(shutil.copytree(ROOT / "tests/host_app", tmp_path / "host"), python)
        assert host.lengths(fleet) == [5, 5]


def test_the_specs_of_a_new_fleet_are_checked_by_make(python: Path, tmp_path: Path) -> None:
    Shell(tmp_path, python).run("fleet", "init", "example", "--account", "123456789012")
    fleet = Shell(tmp_path / "example", python)
    assert fleet.set_up("check").startswith("written: ")
    (fleet.folder / "model_specs/broken.yaml").write_text("endpoint: broken\n")
    with pytest.raises(AssertionError, match="FL111: the key `triton` is missing"):
        fleet.run("make", *fleet.ready_options, "check")


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="a minute: FLEET_SLOW=1 runs it")
def test_a_clone_without_the_examples_sets_up_gets_a_spec_and_answers(tmp_path: Path) -> None:
    output = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in output.splitlines():
        if (
            not name.startswith(REMOVED_FOLDERS)
            and not fnmatch(name, "model_specs/*.yaml")
            and (ROOT / name).exists()
        ):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "environments/dev.yaml").write_text(
        'environment: dev\naccount: "123456789012"\nregion: us-east-1\n'
    )
    clone = Shell(tmp_path, Path(sys.executable))
    clone.set_up()
    with clone.endpoint():
        assert clone.answer() == ANSWER
