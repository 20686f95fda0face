"""Bringing a variant's scaling in line with its instance type, in whatever direction the stack goes."""

from __future__ import annotations

from typing import Any

from .errors import GuardError
from .registered import deregister, registered
from .request import Request
from .restore import restore
from .saved import Saved
from .scaling import Scaling
from .variant import Variant, instance_types


def align(request: Request, sagemaker: Any, autoscaling: Any, saved: Saved) -> str:
    """Deregister a scaling that stands in the way of an update, or register it again when it does not.

    Returns:
        What was done, as a sentence.

    Raises:
        GuardError: the endpoint did not keep its new type, or not everything could be registered again.
        ClientError: AWS refused a call.
    """
    variant = request.variant
    types = instance_types(sagemaker, variant)
    if not types:
        return _without_endpoint(variant, saved)
    kept, now = saved.load(), registered(autoscaling, variant)
    runs = f"{variant} runs on {' and '.join(sorted(types))}"
    if types == {request.instance_type}:
        if kept is None:
            return f"Nothing to do: {runs}, and no scaling is saved."
        return _bring_back(variant, autoscaling, saved, kept, now)
    if now is not None:
        kept = now.completed_by(kept)
        saved.save(kept)
        deregister(autoscaling, variant)
    if kept is None:
        return f"Nothing to do: {variant} has no scaling."
    what = f"{runs}, not {request.instance_type}: its scaling is deregistered, and saved in {saved}: {kept}."
    if request.step == "after":
        raise GuardError(
            what,
            "SageMaker did not keep the update: see the output of `aws sagemaker describe-endpoint "
            f"--endpoint-name {variant.endpoint}`, remove the cause, and deploy again. The rollback of this "
            "stack registers the scaling again.",
        )
    return what


def finish(variant: Variant, sagemaker: Any, autoscaling: Any, saved: Saved) -> str:
    """Register again what is still saved when a rollback is over, on whatever the variant runs then.

    Only now has the endpoint come back if the first step was rolled back before it, and the second never ran.

    Raises:
        GuardError: not everything could be registered again.
        ClientError: AWS refused a call.
    """
    if not instance_types(sagemaker, variant):
        return _without_endpoint(variant, saved)
    kept = saved.load()
    if kept is None:
        return f"Nothing to do: no scaling of {variant} is saved."
    return _bring_back(variant, autoscaling, saved, kept, registered(autoscaling, variant))


def _without_endpoint(variant: Variant, saved: Saved) -> str:
    saved.forget()
    return f"Endpoint {variant.endpoint} does not exist, so it has no scaling."


def _bring_back(variant: Variant, autoscaling: Any, saved: Saved, kept: Scaling, now: Scaling | None) -> str:
    missing = restore(autoscaling, kept, now, variant)
    if missing.failed:
        what = " ".join(
            [f"The scaling of {variant} could not be fully restored.", *missing.failed, *missing.over]
        )
        raise GuardError(what, f"It stays saved in {saved}: remove the cause, and deploy again.")
    saved.forget()
    return " ".join([f"Registered the scaling of {variant} again: {kept}.", *missing.over])
