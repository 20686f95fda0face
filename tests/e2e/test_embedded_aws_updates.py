"""The embedded SageMaker when endpoints are updated: what it refuses, what is retained, what rolls back."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.local.aws.server import EmbeddedAws
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.host import RecordingHost
from tests.e2e.embedded_app.stacks import DATA, ROLE, Stacks, endpoint

TYPE = "ml.g5.xlarge"
CAPTURE = {
    "EnableCapture": True,
    "InitialSamplingPercentage": 20,
    "DestinationS3Uri": "s3://data/captured",
    "CaptureOptions": [{"CaptureMode": "Input"}],
}
ALL_AT_ONCE = {"Type": "ALL_AT_ONCE", "WaitIntervalInSeconds": 60}
HALF = {"Type": "CAPACITY_PERCENT", "Value": 50}


@pytest.fixture
def sagemaker(aws: EmbeddedAws, host: RecordingHost) -> Any:
    return client(aws, "sagemaker")


@pytest.fixture
def scaling(aws: EmbeddedAws) -> Any:
    return client(aws, "application-autoscaling")


@pytest.fixture
def cloudwatch(aws: EmbeddedAws) -> Any:
    return client(aws, "cloudwatch")


def create_config(
    sagemaker: Any, name: str, *variants: dict[str, Any], capture: dict[str, Any] | None = None
) -> None:
    """A configuration of variants that are `{}` or differ from AllTraffic with one instance; one model for all."""
    if not sagemaker.list_models(NameContains="any-model")["Models"]:
        container = {"Image": "triton:25.04", "ModelDataUrl": DATA}
        sagemaker.create_model(ModelName="any-model", ExecutionRoleArn=ROLE, PrimaryContainer=container)
    usual = {"VariantName": "AllTraffic", "ModelName": "any-model", "InstanceType": TYPE}
    sagemaker.create_endpoint_config(
        EndpointConfigName=name,
        ProductionVariants=[{**usual, "InitialInstanceCount": 1, **variant} for variant in variants or ({},)],
        **({} if capture is None else {"DataCaptureConfig": capture}),
    )


def register(scaling: Any, endpoint_name: str, variant: str = "AllTraffic") -> dict[str, str]:
    target = {
        "ServiceNamespace": "sagemaker",
        "ResourceId": f"endpoint/{endpoint_name}/variant/{variant}",
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
    }
    scaling.register_scalable_target(**target, MinCapacity=1, MaxCapacity=4)
    return target


def variants_of(sagemaker: Any, name: str) -> dict[str, dict[str, Any]]:
    described = sagemaker.describe_endpoint(EndpointName=name)
    return {variant["VariantName"]: variant for variant in described["ProductionVariants"]}


def put_alarm(cloudwatch: Any, name: str, state: str = "OK") -> None:
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace="AWS/SageMaker",
        MetricName="Invocation5XXErrors",
        Statistic="Average",
        Period=60,
        EvaluationPeriods=1,
        Threshold=0.0,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue=state, StateReason="a test")


def guarded(*alarms: str) -> dict[str, Any]:
    return {
        "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": ALL_AT_ONCE},
        "AutoRollbackConfiguration": {"Alarms": [{"AlarmName": name} for name in alarms]},
    }


# --- scaled variants


def test_a_registered_variant_can_neither_change_its_instance_type_nor_go(
    sagemaker: Any, scaling: Any, host: RecordingHost
) -> None:
    create_config(sagemaker, "moving-1", {}, {"VariantName": "Second"})
    create_config(sagemaker, "moving-type", {"InstanceType": "ml.g6.xlarge"}, {"VariantName": "Second"})
    create_config(sagemaker, "moving-gone", {"VariantName": "Second"})
    create_config(sagemaker, "moving-fine", {}, {"VariantName": "Second", "InstanceType": "ml.g6.xlarge"})
    sagemaker.create_endpoint(EndpointName="moving", EndpointConfigName="moving-1")
    target = register(scaling, "moving")
    served = len(host.served)
    for config in ("moving-type", "moving-gone"):
        with pytest.raises(ClientError) as refused:
            sagemaker.update_endpoint(EndpointName="moving", EndpointConfigName=config)
        assert refused.value.response["Error"] == {
            "Code": "ValidationException",
            "Message": 'The variant(s) "[AllTraffic]" must be deregistered as scalable target(s) with AWS '
            "Application Auto Scaling before they can be removed or have their instance type updated.",
        }
    described = sagemaker.describe_endpoint(EndpointName="moving")
    assert (described["EndpointConfigName"], described["EndpointStatus"]) == ("moving-1", "InService")
    assert len(host.served) == served
    sagemaker.update_endpoint(EndpointName="moving", EndpointConfigName="moving-fine")
    scaling.deregister_scalable_target(**target)
    sagemaker.update_endpoint(EndpointName="moving", EndpointConfigName="moving-type")
    assert sagemaker.describe_endpoint(EndpointName="moving")["EndpointConfigName"] == "moving-type"


def test_another_endpoint_s_registration_holds_nobody_back(sagemaker: Any, scaling: Any) -> None:
    create_config(sagemaker, "free-1")
    create_config(sagemaker, "free-2", {"InstanceType": "ml.g6.xlarge"})
    for name in ("free", "free-not"):
        sagemaker.create_endpoint(EndpointName=name, EndpointConfigName="free-1")
    register(scaling, "free-not")
    sagemaker.update_endpoint(EndpointName="free", EndpointConfigName="free-2")
    assert sagemaker.describe_endpoint(EndpointName="free")["EndpointConfigName"] == "free-2"


def test_a_stack_cannot_change_the_instance_type_of_what_it_scales(
    stacks: Stacks, scaling: Any, host: RecordingHost
) -> None:
    resources = endpoint("typed")
    stacks.create("typed", resources)
    register(scaling, "typed")
    moved = endpoint("typed")
    moved["Config"]["Properties"]["ProductionVariants"][0]["InstanceType"] = "ml.g6.xlarge"
    assert stacks.update("typed", moved) == "UPDATE_ROLLBACK_COMPLETE"
    reasons = [reason for who, status, reason in stacks.events("typed") if status == "UPDATE_FAILED"]
    assert len(reasons) == 1
    assert "must be deregistered as scalable target(s)" in reasons[0]


# --- what is retained


def test_counts_and_weights_can_be_changed_on_their_own(sagemaker: Any) -> None:
    create_config(sagemaker, "live-1", {}, {"VariantName": "Silent", "InitialVariantWeight": 0})
    sagemaker.create_endpoint(EndpointName="live", EndpointConfigName="live-1")
    assert variants_of(sagemaker, "live")["Silent"]["CurrentWeight"] == 0
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="live",
        DesiredWeightsAndCapacities=[
            {"VariantName": "AllTraffic", "DesiredInstanceCount": 3},
            {"VariantName": "Silent", "DesiredWeight": 0.5},
        ],
    )
    variants = variants_of(sagemaker, "live")
    for variant, count, weight in (("AllTraffic", 3, 1.0), ("Silent", 1, 0.5)):
        shown = variants[variant]
        assert (shown["CurrentInstanceCount"], shown["DesiredInstanceCount"]) == (count, count)
        assert (shown["CurrentWeight"], shown["DesiredWeight"]) == (weight, weight)
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="live", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredWeight": 0}]
    )
    shown = variants_of(sagemaker, "live")["AllTraffic"]
    assert (shown["CurrentInstanceCount"], shown["CurrentWeight"]) == (3, 0)


@pytest.mark.parametrize(
    ("retain", "excluded", "count", "weight", "sampling"),
    [
        (True, [], 3, 0, 20),
        (True, ["DesiredInstanceCount"], 2, 0, 20),
        (True, ["DesiredWeight"], 3, 5, 20),
        (True, ["DataCaptureConfig"], 3, 0, 80),
        (True, ["DesiredInstanceCount", "DesiredWeight", "DataCaptureConfig"], 2, 5, 80),
        (False, ["DesiredWeight"], 2, 5, 80),
    ],
)
def test_an_update_retains_all_but_what_is_excluded(
    sagemaker: Any, retain: bool, excluded: list[str], count: int, weight: float, sampling: int
) -> None:
    name = "-".join(["kept", str(retain), *excluded])
    create_config(sagemaker, f"{name}-1", capture=CAPTURE)
    after = {"InitialInstanceCount": 2, "InitialVariantWeight": 5}
    fresh = {"VariantName": "New", "InitialInstanceCount": 4}
    create_config(sagemaker, f"{name}-2", after, fresh, capture={**CAPTURE, "InitialSamplingPercentage": 80})
    sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=f"{name}-1")
    live = {"VariantName": "AllTraffic", "DesiredInstanceCount": 3, "DesiredWeight": 0}
    sagemaker.update_endpoint_weights_and_capacities(EndpointName=name, DesiredWeightsAndCapacities=[live])
    sagemaker.update_endpoint(
        EndpointName=name,
        EndpointConfigName=f"{name}-2",
        RetainAllVariantProperties=retain,
        ExcludeRetainedVariantProperties=[{"VariantPropertyType": kind} for kind in excluded],
    )
    variants = variants_of(sagemaker, name)
    shown = variants["AllTraffic"]
    assert (shown["CurrentInstanceCount"], shown["DesiredInstanceCount"]) == (count, count)
    assert (shown["CurrentWeight"], shown["DesiredWeight"]) == (weight, weight)
    assert (variants["New"]["CurrentInstanceCount"], variants["New"]["CurrentWeight"]) == (4, 1)
    capture = sagemaker.describe_endpoint(EndpointName=name)["DataCaptureConfig"]
    assert (capture["CurrentSamplingPercentage"], capture["CaptureStatus"]) == (sampling, "Started")


def test_what_can_be_excluded_is_known(sagemaker: Any) -> None:
    create_config(sagemaker, "excluding-1")
    sagemaker.create_endpoint(EndpointName="excluding", EndpointConfigName="excluding-1")
    with pytest.raises(
        ClientError, match="Value 'Colour' at .* Member must satisfy enum value set"
    ) as refused:
        sagemaker.update_endpoint(
            EndpointName="excluding",
            EndpointConfigName="excluding-1",
            ExcludeRetainedVariantProperties=[{"VariantPropertyType": "Colour"}],
        )
    assert refused.value.response["Error"]["Code"] == "ValidationException"
    assert "DataCaptureConfig" not in sagemaker.describe_endpoint(EndpointName="excluding")


def test_a_stack_retains_the_live_count_and_takes_a_new_capture(
    stacks: Stacks, sagemaker: Any, host: RecordingHost
) -> None:
    def declared(image: str, sampling: int) -> dict[str, Any]:
        resources = endpoint("retaining-live", image=image)
        capture = {**CAPTURE, "InitialSamplingPercentage": sampling}
        resources["Config"]["Properties"]["DataCaptureConfig"] = capture
        resources["Endpoint"]["Properties"] |= {
            "RetainAllVariantProperties": True,
            "ExcludeRetainedVariantProperties": [{"VariantPropertyType": "DataCaptureConfig"}],
        }
        return resources

    assert stacks.create("retaining-live", declared("one", 20)) == "CREATE_COMPLETE"
    assert variants_of(sagemaker, "retaining-live")["AllTraffic"]["CurrentInstanceCount"] == 1
    live = {"VariantName": "AllTraffic", "DesiredInstanceCount": 3}
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="retaining-live", DesiredWeightsAndCapacities=[live]
    )
    assert stacks.update("retaining-live", declared("two", 80)) == "UPDATE_COMPLETE"
    described = sagemaker.describe_endpoint(EndpointName="retaining-live")
    assert described["ProductionVariants"][0]["DesiredInstanceCount"] == 3
    assert described["DataCaptureConfig"]["CurrentSamplingPercentage"] == 80


# --- configurations in use


def test_a_configuration_in_use_cannot_be_deleted_and_the_one_before_can(sagemaker: Any) -> None:
    for number in (1, 2):
        create_config(sagemaker, f"used-{number}")
    sagemaker.create_endpoint(EndpointName="used", EndpointConfigName="used-1")
    with pytest.raises(ClientError, match="Cannot delete endpoint configuration .*endpoint/used") as refused:
        sagemaker.delete_endpoint_config(EndpointConfigName="used-1")
    assert refused.value.response["Error"]["Code"] == "ValidationException"
    sagemaker.update_endpoint(EndpointName="used", EndpointConfigName="used-2")
    sagemaker.delete_endpoint_config(EndpointConfigName="used-1")
    sagemaker.delete_endpoint(EndpointName="used")
    sagemaker.delete_endpoint_config(EndpointConfigName="used-2")
    with pytest.raises(ClientError, match="Could not find endpoint configuration"):
        sagemaker.delete_endpoint_config(EndpointConfigName="used-2")


def test_neither_side_of_an_update_in_progress_can_be_deleted(
    aws: EmbeddedAws, sagemaker: Any, host: RecordingHost
) -> None:
    for number in (1, 2):
        create_config(sagemaker, f"between-{number}")
    sagemaker.create_endpoint(EndpointName="between", EndpointConfigName="between-1")
    host.may_finish.clear()
    update = threading.Thread(
        target=client(aws, "sagemaker").update_endpoint,
        kwargs={"EndpointName": "between", "EndpointConfigName": "between-2"},
    )
    update.start()
    try:
        while sagemaker.describe_endpoint(EndpointName="between")["EndpointStatus"] != "Updating":
            assert update.is_alive()
        for name in ("between-1", "between-2"):
            with pytest.raises(ClientError, match="Cannot delete endpoint configuration"):
                sagemaker.delete_endpoint_config(EndpointConfigName=name)
    finally:
        host.may_finish.set()
        update.join()
    assert sagemaker.describe_endpoint(EndpointName="between")["EndpointConfigName"] == "between-2"
    sagemaker.delete_endpoint_config(EndpointConfigName="between-1")


def test_a_model_may_be_deleted_under_its_endpoint_but_not_be_served_again(
    sagemaker: Any, host: RecordingHost
) -> None:
    container = {"Image": "triton", "ModelDataUrl": DATA}
    sagemaker.create_model(ModelName="orphan", ExecutionRoleArn=ROLE, PrimaryContainer=container)
    for number in (1, 2):
        create_config(sagemaker, f"orphan-{number}", {"ModelName": "orphan"})
    sagemaker.create_endpoint(EndpointName="orphan", EndpointConfigName="orphan-1")
    sagemaker.delete_model(ModelName="orphan")
    sagemaker.update_endpoint(EndpointName="orphan", EndpointConfigName="orphan-2")
    described = sagemaker.describe_endpoint(EndpointName="orphan")
    assert (described["EndpointStatus"], described["EndpointConfigName"]) == ("InService", "orphan-1")
    assert described["FailureReason"] == 'Could not find model "orphan".'


# --- deployments


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
    return {"BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": {**ALL_AT_ONCE, **routing}}}


def rolling(**policy: Any) -> dict[str, Any]:
    return {"RollingUpdatePolicy": {"MaximumBatchSize": HALF, "WaitIntervalInSeconds": 0, **policy}}


def instances(count: int) -> dict[str, Any]:
    return {"Type": "INSTANCE_COUNT", "Value": count}


@pytest.mark.parametrize(
    ("deployment", "words"),
    [
        (blue_green() | rolling(), "Only one of BlueGreenUpdatePolicy and RollingUpdatePolicy"),
        (blue_green(Type="SUDDEN"), "Value 'SUDDEN' at 'deploymentConfig.blueGreenUpdatePolicy.*enum value"),
        (blue_green(WaitIntervalInSeconds=3601), "Value '3601' at .*value less than or equal to 3600"),
        (blue_green(Type="CANARY"), "CanarySize must be specified for CANARY"),
        (blue_green(Type="CANARY", CanarySize=instances(3)), "CanarySize must be 0-50% of .*'AllTraffic'"),
        (blue_green(Type="LINEAR"), "LinearStepSize must be specified for LINEAR"),
        (blue_green(Type="LINEAR", LinearStepSize={**HALF, "Value": 9}), "LinearStepSize must be 10-50%"),
        (rolling(MaximumBatchSize={**HALF, "Value": 51}), "MaximumBatchSize must be 5-50%"),
        (rolling(MaximumExecutionTimeoutInSeconds=28801), "Value '28801' at .*less than or equal to 28800"),
        (
            {
                "BlueGreenUpdatePolicy": {
                    "TrafficRoutingConfiguration": {**ALL_AT_ONCE, "WaitIntervalInSeconds": 300},
                    "TerminationWaitInSeconds": 300,
                    "MaximumExecutionTimeoutInSeconds": 600,
                }
            },
            "MaximumExecutionTimeoutInSeconds must be larger than the total waiting time",
        ),
        (guarded("deployable-errors", "absent"), "Could not find CloudWatch alarm 'absent'"),
        (guarded(*["deployable-errors"] * 11), "Member must have length less than or equal to 10"),
    ],
)
def test_a_deployment_that_cannot_be_is_refused_before_it_begins(
    sagemaker: Any, deployable: str, deployment: dict[str, Any], words: str
) -> None:
    with pytest.raises(ClientError, match=words) as refused:
        sagemaker.update_endpoint(
            EndpointName=deployable, EndpointConfigName="deployable-2", DeploymentConfig=deployment
        )
    assert refused.value.response["Error"]["Code"] == "ValidationException"
    described = sagemaker.describe_endpoint(EndpointName=deployable)
    assert (described["EndpointStatus"], described["EndpointConfigName"]) == ("InService", "deployable-1")


def test_a_rolling_deployment_is_not_for_several_variants(sagemaker: Any) -> None:
    create_config(sagemaker, "several-1", {}, {"VariantName": "Second"})
    sagemaker.create_endpoint(EndpointName="several", EndpointConfigName="several-1")
    with pytest.raises(ClientError, match="not supported for multi-variant endpoints"):
        sagemaker.update_endpoint(
            EndpointName="several", EndpointConfigName="several-1", DeploymentConfig=rolling()
        )


def test_the_last_deployment_is_shown_and_may_be_used_again(sagemaker: Any, cloudwatch: Any) -> None:
    put_alarm(cloudwatch, "repeated-errors")
    for number in (1, 2, 3, 4):
        create_config(sagemaker, f"repeated-{number}", {"InitialInstanceCount": 2})
    sagemaker.create_endpoint(EndpointName="repeated", EndpointConfigName="repeated-1")
    assert "LastDeploymentConfig" not in sagemaker.describe_endpoint(EndpointName="repeated")
    deployment = {**rolling(), "AutoRollbackConfiguration": {"Alarms": [{"AlarmName": "repeated-errors"}]}}
    shown = []
    for number, given in (
        (2, {"DeploymentConfig": deployment}),
        (3, {"RetainDeploymentConfig": True}),
        (4, {}),
    ):
        sagemaker.update_endpoint(EndpointName="repeated", EndpointConfigName=f"repeated-{number}", **given)
        described = sagemaker.describe_endpoint(EndpointName="repeated")
        shown.append((described["EndpointConfigName"], described.get("LastDeploymentConfig")))
    assert shown == [("repeated-2", deployment), ("repeated-3", deployment), ("repeated-4", None)]


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
    sagemaker.update_endpoint(**update, DeploymentConfig=guarded("noisy-latency", "noisy-errors"))
    described = sagemaker.describe_endpoint(EndpointName="noisy")
    assert (described["EndpointStatus"], described["EndpointConfigName"]) == ("InService", "noisy-1")
    assert (
        described["FailureReason"] == "The update was rolled back: CloudWatch alarm in ALARM: noisy-errors."
    )
    assert len(host.served) == served
    cloudwatch.set_alarm_state(AlarmName="noisy-errors", StateValue="OK", StateReason="a test")
    sagemaker.update_endpoint(**update, RetainDeploymentConfig=True)
    described = sagemaker.describe_endpoint(EndpointName="noisy")
    assert (described["EndpointConfigName"], described.get("FailureReason")) == ("noisy-2", None)


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
        "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": ALL_AT_ONCE},
        "AutoRollbackConfiguration": {"Alarms": alarms},
    }
    return resources


def test_an_alarm_that_goes_off_during_a_stack_s_update_rolls_the_stack_back(
    stacks: Stacks, sagemaker: Any, cloudwatch: Any, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stacks.create("alarmed", with_alarm("alarmed", image="good")) == "CREATE_COMPLETE"
    before = stacks.physical_ids("alarmed")
    serve = host.serve

    def serve_with_errors(deployed: Any) -> None:
        serve(deployed)
        state = "ALARM" if deployed.container.image == "bad" else "OK"
        cloudwatch.set_alarm_state(AlarmName="alarmed-errors", StateValue=state, StateReason="a test")

    monkeypatch.setattr(host, "serve", serve_with_errors)
    assert stacks.update("alarmed", with_alarm("alarmed", image="bad")) == "UPDATE_ROLLBACK_COMPLETE"
    reason = "The update was rolled back: CloudWatch alarm in ALARM: alarmed-errors."
    assert ("Endpoint", "UPDATE_FAILED", reason) in stacks.events("alarmed")
    assert [served.container.image for served in host.served[-2:]] == ["bad", "good"]
    assert stacks.physical_ids("alarmed") == before
    described = sagemaker.describe_endpoint(EndpointName="alarmed")
    assert described["EndpointStatus"] == "InService"
    config = before["Config"].split("/")[-1]
    assert described["EndpointConfigName"].lower() == config.lower()
    assert stacks.update("alarmed", with_alarm("alarmed", image="better")) == "UPDATE_COMPLETE"
    shown = sagemaker.describe_endpoint(EndpointName="alarmed")["LastDeploymentConfig"]
    assert shown["AutoRollbackConfiguration"] == {"Alarms": [{"AlarmName": "alarmed-errors"}]}


def test_an_alarm_that_a_stack_changes_stays_on(
    stacks: Stacks, sagemaker: Any, cloudwatch: Any, host: RecordingHost
) -> None:
    stacks.create("still", with_alarm("still", image="one"))
    cloudwatch.set_alarm_state(AlarmName="still-errors", StateValue="ALARM", StateReason="a test")
    assert stacks.update("still", with_alarm("still", image="two")) == "UPDATE_ROLLBACK_COMPLETE"
    assert sagemaker.describe_endpoint(EndpointName="still")["FailureReason"].endswith("still-errors.")


def test_a_rollback_that_fails_leaves_the_endpoint_with_both_reasons(
    sagemaker: Any, cloudwatch: Any, host: RecordingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_alarm(cloudwatch, "lost-errors")
    for number in (1, 2):
        create_config(sagemaker, f"lost-{number}")
    sagemaker.create_endpoint(EndpointName="lost", EndpointConfigName="lost-1")
    serve = host.serve

    def serve_once(deployed: Any) -> None:
        serve(deployed)
        cloudwatch.set_alarm_state(AlarmName="lost-errors", StateValue="ALARM", StateReason="a test")
        host.failure = "the GPU is gone"

    monkeypatch.setattr(host, "serve", serve_once)
    sagemaker.update_endpoint(
        EndpointName="lost", EndpointConfigName="lost-2", DeploymentConfig=guarded("lost-errors")
    )
    described = sagemaker.describe_endpoint(EndpointName="lost")
    assert described["EndpointStatus"] == "UpdateRollbackFailed"
    assert "lost-errors. The rollback failed: the GPU is gone" in described["FailureReason"]
    sagemaker.delete_endpoint(EndpointName="lost")
    assert host.removed[-1] == "lost"
