"""The embedded SageMaker when endpoints are updated: what it refuses, what is retained, what rolls back."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.sagemaker.backend import CONFIGURATION_IN_USE
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_app.stacks import DATA, ROLE, Stacks, endpoint
from tests.support.embedded_app.updates import (
    CAPTURE,
    create_config,
    register,
    variants_of,
)
from tests.support.endpoint_capacity import await_service


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
        with pytest.raises(ClientError) as refusal:
            sagemaker.update_endpoint(EndpointName="moving", EndpointConfigName=config)
        assert refusal.value.response["Error"] == {
            "Code": "ValidationException",
            "Message": 'The variant(s) "[AllTraffic]" must be deregistered as scalable target(s) with AWS '
            "Application Auto Scaling before they can be removed or have their instance type updated.",
        }
    endpoint = sagemaker.describe_endpoint(EndpointName="moving")
    assert (endpoint["EndpointConfigName"], endpoint["EndpointStatus"]) == ("moving-1", "InService")
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
    moved_endpoint = endpoint("typed")
    moved_endpoint["Config"]["Properties"]["ProductionVariants"][0]["InstanceType"] = "ml.g6.xlarge"
    assert stacks.update("typed", moved_endpoint) == "UPDATE_ROLLBACK_FAILED"
    reasons = [reason for text, status, reason in stacks.events("typed") if status == "UPDATE_FAILED"]
    assert "must be deregistered as scalable target(s)" in reasons[0]
    assert reasons[1:] == [CONFIGURATION_IN_USE]


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
    await_service(sagemaker, "live")
    variants = variants_of(sagemaker, "live")
    for variant, count, weight in (("AllTraffic", 3, 1.0), ("Silent", 1, 0.5)):
        traffic = variants[variant]
        assert (traffic["CurrentInstanceCount"], traffic["DesiredInstanceCount"]) == (count, count)
        assert (traffic["CurrentWeight"], traffic["DesiredWeight"]) == (weight, weight)
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="live", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredWeight": 0}]
    )
    await_service(sagemaker, "live")
    traffic = variants_of(sagemaker, "live")["AllTraffic"]
    assert (traffic["CurrentInstanceCount"], traffic["CurrentWeight"]) == (3, 0)


@pytest.mark.parametrize(
    ("retain", "excluded_lines", "count", "weight", "sampling"),
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
    sagemaker: Any, retain: bool, excluded_lines: list[str], count: int, weight: float, sampling: int
) -> None:
    name = "-".join(["kept", str(retain), *excluded_lines])
    create_config(sagemaker, f"{name}-1", capture=CAPTURE)
    after = {"InitialInstanceCount": 2, "InitialVariantWeight": 5}
    fresh = {"VariantName": "New", "InitialInstanceCount": 4}
    create_config(sagemaker, f"{name}-2", after, fresh, capture={**CAPTURE, "InitialSamplingPercentage": 80})
    sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=f"{name}-1")
    live = {"VariantName": "AllTraffic", "DesiredInstanceCount": 3, "DesiredWeight": 0}
    sagemaker.update_endpoint_weights_and_capacities(EndpointName=name, DesiredWeightsAndCapacities=[live])
    await_service(sagemaker, name)
    sagemaker.update_endpoint(
        EndpointName=name,
        EndpointConfigName=f"{name}-2",
        RetainAllVariantProperties=retain,
        ExcludeRetainedVariantProperties=[{"VariantPropertyType": kind} for kind in excluded_lines],
    )
    variants = variants_of(sagemaker, name)
    traffic = variants["AllTraffic"]
    assert (traffic["CurrentInstanceCount"], traffic["DesiredInstanceCount"]) == (count, count)
    assert (traffic["CurrentWeight"], traffic["DesiredWeight"]) == (weight, weight)
    assert (variants["New"]["CurrentInstanceCount"], variants["New"]["CurrentWeight"]) == (4, 1)
    capture = sagemaker.describe_endpoint(EndpointName=name)["DataCaptureConfig"]
    assert (capture["CurrentSamplingPercentage"], capture["CaptureStatus"]) == (sampling, "Started")


def test_what_can_be_excluded_is_known(sagemaker: Any) -> None:
    for number in (1, 2):
        create_config(sagemaker, f"excluding-{number}")
    sagemaker.create_endpoint(EndpointName="excluding", EndpointConfigName="excluding-1")
    with pytest.raises(
        ClientError, match="Value 'Colour' at .* Member must satisfy enum value set"
    ) as refusal:
        sagemaker.update_endpoint(
            EndpointName="excluding",
            EndpointConfigName="excluding-2",
            ExcludeRetainedVariantProperties=[{"VariantPropertyType": "Colour"}],
        )
    assert refusal.value.response["Error"]["Code"] == "ValidationException"
    assert "DataCaptureConfig" not in sagemaker.describe_endpoint(EndpointName="excluding")


def test_a_stack_retains_the_live_count_and_takes_a_new_capture(
    stacks: Stacks, sagemaker: Any, host: RecordingHost
) -> None:
    def declared_shadow(image: str, sampling: int) -> dict[str, Any]:
        resources = endpoint("retaining-live", image=image)
        capture = {**CAPTURE, "InitialSamplingPercentage": sampling}
        resources["Config"]["Properties"]["DataCaptureConfig"] = capture
        resources["Endpoint"]["Properties"] |= {
            "RetainAllVariantProperties": True,
            "ExcludeRetainedVariantProperties": [{"VariantPropertyType": "DataCaptureConfig"}],
        }
        return resources

    assert stacks.create("retaining-live", declared_shadow("one", 20)) == "CREATE_COMPLETE"
    assert variants_of(sagemaker, "retaining-live")["AllTraffic"]["CurrentInstanceCount"] == 1
    live = {"VariantName": "AllTraffic", "DesiredInstanceCount": 3}
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="retaining-live", DesiredWeightsAndCapacities=[live]
    )
    await_service(sagemaker, "retaining-live")
    assert stacks.update("retaining-live", declared_shadow("two", 80)) == "UPDATE_COMPLETE"
    described_endpoint = sagemaker.describe_endpoint(EndpointName="retaining-live")
    assert described_endpoint["ProductionVariants"][0]["DesiredInstanceCount"] == 3
    assert described_endpoint["DataCaptureConfig"]["CurrentSamplingPercentage"] == 80


# --- configurations in use


def test_an_update_with_the_configuration_that_runs_is_refused(sagemaker: Any, host: RecordingHost) -> None:
    create_config(sagemaker, "running-1")
    sagemaker.create_endpoint(EndpointName="running", EndpointConfigName="running-1")
    served = len(host.served)
    with pytest.raises(ClientError) as refusal:
        sagemaker.update_endpoint(
            EndpointName="running", EndpointConfigName="running-1", RetainAllVariantProperties=True
        )
    assert refusal.value.response["Error"] == {"Code": "ValidationException", "Message": CONFIGURATION_IN_USE}
    assert sagemaker.describe_endpoint(EndpointName="running")["EndpointStatus"] == "InService"
    assert len(host.served) == served


def test_a_stack_that_changes_an_endpoint_alone_is_refused_unless_it_changes_tags(stacks: Stacks) -> None:
    resources = endpoint("alone")
    stacks.create("alone", resources)
    resources["Endpoint"]["Properties"]["Tags"] = [{"Key": "team", "Value": "search"}]
    assert stacks.update("alone", resources) == "UPDATE_COMPLETE"
    resources["Endpoint"]["Properties"]["RetainAllVariantProperties"] = True
    assert stacks.update("alone", resources) == "UPDATE_ROLLBACK_FAILED"
    assert ("Endpoint", "UPDATE_FAILED", CONFIGURATION_IN_USE) in stacks.events("alone")


def test_a_configuration_in_use_cannot_be_deleted_and_the_one_before_can(sagemaker: Any) -> None:
    for number in (1, 2):
        create_config(sagemaker, f"used-{number}")
    sagemaker.create_endpoint(EndpointName="used", EndpointConfigName="used-1")
    with pytest.raises(ClientError, match="Cannot delete endpoint configuration .*endpoint/used") as refusal:
        sagemaker.delete_endpoint_config(EndpointConfigName="used-1")
    assert refusal.value.response["Error"]["Code"] == "ValidationException"
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
        while (endpoint := sagemaker.describe_endpoint(EndpointName="between"))[
            "EndpointStatus"
        ] != "Updating":
            assert update.is_alive()
        assert endpoint["EndpointConfigName"] == "between-1"
        assert endpoint["PendingDeploymentSummary"] == {"EndpointConfigName": "between-2"}
        for name in ("between-1", "between-2"):
            with pytest.raises(ClientError, match="Cannot delete endpoint configuration"):
                sagemaker.delete_endpoint_config(EndpointConfigName=name)
    finally:
        host.may_finish.set()
        update.join()
    endpoint = sagemaker.describe_endpoint(EndpointName="between")
    assert endpoint["EndpointConfigName"] == "between-2"
    assert "PendingDeploymentSummary" not in endpoint
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
    endpoint = sagemaker.describe_endpoint(EndpointName="orphan")
    assert (endpoint["EndpointStatus"], endpoint["EndpointConfigName"]) == ("InService", "orphan-1")
    assert endpoint["FailureReason"] == 'Could not find model "orphan".'
