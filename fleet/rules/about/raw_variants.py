"""Rules about what `cloudformation` lays over the template.

Here: instance pools and shadow variants.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.decide.decided import Decided
from fleet.decide.machines import OWN_VARIANT, POOLS, SHADOWS, Raws, pools
from fleet.rules.rule import Problem, rule
from fleet.spec.endpoint import Mode
from fleet.spec.source import KeyPath

HETEROGENEOUS = "https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-heterogeneous.html"


@rule("FL347", source=HETEROGENEOUS)
def pools_and_shadows_that_fit_the_endpoint(endpoint: Decided) -> Iterator[Problem]:
    """Instance pools and shadow variants go with the mode and the instance type of the spec.

    SageMaker takes neither for multi-model endpoints, pools only in place of an instance type, and one shadow
    variant at most. Image, engines, alarms and costs go by `instance.type`, which is to be the first pool's.
    """
    variants = endpoint.raw_variants
    for variant, raws in variants.items():
        yield from _pools(endpoint, variant, raws)
    shadows = [raws for variant, raws in variants.items() if variant.startswith(SHADOWS)]
    if shadows and endpoint.spec.mode is Mode.MULTI_MODEL:
        message = "SageMaker takes no shadow variant for a multi-model endpoint"
        yield Problem(_place(shadows[0]), message, "leave it out, or take `mode: single`")
    for raws in shadows[1:]:
        message = "SageMaker takes one shadow variant, beside one variant"
        yield Problem(_place(raws), message, "leave it out")


def _pools(endpoint: Decided, variant: str, raws: Raws) -> Iterator[Problem]:
    found, wanted = pools(raws), endpoint.spec.instance.type
    if not found:
        return
    if endpoint.spec.mode is Mode.MULTI_MODEL:
        message = "SageMaker takes no instance pools for a multi-model endpoint"
        yield Problem(found[0].path, message, "leave them out, or take `mode: single`")
    single = raws.get(("InstanceType",))
    if single is not None and single.value is not None:
        message = f"{variant} has {POOLS}, which stand in place of an InstanceType"
        yield Problem(single.path, message, "leave the InstanceType out")
    first = min(enumerate(found, 1), key=lambda each: each[1].priority or each[0])[1]
    if variant == OWN_VARIANT and first.type is not None and first.type != wanted:
        message = f"the first instance pool is {first.type}, and `instance.type` is {wanted}"
        hint = f"write `instance: {{type: {first.type}}}`, or give {wanted} the priority 1"
        yield Problem(first.type_path, message, hint)


def _place(raws: Raws) -> KeyPath:
    return next(iter(raws.values())).path
