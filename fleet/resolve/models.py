"""Which model answers without being named, by the lock alone."""

from __future__ import annotations

from fleet.resolve.context import Context
from fleet.spec.endpoint import Mode
from fleet.spec.lock import LockedArchive
from fleet.spec.problems import did_you_mean


def resolve_default_model(context: Context, locked: list[LockedArchive]) -> str | None:
    """The model behind /invocations: the one named, or the only one there is; none in mode `multi-model`."""
    named = context.spec.default_model
    if context.spec.mode is Mode.MULTI_MODEL:
        if named is not None:
            message = "`default_model` means nothing to a multi-model endpoint: each call names its target"
            hint = "leave it out; callers say TargetModel"
            context.refuse("FL215", ("default_model",), message, hint)
        return None
    if not locked:
        return None
    there = sorted(locked[0].models)
    if named is None and len(there) == 1:
        return there[0]
    if named is None:
        message = f"the repository holds {len(there)} models and none is named as the one that answers"
        hint = f"write `default_model:` and one of {', '.join(there)}"
        context.refuse("FL205", ("models", 0), message, hint)
        return None
    if named not in there:
        message = f"`default_model` is {named!r}, which the locked archive does not hold"
        context.refuse("FL206", ("default_model",), message, did_you_mean(named, there))
        return None
    return named
