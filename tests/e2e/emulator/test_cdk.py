"""The embedded AWS as the real CDK CLI meets it: bootstrap, deploy, update, fail, roll back, destroy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.cdk_cli import CdkCli, synthesise
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks
from tests.support.embedded_keys import KEYS

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

ROOT = Path(__file__).parents[3]
# The CLI retries an HTTP 500 for 45 seconds and more; a failure that it understands is told at once.
SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class Account:
    """An embedded AWS with what deploys to it."""

    aws: EmbeddedAws
    host: RecordingHost
    folder: Path

    def cdk(self, *arguments: str, variant: str = "first", fails: bool = False) -> str:
        """Run the CDK CLI on a variant of the stacks; what it says on both streams."""
        return CdkCli(self.aws.url, self.folder, SECONDS)(*arguments, variant=variant, fails=fails)

    def statuses(self) -> dict[str, str]:
        stacks = client(self.aws, "cloudformation").describe_stacks()["Stacks"]
        return {stack["StackName"]: stack["StackStatus"] for stack in stacks}

    def endpoint(self) -> tuple[str, str]:
        """The status of the endpoint and the image of its model."""
        sagemaker = client(self.aws, "sagemaker")
        endpoint = sagemaker.describe_endpoint(EndpointName="embedded")
        config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
        model = sagemaker.describe_model(ModelName=config["ProductionVariants"][0]["ModelName"])
        return endpoint["EndpointStatus"], model["PrimaryContainer"]["Image"]


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    folder = tmp_path_factory.mktemp("embedded-cdk")
    account = Account(
        aws=EmbeddedAws(host := RecordingHost(), log=folder / "aws.log", keys=KEYS), host=host, folder=folder
    )
    synthesise("app.py", folder)
    account.aws.start()
    try:
        account.cdk("bootstrap", "aws://123456789012/us-east-1")
        s3 = client(account.aws, "s3")
        s3.create_bucket(Bucket="embedded-data")
        s3.put_object(Bucket="embedded-data", Key="model.tar.gz", Body=b"archive")
        yield account
    finally:
        account.aws.stop()


@pytest.fixture(scope="module")
def first_deploy(account: Account) -> str:
    return account.cdk("deploy", "--all", "--concurrency", "4")


def test_several_stacks_are_deployed_at_once(account: Account, first_deploy: str) -> None:
    assert set(account.statuses().values()) == {"CREATE_COMPLETE"}
    assert (
        "Outputs:\nServing.Arn = arn:aws:sagemaker:us-east-1:123456789012:endpoint/embedded" in first_deploy
    )
    assert account.endpoint() == ("InService", "triton:25.03")


def test_the_progress_of_each_resource_is_drawn(first_deploy: str) -> None:
    lines = [line for line in first_deploy.splitlines() if line.startswith("Serving |")]
    kinds = [line.split("|")[4].strip() for line in lines if "CREATE_COMPLETE" in line]
    assert kinds.index("AWS::SageMaker::Model") < kinds.index("AWS::SageMaker::Endpoint")
    assert kinds[-1] == "AWS::CloudFormation::Stack"


def test_references_between_stacks_reach_the_endpoint(account: Account, first_deploy: str) -> None:
    environment = account.host.served[0].container.environment
    assert environment["BUCKET"].startswith("base-models")
    assert environment["SETTING"] == "1"
    [alarm] = client(account.aws, "cloudwatch").describe_alarms(AlarmNamePrefix="Serving-Latency")[
        "MetricAlarms"
    ]
    assert alarm["AlarmActions"][0].startswith("arn:aws:sns:us-east-1:123456789012:Base-Alarms")


def test_resources_that_moto_lacks_are_found_by_their_own_services(
    account: Account, first_deploy: str
) -> None:
    scaling = client(account.aws, "application-autoscaling")
    [target] = scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
    [policy] = scaling.describe_scaling_policies(ServiceNamespace="sagemaker")["ScalingPolicies"]
    assert policy["TargetTrackingScalingPolicyConfiguration"]["TargetValue"] == 600
    cloudwatch = client(account.aws, "cloudwatch")
    [slow] = cloudwatch.describe_alarms(AlarmNamePrefix="Serving-Slow")["MetricAlarms"]
    assert slow["Metrics"][0]["Expression"] == "latency / 1000"
    assert slow["Threshold"] == 0
    assert len(cloudwatch.list_dashboards()["DashboardEntries"]) == 1
    codebuild = client(account.aws, "codebuild")
    [project] = codebuild.batch_get_projects(names=codebuild.list_projects()["projects"])["projects"]
    assert project["environment"]["environmentVariables"][0]["name"] == "PRECISION"
    assert '"version": "0.2"' in project["source"]["buildspec"]
    s3 = client(account.aws, "s3")
    bucket = account.host.served[0].container.environment["BUCKET"]
    assert "aws:SecureTransport" in s3.get_bucket_policy(Bucket=bucket)["Policy"]
    assert s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"


def test_what_is_not_hosted_is_listed_and_told(account: Account, first_deploy: str) -> None:
    assert sorted(account.aws.skipped_resources) == [
        "AWS::Budgets::Budget Unknown (Base)",
        "Custom::Thing Custom (Base)",
    ]
    assert "Unknown Skipped by the embedded AWS, which does not host AWS::Budgets::Budget" in first_deploy


def test_a_second_deploy_changes_nothing(account: Account, first_deploy: str) -> None:
    served = len(account.host.served)
    assert account.cdk("deploy", "--all").count("(no changes)") == 5
    assert len(account.host.served) == served


def test_a_diff_of_templates_tells_the_replacement(account: Account, first_deploy: str) -> None:
    text = account.cdk("diff", "--method=template", "Serving", variant="changed")
    assert "[~] AWS::SageMaker::Model Model Model replace" in text


@pytest.mark.parametrize("variant", ["changed", "another-type"])
def test_a_diff_of_a_change_set_names_the_same_resources_and_the_endpoint_that_follows(
    account: Account, first_deploy: str, variant: str
) -> None:
    of_template, of_change_set = (
        {
            tuple(line.split()[:3])
            for line in account.cdk("diff", *method, "Serving", variant=variant).splitlines()
            if line.startswith("[")
        }
        for method in (["--method=template"], [])
    )
    assert ("[~]", "AWS::SageMaker::EndpointConfig", "Config") in of_change_set
    # Of what follows from a replacement the CLI's own comparison knows only further replacements.
    assert of_change_set - of_template == {("[~]", "AWS::SageMaker::Endpoint", "Endpoint")}
    assert of_template <= of_change_set


def test_a_change_reaches_the_endpoint_by_an_update(account: Account, first_deploy: str) -> None:
    removed_endpoints = list(account.host.removals)
    text = account.cdk("deploy", "--all", variant="changed")
    assert "Requested update requires the creation of a new physical resource" in text
    assert account.endpoint() == ("InService", "triton:25.04")
    assert account.host.served[-1].container.environment["SETTING"] == "2"
    assert account.host.removals == removed_endpoints
    assert len(client(account.aws, "sagemaker").list_models()["Models"]) == 1
    [project] = client(account.aws, "codebuild").batch_get_projects(names=_project(account))["projects"]
    assert project["description"] == "changed"
    [group] = client(account.aws, "logs").describe_log_groups(logGroupNamePrefix="Base")["logGroups"]
    assert group["retentionInDays"] == 30


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="as test_deploy.py shows it: FLEET_SLOW=1 runs it")
def test_a_failing_update_is_told_and_rolled_back(account: Account, first_deploy: str) -> None:
    before = account.endpoint()
    account.host.failure = "tritonserver stopped: no such backend"
    text = account.cdk("deploy", "Serving", "--exclusively", variant="broken-endpoint", fails=True)
    account.host.failure = ""
    assert "tritonserver stopped: no such backend" in text
    assert account.statuses()["Serving"] == "UPDATE_ROLLBACK_FAILED"
    assert account.endpoint() == before
    stacks = Stacks(account.aws)
    failed_resource_ids = [
        stack_resource["LogicalResourceId"]
        for stack_resource in stacks.api.describe_stack_resources(StackName="Serving")["StackResources"]
        if stack_resource["ResourceStatus"] == "UPDATE_FAILED"
    ]
    assert stacks.continue_rollback("Serving", *failed_resource_ids) == "UPDATE_ROLLBACK_COMPLETE"
    assert account.endpoint() == before
    told_text = account.cdk("deploy", "Serving", "--exclusively", variant="broken-tail", fails=True)
    assert "Could not find model data at s3://embedded-data/absent.tar.gz" in told_text
    assert account.endpoint() == before
    assert [served.container.image for served in account.host.served[-2:]] == ["triton:25.05", before[1]]


@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="as test_deploy.py shows it: FLEET_SLOW=1 runs it")
def test_a_failing_creation_is_told_and_the_next_deploy_works(account: Account, first_deploy: str) -> None:
    account.cdk("destroy", "Serving", "--exclusively", "--force")
    assert account.host.removals[-1] == "embedded"
    text = account.cdk("deploy", "Serving", "--exclusively", variant="no-data", fails=True)
    assert "Could not find model data at s3://embedded-data/none.tar.gz" in text
    assert account.statuses()["Serving"] == "ROLLBACK_COMPLETE"
    account.cdk("deploy", "Serving", "--exclusively", variant="changed")
    assert account.statuses()["Serving"] == "CREATE_COMPLETE"


def test_everything_is_destroyed(account: Account, first_deploy: str) -> None:
    text = account.cdk("destroy", "--all", "--force")
    assert set(account.statuses()) == {"CDKToolkit"}
    assert text.count(": destroyed") == 5
    assert client(account.aws, "sagemaker").list_endpoints()["Endpoints"] == []
    exports = client(account.aws, "cloudformation").list_exports()["Exports"]
    assert [export["Name"] for export in exports] == ["CdkBootstrap-hnb659fds-FileAssetKeyArn"]


def _project(account: Account) -> list[str]:
    projects: list[str] = client(account.aws, "codebuild").list_projects()["projects"]
    return projects
