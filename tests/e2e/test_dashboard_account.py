"""`fleet dashboard --env E` draws what the CloudWatch of an account has, with the user's own credentials."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import pytest

from tests.support.dashboard_fleet import DashboardFleet, dashboard_fleet
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import ENVIRONMENT, LOCK, FleetFolder
from triton_fleet.awsapi.emulator import local_variables


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardFleet]:
    folder = FleetFolder(tmp_path_factory.mktemp("dashboard") / "fleet")
    folder.spec()
    folder.spec(name="others", base="endpoint: others\n", text='triton: "25.04"\n')
    folder.environment()
    folder.write("locks/dev/sentences.lock.yaml", LOCK)
    with dashboard_fleet(folder) as fleet:
        yield fleet


@pytest.fixture(scope="module")
def account(fleet: DashboardFleet) -> Mapping[str, str]:
    """The embedded AWS as the account of `prod`: the variables of a user who is signed in there."""
    text = ENVIRONMENT.replace("dev", "prod").replace("111122223333", "123456789012")
    fleet.folder.write("environments/prod.yaml", text)
    fleet.folder.write("locks/prod/sentences.lock.yaml", LOCK)
    return local_variables(os.environ, region="us-east-1", url=fleet.aws.url, keys=KEYS)


def test_the_dashboard_of_an_account_is_drawn_with_what_its_cloudwatch_has(
    fleet: DashboardFleet, account: Mapping[str, str]
) -> None:
    fleet.deploy(fleet.folder.resolve("prod", "sentences"))
    fleet.client("cloudwatch").put_metric_data(
        Namespace="AWS/SageMaker",
        MetricData=[
            {
                "MetricName": "Invocations",
                "Dimensions": [
                    {"Name": "EndpointName", "Value": "sentences"},
                    {"Name": "VariantName", "Value": "AllTraffic"},
                ],
                "Values": [1.0],
                "Counts": [37.0],
            }
        ],
    )
    process = fleet.fleet("dashboard", "sentences", "--env", "prod", variables=account)
    written_root = fleet.folder.root / ".fleet/prod/dashboards/sentences.html"
    assert (process.returncode, process.stdout.strip()) == (0, str(written_root)), process.stderr
    text = written_root.read_text()
    assert "of CloudWatch, account 123456789012, us-east-1" in text
    assert '"y": [37.0]' in text
    assert "on this machine" not in text
    assert "embedded" not in text


def test_what_the_local_fleet_measured_of_an_environment_is_published_before_it_is_drawn(
    fleet: DashboardFleet, account: Mapping[str, str]
) -> None:
    cloudwatch = fleet.client("cloudwatch")
    fleet.record_invocation(latency=1000.0)
    assert cloudwatch.list_metrics(MetricName="ModelLatency")["Metrics"] == []
    assert fleet.fleet("dashboard", "sentences", "--env", "prod", variables=account).returncode == 0
    assert len(cloudwatch.list_metrics(MetricName="ModelLatency")["Metrics"]) == 1


def test_without_a_stack_in_the_account_it_says_what_deploys_one(
    fleet: DashboardFleet, account: Mapping[str, str]
) -> None:
    process = fleet.fleet("dashboard", "others", "--env", "prod", variables=account)
    assert process.returncode == 2
    assert "the stack triton-fleet-prod-others is not deployed in prod" in process.stderr
    assert "remedy: run `fleet deploy --env prod` first" in process.stderr


def test_credentials_of_another_account_are_refused(
    fleet: DashboardFleet, account: Mapping[str, str]
) -> None:
    process = fleet.fleet("dashboard", "sentences", "--env", "dev", variables=account)
    assert (process.returncode, "FL602" in process.stderr) == (1, True)
