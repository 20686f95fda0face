"""How the embedded SageMaker deploys an update: what it refuses, and what calls it back."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.sagemaker.backend import CONFIGURATION_IN_USE
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.embedded_app.updates import (
    ALL_AT_ONCE_POLICY,
    HALF,
    create_config,
    guarded_config,
    put_alarm,
)


@pytest.fixture
def deployable(sagemaker: Any, cloudwatch: Any) -> str:
    """An endpoint of four instances, with a second configuration and an alarm to go with it."""
    if not sagemaker.list_endpoints(NameContains="deployable")["Endpoints"]:
        for number in (1, 2):
            create_config(sagemaker, f"deployable-{number}", {"InitialInstanceCount": 4})
        sagemaker.create_endpoint(EndpointName="deployable", EndpointConfigName="deployable-1")
        put_alarm(cloudwatch, "deployable-errors")
    return "deployable"


def blue_green(**routing: Any) -> dict[str, Any]:
    return {"BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": {**ALL_AT_ONCE_POLICY, **routing}}}


def rolling_config(**policy: Any) -> dict[str, Any]:
    return {"RollingUpdatePolicy": {"MaximumBatchSize": HALF, "WaitIntervalInSeconds": 0, **policy}}


def instances(count: int) -> dict[str, Any]:
    return {"Type": "INSTANCE_COUNT", "Value": count}


@pytest.mark.parametrize(
    ("deployment", "words"),
    [
        (blue_green() | rolling_config(), "Only one of BlueGreenUpdatePolicy and RollingUpdatePolicy"),
        (blue_green(Type="SUDDEN"), "Value 'SUDDEN' at 'deploymentConfig.blueGreenUpdatePolicy.*enum value"),
        (blue_green(WaitIntervalInSeconds=3601), "Value '3601' at .*value less than or equal to 3600"),
        (blue_green(Type="CANARY"), "CanarySize must be specified for CANARY"),
        (blue_green(Type="CANARY", CanarySize=instances(3)), "CanarySize must be 0-50% of .*'AllTraffic'"),
        (blue_green(Type="LINEAR"), "LinearStepSize must be specified for LINEAR"),
        (blue_green(Type="LINEAR", LinearStepSize={**HALF, "Value": 9}), "LinearStepSize must be 10-50%"),
        (rolling_config(MaximumBatchSize={**HALF, "Value": 51}), "MaximumBatchSize must be 5-50%"),
        (
            rolling_config(MaximumExecutionTimeoutInSeconds=28801),
            "Value '28801' at .*less than or equal to 28800",
        ),
        (
            {
                "BlueGreenUpdatePolicy": {
                    "TrafficRoutingConfiguration": {**ALL_AT_ONCE_POLICY, "WaitIntervalInSeconds": 300},
                    "TerminationWaitInSeconds": 300,
                    "MaximumExecutionTimeoutInSeconds": 600,
                }
            },
            "MaximumExecutionTimeoutInSeconds must be larger than the total waiting time",
        ),
        (guarded_config("deployable-errors", "absent"), "Could not find CloudWatch alarm 'absent'"),
        (guarded_config(*["deployable-errors"] * 11), "Member must have length less than or equal to 10"),
    ],
)
def test_a_deployment_that_cannot_be_is_refused_before_it_begins(
    sagemaker: Any, deployable: str, deployment: dict[str, Any], words: str
) -> None:
    with pytest.raises(ClientError, match=words) as refusal:
        sagemaker.update_endpoint(
            EndpointName=deployable, EndpointConfigName="deployable-2", DeploymentConfig=deployment
        )
    assert refusal.value.response["Error"]["Code"] == "ValidationException"
    endpoint = sagemaker.describe_endpoint(EndpointName=deployable)
    assert (endpoint["EndpointStatus"], endpoint["EndpointConfigName"]) == ("InService", "deployable-1")


def test_a_rolling_deployment_is_not_for_several_variants(sagemaker: Any) -> None:
    for number in (1, 2):
        create_config(sagemaker, f"several-{number}", {}, {"VariantName": "Second"})
    sagemaker.create_endpoint(EndpointName="several", EndpointConfigName="several-1")
    with pytest.raises(ClientError, match="not supported for multi-variant endpoints"):
        sagemaker.update_endpoint(
            EndpointName="several", EndpointConfigName="several-2", DeploymentConfig=rolling_config()
        )


def test_the_last_deployment_is_shown_and_may_be_used_again(sagemaker: Any, cloudwatch: Any) -> None:
    put_alarm(cloudwatch, "repeated-errors")
    for number in (1, 2, 3, 4):
        create_config(sagemaker, f"repeated-{number}", {"InitialInstanceCount": 2})
    sagemaker.create_endpoint(EndpointName="repeated", EndpointConfigName="repeated-1")
    assert "LastDeploymentConfig" not in sagemaker.describe_endpoint(EndpointName="repeated")
    deployment = {
        **rolling_config(),
        "AutoRollbackConfiguration": {"Alarms": [{"AlarmName": "repeated-errors"}]},
    }
    output = []
    for number, inputs in (
        (2, {"DeploymentConfig": deployment}),
        (3, {"RetainDeploymentConfig": True}),
        (4, {}),
    ):
        sagemaker.update_endpoint(EndpointName="repeated", EndpointConfigName=f"repeated-{number}", **inputs)
        endpoint = sagemaker.describe_endpoint(EndpointName="repeated")
        output.append((endpoint["EndpointConfigName"], endpoint.get("LastDeploymentConfig")))
    assert output == [("repeated-2", deployment), ("repeated-3", deployment), ("repeated-4", None)]


# --- rollbacks


def test_an_alarm_that_is_on_already_keeps_the_old_configuration(
    sagemaker: Any, cloudwatch: Any, host: RecordingHost
) -> None:
    put_alarm(cloudwatch, "noisy-errors", "ALARM")
    put_alarm(cloudwatch, "noisy-latency")
    for number in (1, 2):
        create_config(sagemaker, f"noisy-{number}")
    sagemaker.create_endpoint(EndpointName="noisy", EndpointConfigName="noisy-1")
    served = len(host.served)
    update = {"EndpointName": "noisy", "EndpointConfigName": "noisy-2"}
    sagemaker.update_endpoint(**update, DeploymentConfig=guarded_config("noisy-latency", "noisy-errors"))
    endpoint = sagemaker.describe_endpoint(EndpointName="noisy")
    assert (endpoint["EndpointStatus"], endpoint["EndpointConfigName"]) == ("InService", "noisy-1")
    assert endpoint["FailureReason"] == "The update was rolled back: CloudWatch alarm in ALARM: noisy-errors."
    assert len(host.served) == served
    cloudwatch.set_alarm_state(AlarmName="noisy-errors", StateValue="OK", StateReason="a test")
    sagemaker.update_endpoint(**update, RetainDeploymentConfig=True)
    described_endpoint = sagemaker.describe_endpoint(EndpointName="noisy")
    assert (described_endpoint["EndpointConfigName"], described_endpoint.get("FailureReason")) == (
        "noisy-2",
        None,
    )


def with_alarm(name: str, *, image: str) -> dict[str, Any]:
    resources = endpoint(name, image=image)
    resources["Alarm"] = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmName": f"{name}-errors",
            "AlarmDescription": f"while {image} is served",
            "Namespace": "AWS/SageMaker",
            "MetricName": "Invocation5XXErrors",
            "Statistic": "Average",
            "Period": 60,
            "EvaluationPeriods": 1,
            "Threshold": 0,
            "ComparisonOperator": "GreaterThanThreshold",
        },
    }
    alarms = [{"AlarmName": {"Ref": "Alarm"}}]
    resources["Endpoint"]["Properties"]["DeploymentConfig"] = {
        "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": ALL_AT_ONCE_POLICY},
        "AutoRollbackConfiguration": {"Alarms": alarms},
    }
    return resources


def test_an_alarm_that_goes_off_during_a_stack_s_update_rolls_the_endpoint_back_and_not_the_stack(
    stacks: Stacks, sagemaker: Any, cloudwatch: Any, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stacks.create("alarmed", with_alarm("alarmed", image="good")) == "CREATE_COMPLETE"
    before = stacks.physical_ids("alarmed")
    serve = host.serve

    def serve_with_errors(deployed_value: Any) -> None:
        serve(deployed_value)
        state = "ALARM" if deployed_value.container.image == "bad" else "OK"
        cloudwatch.set_alarm_state(AlarmName="alarmed-errors", StateValue=state, StateReason="a test")

    monkeypatch.setattr(host, "serve", serve_with_errors)
    assert stacks.update("alarmed", with_alarm("alarmed", image="bad")) == "UPDATE_ROLLBACK_FAILED"
    reason = "The update was rolled back: CloudWatch alarm in ALARM: alarmed-errors."
    assert ("Endpoint", "UPDATE_FAILED", reason) in stacks.events("alarmed")
    assert [served.container.image for served in host.served[-2:]] == ["bad", "good"]
    assert ("Endpoint", "UPDATE_FAILED", CONFIGURATION_IN_USE) in stacks.events("alarmed")
    assert stacks.continue_rollback("alarmed", "Endpoint") == "UPDATE_ROLLBACK_COMPLETE"
    assert stacks.physical_ids("alarmed") == before
    endpoint = sagemaker.describe_endpoint(EndpointName="alarmed")
    assert endpoint["EndpointStatus"] == "InService"
    config = before["Config"].split("/")[-1]
    assert endpoint["EndpointConfigName"].lower() == config.lower()
    assert stacks.update("alarmed", with_alarm("alarmed", image="better")) == "UPDATE_COMPLETE"
    deployment_config = sagemaker.describe_endpoint(EndpointName="alarmed")["LastDeploymentConfig"]
    assert deployment_config["AutoRollbackConfiguration"] == {"Alarms": [{"AlarmName": "alarmed-errors"}]}


def test_an_alarm_that_a_stack_changes_stays_on(
    stacks: Stacks, sagemaker: Any, cloudwatch: Any, host: RecordingHost
) -> None:
    stacks.create("still", with_alarm("still", image="one"))
    cloudwatch.set_alarm_state(AlarmName="still-errors", StateValue="ALARM", StateReason="a test")
    assert stacks.update("still", with_alarm("still", image="two")) == "UPDATE_ROLLBACK_FAILED"
    assert sagemaker.describe_endpoint(EndpointName="still")["FailureReason"].endswith("still-errors.")


def test_a_rollback_that_fails_leaves_the_endpoint_with_both_reasons(
    sagemaker: Any, cloudwatch: Any, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_alarm(cloudwatch, "lost-errors")
    for number in (1, 2):
        create_config(sagemaker, f"lost-{number}")
    sagemaker.create_endpoint(EndpointName="lost", EndpointConfigName="lost-1")
    serve = host.serve

    def serve_first(deployed_value: Any) -> None:
        serve(deployed_value)
        cloudwatch.set_alarm_state(AlarmName="lost-errors", StateValue="ALARM", StateReason="a test")
        host.failure = "the GPU is gone"

    monkeypatch.setattr(host, "serve", serve_first)
    sagemaker.update_endpoint(
        EndpointName="lost", EndpointConfigName="lost-2", DeploymentConfig=guarded_config("lost-errors")
    )
    endpoint = sagemaker.describe_endpoint(EndpointName="lost")
    assert endpoint["EndpointStatus"] == "UpdateRollbackFailed"
    assert "lost-errors. The rollback failed: the GPU is gone" in endpoint["FailureReason"]
    sagemaker.delete_endpoint(EndpointName="lost")
    assert host.removals[-1] == "lost"
