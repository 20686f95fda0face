"""Where an endpoint's archives lie in the bucket, by the lock alone."""

from __future__ import annotations

import hashlib

from fleet.resolve.context import Context
from fleet.resolve.endpoint import Artifact, prefix_of
from fleet.spec.endpoint import Archive, ArchiveSet, Mode
from fleet.spec.lock import LockedArchive

# Triton's SageMaker front end finds these anywhere in an error, and errors name the target model.
# Source: triton-inference-server/server, src/sagemaker_server.cc.
OUT_OF_MEMORY = ("OOM", "MemoryError", "OutOfMemory")


def locked_archives(context: Context) -> list[LockedArchive]:
    """What the lock says of each archive that the spec names; empty where it lacks one."""
    if context.lock is None:
        return []  # the missing or broken lock is a finding already
    held = context.lock.archives
    for model in context.spec.models:
        if model.archive not in held:
            message = f"the lock holds no archive {model.archive!r}; it was written for another spec"
            context.refuse_lock("FL302", message)
    named = [model.archive for model in context.spec.models]
    return [held[name] for name in named] if all(name in held for name in named) else []


def place_archives(context: Context, locked: list[LockedArchive]) -> tuple[str, tuple[Artifact, ...]]:
    """The key or prefix that the Model names, and each archive with its key.

    A single archive is named by its content. A locked set has stable names under a prefix that is named by
    the content of the whole set; a live set has one prefix for good, and a version in each name.
    """
    spec = context.spec
    prefix = prefix_of(spec.endpoint)
    if spec.mode is Mode.SINGLE:
        key = f"{prefix}{_hexadecimal(locked[0].digest)}.tar.gz"
        return key, (_artifact(spec.models[0], locked[0], key, by_content=True),)
    live = spec.archive_set is ArchiveSet.LIVE
    folder = f"{prefix}live/" if live else f"{prefix}{_set_digest(spec.models, locked)}/"
    return folder, tuple(
        _artifact(model, archive, f"{folder}{target_model(model)}", by_content=not live)
        for model, archive in zip(spec.models, locked, strict=True)
    )


def target_model(archive: Archive) -> str:
    """What a caller names as TargetModel."""
    version = "" if archive.version is None else f"-v{archive.version}"
    return f"{archive.archive}{version}.tar.gz"


def check_names(context: Context) -> None:
    """Refuse what a name of an archive must not say, or has to say, in the spec's mode."""
    multi, live = context.spec.mode is Mode.MULTI_MODEL, context.spec.archive_set is ArchiveSet.LIVE
    if live and not multi:
        hint = "leave it out, or write `mode: multi-model`"
        context.refuse("FL212", ("archive_set",), "only a multi-model endpoint has a live set", hint)
    for index, model in enumerate(context.spec.models):
        path = ("models", index)
        if live and multi and model.version is None:
            message = f"archive {model.archive!r} of a live set has no version: it could never be changed"
            context.refuse("FL213", path, message, "write `version: 1`")
        if not live and model.version is not None:
            message = f"archive {model.archive!r} has a version: the lock names what it is already"
            hint = "leave it out; only `archive_set: live` has versions"
            context.refuse("FL213", (*path, "version"), message, hint)
        for word in OUT_OF_MEMORY if multi else ():
            if word in model.archive:
                message = f"{model.archive!r} holds {word!r}: all its errors would pass for a lack of memory"
                context.refuse("FL214", (*path, "archive"), message, "choose another name")


def _artifact(model: Archive, locked: LockedArchive, key: str, *, by_content: bool) -> Artifact:
    return Artifact(
        archive=model.archive, digest=locked.digest, size=locked.size, key=key, named_by_content=by_content
    )


def _set_digest(models: tuple[Archive, ...], locked: list[LockedArchive]) -> str:
    lines = sorted(f"{model.archive} {each.digest}\n" for model, each in zip(models, locked, strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _hexadecimal(digest: str) -> str:
    return digest.removeprefix("sha256:")
