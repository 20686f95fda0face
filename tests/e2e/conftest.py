"""A real Triton, or an embedded AWS, for each module that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.cloudwatch.models import cloudwatch_backends

from fleet_emulator.server import EmbeddedAws
from tests.support.clinic import Clinic
from tests.support.deployment import ACCOUNT, DEPLOYMENT
from tests.support.deploys import Deploys, empty_account
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks, embedded_aws
from tests.support.embedded_gateway import running_gateway
from tests.support.embedded_keys import KEYS, PROFILE_KEYS
from tests.support.faulty_s3 import FaultyS3, faulty_s3
from tests.support.fleet_folder import FleetFolder
from tests.support.triton_models import Starter
from triton_fleet.aws.access import Access, embedded_access
from triton_fleet.findings import CannotRunError
from triton_fleet.local.triton.runtime import TritonRuntime, find_runtime


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> TritonRuntime:
    try:
        return find_runtime(tmp_path_factory.mktemp("runtime"))
    except CannotRunError as error:
        pytest.skip(str(error))


@pytest.fixture
def starter(runtime: TritonRuntime, tmp_path: Path) -> Iterator[Starter]:
    starter = Starter(runtime, tmp_path)
    yield starter
    for server in starter.servers:
        server.stop()


@pytest.fixture(scope="module")
def aws_and_host() -> Iterator[tuple[EmbeddedAws, RecordingHost]]:
    with embedded_aws() as process:
        yield process


@pytest.fixture(scope="module")
def aws(aws_and_host: tuple[EmbeddedAws, RecordingHost]) -> EmbeddedAws:
    return aws_and_host[0]


@pytest.fixture(scope="module")
def aws_url(aws: EmbeddedAws) -> str:
    return aws.url


@pytest.fixture(scope="module")
def gateway() -> Iterator[EmbeddedAws]:
    """An embedded AWS behind its gateway, as a laptop has it."""
    with running_gateway() as aws:
        yield aws


@pytest.fixture(scope="module")
def empty_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploys]:
    """A fleet whose account has nothing yet."""
    with empty_account(tmp_path_factory.mktemp("deploy") / "fleet") as account:
        yield account


@pytest.fixture
def host(aws_and_host: tuple[EmbeddedAws, RecordingHost]) -> Iterator[RecordingHost]:
    yield aws_and_host[1]
    aws_and_host[1].failure = ""
    aws_and_host[1].may_finish.set()
    aws_and_host[1].may_scale.set()


@pytest.fixture
def access(aws: EmbeddedAws) -> Access:
    return embedded_access(DEPLOYMENT, aws.url, KEYS)


@pytest.fixture
def stacks(aws: EmbeddedAws) -> Stacks:
    return Stacks(aws)


@pytest.fixture
def sagemaker(aws: EmbeddedAws, host: RecordingHost) -> Any:
    return client(aws, "sagemaker")


@pytest.fixture
def ecr(aws: EmbeddedAws) -> Any:
    return client(aws, "ecr")


@pytest.fixture
def scaling(aws: EmbeddedAws) -> Any:
    return client(aws, "application-autoscaling")


@pytest.fixture
def cloudwatch(aws: EmbeddedAws) -> Any:
    return client(aws, "cloudwatch")


@pytest.fixture
def s3_proxy(aws: EmbeddedAws) -> Iterator[FaultyS3]:
    with faulty_s3(aws.url) as proxy:
        yield proxy


@pytest.fixture
def clinic(
    folder: FleetFolder,
    stacks: Stacks,
    aws: EmbeddedAws,
    host: RecordingHost,
    s3_proxy: FaultyS3,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Clinic]:
    """Nothing is deployed, nothing logged and nothing counted."""
    folder.write("environments/dev.yaml", 'environment: dev\naccount: "123456789012"\nregion: us-east-1\n')
    settings = f"endpoint_url = {s3_proxy.url}\nretry_mode = standard\nmax_attempts = 1\n"
    (tmp_path / "config").write_text(f"[profile deployer]\n{PROFILE_KEYS}{settings}")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(folder.root)
    clinic = Clinic(folder, stacks, aws, host, capsys)
    yield clinic
    for stack in stacks.api.describe_stacks()["Stacks"]:
        clinic.delete(stack["StackName"])
    logs = client(aws, "logs")
    for group in logs.describe_log_groups()["logGroups"]:
        logs.delete_log_group(logGroupName=group["logGroupName"])
    for backend in cloudwatch_backends[ACCOUNT].values():
        backend.reset()
