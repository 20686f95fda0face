"""Whether the stacks of scaled endpoints can register their variants with Application Auto Scaling.

A target is registered with tags. If it exists already, Application Auto Scaling refuses that: "The scalable
target that you tried to tag already exists." Source: hashicorp/terraform-provider-aws 31839.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.subject import AT_ONCE, Subject
from triton_fleet.awsapi.describe import OF_VARIANTS, scalable_id
from triton_fleet.awsapi.stack import NOTHING_OF_IT, find_stack, stack_resources
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint

TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
DEREGISTER = (
    "run `aws application-autoscaling deregister-scalable-target --region {region} --service-namespace"
    " {namespace} --scalable-dimension {dimension} --resource-id {id}` and deploy at once: it deletes its"
    " policies and scheduled actions, so that the endpoint keeps its number of instances until the stack has"
    " registered it; or remove `scaling` from the spec"
)


def scaling(subject: Subject) -> Iterator[CheckResult]:
    """Whether somebody else has registered the variant of a scaled endpoint."""
    endpoints = [endpoint for endpoint in subject.endpoints if endpoint.scaling is not None]
    if endpoints:
        cloudformation = subject.access.client("cloudformation")
        autoscaling = subject.access.client("application-autoscaling")
        yield from all_in_parallel(
            endpoints, lambda each: _scaling(subject, cloudformation, autoscaling, each), AT_ONCE
        )


def _scaling(
    subject: Subject, cloudformation: Any, autoscaling: Any, endpoint: ResolvedEndpoint
) -> CheckResult:
    what, id = f"scaling {endpoint.name}", scalable_id(endpoint.name, VARIANT)
    stack = find_stack(cloudformation, endpoint.stack)
    if stack is None or stack.state in NOTHING_OF_IT:
        return CheckResult(what=what, text="none yet: its stack is not deployed")
    if stack_resources(cloudformation, stack, TARGET):
        return CheckResult(what=what, text="registered by its stack")
    answer = autoscaling.describe_scalable_targets(**OF_VARIANTS, ResourceIds=[id])
    if not answer["ScalableTargets"]:
        return CheckResult(what=what, text="not registered yet")
    (found,) = answer["ScalableTargets"]
    message = (
        f"the variant {VARIANT} of {endpoint.name} is registered with Application Auto Scaling for"
        f" {found['MinCapacity']} to {found['MaxCapacity']} instances, and not by the stack {endpoint.stack},"
        " whose registration would be refused"
    )
    namespace, dimension = OF_VARIANTS["ServiceNamespace"], OF_VARIANTS["ScalableDimension"]
    hint = DEREGISTER.format(
        region=subject.deployment.region, namespace=namespace, dimension=dimension, id=id
    )
    finding = subject.of_spec(endpoint.name, ("scaling",), "FL639", message, hint)
    return CheckResult(what=what, text=f"{VARIANT} is registered, and not by its stack", findings=(finding,))
