"""Which archive is served and which of its models answers, by the lock alone."""

from __future__ import annotations

from fleet.resolve.context import Context
from fleet.spec.lock import LockedArchive
from fleet.spec.problems import did_you_mean


def locked_archive(context: Context) -> LockedArchive | None:
    """What the lock says of the archive that the spec names."""
    name = context.spec.models[0].archive
    if context.lock is None:
        return None  # the missing or broken lock is a finding already
    if name in context.lock.archives:
        return context.lock.archives[name]
    context.refuse_lock("FL302", f"the lock holds no archive {name!r}; it was written for another spec")
    return None


def resolve_default_model(context: Context, archive: LockedArchive) -> str | None:
    """The model behind /invocations: the one named, or the only one there is."""
    named, there = context.spec.default_model, sorted(archive.models)
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
