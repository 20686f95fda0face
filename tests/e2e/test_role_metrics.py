"""Metrics that an endpoint's role publishes are in the embedded CloudWatch if the role may put them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from moto.cloudwatch.models import cloudwatch_backends

from tests.support.endpoint_ids import endpoint_id
from tests.support.zoo import ROLE, Zoo
from triton_fleet.local.metrics.publisher import Publisher
from triton_fleet.local.metrics.recorder import Recorder
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = pytest.mark.triton

SAGEMAKER, INSTANCES, TRITON = "AWS/SageMaker", "/aws/sagemaker/Endpoints", "TritonFleet/zoo"
TRUST = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "sagemaker.amazonaws.com"}}


class MeasuredRole:
    """A served endpoint, its role, and what is published of it; each look is a minute after the last."""

    def __init__(self, zoo: Zoo) -> None:
        self.zoo, self.iam, self.minutes = zoo, zoo.client("iam"), 0
        self.role = ROLE.rpartition("/")[2]
        self.recorder = Recorder()
        self.publisher = Publisher(
            self.recorder,
            sources=zoo.host.sources,
            gauges=zoo.host.gauges,
            cloudwatch=lambda *_: zoo.client("cloudwatch"),
            clock=lambda: self.minutes * 60.0,
        )
        document = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
        self.iam.create_role(RoleName=self.role, AssumeRolePolicyDocument=document)

    def grant(self, *namespaces: str) -> None:
        """Let the role put metrics in these namespaces, and in no others."""
        statement = {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringLike": {"cloudwatch:namespace": namespaces}},
        }
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.iam.put_role_policy(RoleName=self.role, PolicyName="metrics", PolicyDocument=document)

    def published_names(self) -> set[str]:
        """The namespaces of all that is published now."""
        cloudwatch_backends["123456789012"]["us-east-1"].reset()
        self.minutes += 1
        self.recorder.record(endpoint_id("zoo"), "AllTraffic", "invocations", 1.0)
        self.publisher.publish_on_demand()
        return {metric["Namespace"] for metric in self.zoo.client("cloudwatch").list_metrics()["Metrics"]}

    def missing_permissions(self) -> object:
        """The metrics that the status names."""
        (report,) = self.zoo.host.report()
        return report["missing_permissions"]


@pytest.fixture(scope="module")
def role_metrics(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MeasuredRole]:
    zoo = Zoo(runtime, tmp_path_factory.mktemp("zoo"))
    zoo.start()
    yield MeasuredRole(zoo)
    zoo.stop()


def lacks(namespace: str) -> str:
    return f"no metrics in {namespace}: {ROLE} may not put them (cloudwatch:PutMetricData)"


def test_a_role_without_the_permission_publishes_none_and_the_status_says_why(
    role_metrics: MeasuredRole,
) -> None:
    assert role_metrics.published_names() == {SAGEMAKER}
    assert role_metrics.missing_permissions() == [lacks(INSTANCES), lacks(TRITON)]


def test_a_permission_for_one_namespace_is_none_for_the_other(role_metrics: MeasuredRole) -> None:
    role_metrics.grant("/aws/sagemaker/*")
    assert role_metrics.published_names() == {SAGEMAKER, INSTANCES}
    assert role_metrics.missing_permissions() == [lacks(TRITON)]


def test_a_permission_counts_from_the_next_publishing_on(role_metrics: MeasuredRole) -> None:
    role_metrics.grant("/aws/sagemaker/*", TRITON)
    assert role_metrics.published_names() == {SAGEMAKER, INSTANCES, TRITON}
    assert role_metrics.missing_permissions() == []
    role_metrics.grant(TRITON)
    assert role_metrics.published_names() == {SAGEMAKER, TRITON}
    assert role_metrics.missing_permissions() == [lacks(INSTANCES)]
