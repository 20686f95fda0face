"""Whether a stack can register the variant of its endpoint with Application Auto Scaling."""

from __future__ import annotations

from tests.support.embedded_app.scaling import target
from tests.support.prepared_account import PreparedAccount

SCALING_KEYS = "scaling: {min: 1, max: 8, gpu_utilization: 60}\n"


def test_a_variant_that_somebody_registered_by_hand_gets_no_scaling(account: PreparedAccount) -> None:
    account.folder.spec(SCALING_KEYS)
    account.deploy()
    account.client("application-autoscaling").register_scalable_target(
        **target("sentences"), MinCapacity=1, MaxCapacity=3
    )
    report = account.preflight()
    assert report.code == 1
    assert report.of("scaling sentences") == ["✗ AllTraffic is registered, and not by its stack"]
    assert (
        "model_specs/sentences.yaml:6:1: error[foreign-scalable-target] FL639: the variant AllTraffic of sentences is"
        " registered with Application Auto Scaling for 1 to 3 instances, and not by the stack"
        in report.findings
    )
    assert (
        "`aws application-autoscaling deregister-scalable-target --region us-east-1 --service-namespace sagemaker"
        " --scalable-dimension sagemaker:variant:DesiredInstanceCount --resource-id endpoint/sentences/variant/AllTraffic`"
        in report.findings
    )
    assert "deletes its policies and scheduled actions" in report.findings


def test_a_variant_that_nobody_registered_gets_scaling(account: PreparedAccount) -> None:
    account.folder.spec(SCALING_KEYS)
    assert account.preflight().of("scaling sentences") == ["✓ none yet: its stack is not deployed"]
    account.deploy()
    report = account.preflight()
    assert (report.code, report.of("scaling sentences")) == (0, ["✓ not registered yet"])


def test_a_variant_that_its_stack_registered_keeps_its_scaling(account: PreparedAccount) -> None:
    account.folder.spec(SCALING_KEYS)
    account.deploy(has_scaling=True)
    report = account.preflight()
    assert (report.code, report.of("scaling sentences")) == (0, ["✓ registered by its stack"])


def test_without_the_permission_scaling_is_not_checked(account: PreparedAccount) -> None:
    account.folder.spec(SCALING_KEYS)
    account.deploy()
    action = "application-autoscaling:DescribeScalableTargets"
    account.deny("DescribeScalableTargets", action)
    report = account.preflight()
    assert (report.code, report.of("scaling")) == (0, [f"! not checked: no permission for {action}"])
