"""`fleet deploy` and `fleet destroy` with the real CDK, where an endpoint scales and where AWS is not ready."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.sagemaker.backend import EmbeddedSageMaker
from tests.support.deploys import BUCKET, Deploys, empty_account
from tests.support.fleet_folder import SPEC

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

FOUNDATION, ENDPOINT = "triton-fleet-dev", "triton-fleet-dev-sentences"
NEW_ROLE = (
    "Could not assume role arn:aws:iam::123456789012:role/new. Please ensure that the role exists and allows "
    "principal 'sagemaker.amazonaws.com' to assume the role."
)
WAITS = "the endpoint sentences is Updating: waiting until SageMaker has finished, at most 60 minutes"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploys]:
    with empty_account(tmp_path_factory.mktemp("scaling") / "fleet") as account:
        account.deploy("--foundation")
        yield account


@pytest.fixture
def scaling(account: Deploys) -> Iterator[Deploys]:
    """The endpoint is deployed, and begins to scale."""
    sagemaker = account.client("sagemaker")
    if ENDPOINT not in account.statuses():
        account.deploy()
    account.host.may_scale.clear()
    (variant,) = sagemaker.describe_endpoint(EndpointName="sentences")["ProductionVariants"]
    expected_values = {
        "VariantName": "AllTraffic",
        "DesiredInstanceCount": variant["DesiredInstanceCount"] + 1,
    }
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="sentences", DesiredWeightsAndCapacities=[expected_values]
    )
    yield account
    account.host.may_scale.set()


def until_it_waits(process: subprocess.Popen[str]) -> None:
    """Read what a command says until it waits for the endpoint."""
    assert process.stdout is not None
    text = []
    for line in process.stdout:
        text.append(line)
        if WAITS in line:
            return
    raise AssertionError("".join(text))


def test_a_foundation_over_what_an_earlier_one_has_kept_is_refused_with_the_names_and_taken_over_when_asked(
    account: Deploys,
) -> None:
    account.client("s3").put_object(Bucket=BUCKET, Key="kept", Body=b"kept")
    cloudformation = account.client("cloudformation")
    cloudformation.update_termination_protection(StackName=FOUNDATION, EnableTerminationProtection=False)
    cloudformation.delete_stack(StackName=FOUNDATION)
    account.settle()
    refused_process = account.fleet("deploy", "--env", "dev", "--foundation")
    assert refused_process.returncode == 1, refused_process.stdout + refused_process.stderr
    assert (
        f"FL614: {FOUNDATION} cannot create: AWS::S3::Bucket {BUCKET} exists already"
        in refused_process.stderr
    )
    assert "FL601" not in refused_process.stderr
    command = "fleet deploy --env dev --foundation --import-existing"
    assert f"run `{command}` to take over" in refused_process.stderr
    process = account.fleet(*command.split()[1:])
    assert process.returncode == 0, process.stdout + process.stderr
    assert account.statuses()[FOUNDATION] == "CREATE_COMPLETE"
    assert account.client("s3").get_object(Bucket=BUCKET, Key="kept")["Body"].read() == b"kept"


def test_a_creation_that_failed_by_the_new_role_alone_is_deployed_once_more(
    account: Deploys, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, refusals = EmbeddedSageMaker.create_model, [NEW_ROLE]

    def create(*given_values: Any, **named_value: Any) -> Any:
        if refusals:
            raise ValidationError(refusals.pop())
        return make(*given_values, **named_value)

    monkeypatch.setattr(EmbeddedSageMaker, "create_model", create)
    text = account.deploy()
    assert "sentences: SageMaker could not assume the new role yet: deploying once more" in text
    assert account.statuses()[ENDPOINT] == "CREATE_COMPLETE"


def test_an_interrupted_wait_has_changed_nothing(scaling: Deploys) -> None:
    scaling.folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.g5.xlarge, count: 2"))
    before = scaling.events(ENDPOINT)
    process = scaling.start_deploy()
    until_it_waits(process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert scaling.events(ENDPOINT) == before


def test_a_deploy_that_meets_scaling_waits_and_updates(scaling: Deploys) -> None:
    process = scaling.start_deploy()
    until_it_waits(process)
    scaling.host.may_scale.set()
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0, text
    assert scaling.statuses()[ENDPOINT] == "UPDATE_COMPLETE"


def test_a_destruction_that_meets_scaling_waits_and_deletes(scaling: Deploys) -> None:
    process = scaling.start("destroy", "sentences", "--env", "dev", "--yes")
    until_it_waits(process)
    scaling.host.may_scale.set()
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0, text
    assert ENDPOINT not in scaling.statuses()
