"""An environment of an account that is deployed to the embedded AWS of a local fleet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.deployment import DEPLOYMENT
from tests.support.deploys import ACCOUNT, REGION, Deploys, empty_account
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.own_images import DIGEST
from tests.support.running_aws import running_aws
from triton_fleet.aws.access import embedded_access
from triton_fleet.aws.deploy.endpoint_wait import configuration_to_replace, skipped_waits
from triton_fleet.aws.preflight.network import network
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.awsapi.emulator import LOCAL_FLEET_HEADER
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.project.project import open_project

ROLLOUT = "rollout: {strategy: canary, canary: 25%, bake: 10m, rollback_on: []}\n"
FOUR = SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 4}")
OWN = (
    SPEC.replace("sentences", "detector")
    + f'image: {{uri: {ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/team/detector, digest: "{DIGEST}"}}\n'
)
ENDPOINT = "triton-fleet-dev-sentences"
LOCAL_FLEET = {LOCAL_FLEET_HEADER: "1"}


@pytest.fixture
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploys]:
    """An endpoint with a rollout, one with an image of its own, and the embedded AWS of a local fleet."""
    with empty_account(tmp_path_factory.mktemp("laptop"), LOCAL_FLEET) as deploys:
        deploys.folder.spec(ROLLOUT, base=FOUR)
        deploys.folder.spec(name="detector", base=OWN)
        deploys.lock()
        yield deploys


def test_preflight_and_deploy_name_an_image_that_is_not_served_here_before_anything_begins(
    laptop: Deploys,
) -> None:
    for command in ("preflight", "deploy"):
        refused_process = laptop.fleet(command, "--env", "dev", "detector")
        assert refused_process.returncode == 1, refused_process.stdout
        assert (
            "FL682: the embedded AWS cannot serve 'detector': only sagemaker-tritonserver"
            in refused_process.stderr
        )
    assert laptop.statuses() == {}
    process = laptop.fleet("preflight", "--env", "dev")
    assert "warning[unserved-image] FL682" in process.stderr


@pytest.mark.nightly
def test_the_others_are_deployed_and_an_update_says_how_long_it_would_bake(laptop: Deploys) -> None:
    process = laptop.fleet("deploy", "--env", "dev")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "FL682: the embedded AWS cannot serve 'detector'" in process.stderr
    assert "it is left out" in process.stderr
    assert f"cdk deploy {ENDPOINT}: created" in process.stdout
    assert "bake" not in process.stdout
    laptop.model("x = 2\n")
    laptop.lock()
    text = laptop.deploy("sentences")
    assert f"cdk deploy {ENDPOINT}: updated; on AWS it would bake 2 × 10 min" in text


class TestSkippedWaits:
    @pytest.fixture
    def local_endpoint(self, folder: FleetFolder) -> ResolvedEndpoint:
        folder.spec(ROLLOUT, base=FOUR)
        return folder.resolve()

    @pytest.mark.parametrize(
        ("headers", "waits"), [(LOCAL_FLEET, "on AWS it would bake 2 × 10 min"), ({}, "")]
    )
    def test_an_update_shows_them_on_a_local_fleet_alone(
        self, local_endpoint: ResolvedEndpoint, headers: dict[str, str], waits: str
    ) -> None:
        with running_aws(headers=headers) as aws:
            stacks = data_and_stacks(aws)
            access = embedded_access(DEPLOYMENT, aws.url, KEYS)
            assert configuration_to_replace(access, local_endpoint) == ""
            stacks.create(ENDPOINT, endpoint("sentences"))
            configuration = configuration_to_replace(access, local_endpoint)
            assert skipped_waits(access, local_endpoint, "") == ""
            assert skipped_waits(access, local_endpoint, configuration) == ""
            stacks.update(ENDPOINT, endpoint("sentences", image="triton:25.05"))
            assert skipped_waits(access, local_endpoint, configuration) == waits


@pytest.mark.parametrize(("headers", "codes"), [(LOCAL_FLEET, []), ({}, ["FL678"])])
def test_preflight_looks_for_no_subnets_on_a_local_fleet_whose_containers_join_no_vpc(
    folder: FleetFolder, headers: dict[str, str], codes: list[str]
) -> None:
    groups = "security_groups: [sg-0123456789abcdef0]"
    environment = folder.root / "environments/dev.yaml"
    allowed_text = "allowed_networks: [subnet-0123456789abcdef0, sg-0123456789abcdef0]\n"
    folder.write("environments/dev.yaml", f"{environment.read_text()}{allowed_text}")
    folder.spec(f"network: {{subnets: [subnet-0123456789abcdef0], {groups}}}\n")
    project = open_project(folder.root, "dev")
    with running_aws(headers=headers) as aws:
        subject = Subject(project, resolve_project(project), embedded_access(DEPLOYMENT, aws.url, KEYS))
        assert [finding.code for line in network(subject) for finding in line.findings] == codes


def data_and_stacks(aws: EmbeddedAws) -> Stacks:
    """CloudFormation, and the data of the endpoint's model."""
    s3 = client(aws, "s3")
    s3.create_bucket(Bucket="data")
    s3.put_object(Bucket="data", Key="model.tar.gz", Body=b"archive")
    return Stacks(aws)
