"""Where an endpoint's archives lie in the bucket, by the lock alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from fleet.resolve.context import Context
from fleet.resolve.endpoint import Artifact, prefix_of
from fleet.spec.endpoint import ArchiveSet, Compression, EndpointSpec, Mode, Packed
from fleet.spec.lock import LockedArchive

S3_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/(?:.*/|.*\.tar\.gz)?")
# Triton's SageMaker front end finds these anywhere in an error, and errors name the target model.
# Source: triton-inference-server/server, src/sagemaker_server.cc.
OUT_OF_MEMORY = ("OOM", "MemoryError", "OutOfMemory")


def locked_archives(context: Context) -> list[LockedArchive]:
    """What the lock says of each archive that the spec names; empty where it lacks one."""
    if context.lock is None:
        return []  # the missing or broken lock is a finding already
    held, packed = context.lock.archives, context.spec.packed
    for name in sorted({each.name for each in packed} - set(held)):
        message = f"the lock holds no archive {name!r}; it was written for another spec"
        context.refuse_lock("FL302", message)
    return [held[each.name] for each in packed] if all(each.name in held for each in packed) else []


def place_archives(context: Context, locked: list[LockedArchive]) -> tuple[str, tuple[Artifact, ...]]:
    """The key or prefix that the Model names, and each archive with its key.

    A single archive is named by its content. A locked set has stable names under a prefix that is named by
    the content of the whole set; a live set has one prefix for good, and a version in each name.
    """
    spec = context.spec
    prefix, packed = prefix_of(spec.endpoint), spec.packed
    if spec.mode is Mode.SINGLE:
        end = ".tar.gz" if spec.models[0].compression is Compression.GZIP else "/"
        key = f"{prefix}{hexadecimal(locked[0].digest)}{end}"
        return key, (_artifact(spec, packed[0], locked[0], key),)
    live = spec.archive_set is ArchiveSet.LIVE
    digests = {each.name: archive.digest for each, archive in zip(packed, locked, strict=True)}
    folder = f"{prefix}live/" if live else f"{prefix}{set_digest(digests)}/"
    return folder, tuple(
        _artifact(spec, each, archive, f"{folder}{target_model(each.name, each.version)}")
        for each, archive in zip(packed, locked, strict=True)
    )


def set_digest(digests: Mapping[str, str]) -> str:
    """The digest of a locked set, in hexadecimal: of its archives' names and digests."""
    lines = sorted(f"{name} {digest}\n" for name, digest in digests.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def hexadecimal(digest: str) -> str:
    """A digest as it stands in keys, without its algorithm."""
    return digest.removeprefix("sha256:")


def target_model(archive: str, version: int | None) -> str:
    """What a caller names as TargetModel."""
    return f"{archive}{'' if version is None else f'-v{version}'}.tar.gz"


def check_names(context: Context) -> None:
    """Refuse what a name of an archive must not say, or has to say, in the spec's mode."""
    multi, live = context.spec.mode is Mode.MULTI_MODEL, context.spec.archive_set is ArchiveSet.LIVE
    spec_mode = context.spec.mode.value
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
        for key in ("copies",) if not multi else ("compression",):
            if key in model.model_fields_set:
                message = f"`{key}` means nothing in mode {spec_mode!r}"
                context.refuse("FL218", (*path, key), message, "leave it out")
        _check_source(context, index)
        for word in OUT_OF_MEMORY if multi else ():
            if word in model.archive:
                message = f"{model.archive!r} holds {word!r}: all its errors would pass for a lack of memory"
                context.refuse("FL214", (*path, "archive"), message, "choose another name")


def _check_source(context: Context, index: int) -> None:
    model = context.spec.models[index]
    in_s3 = model.repository.startswith("s3://")
    if in_s3 and not S3_URL.fullmatch(model.repository):
        message = f"{model.repository!r} is neither an archive nor a prefix in S3"
        hint = "write `s3://BUCKET/KEY.tar.gz`, or `s3://BUCKET/PREFIX/` with a slash at its end"
        context.refuse("FL219", ("models", index, "repository"), message, hint)
    if in_s3 and model.digest is None:
        message = f"what lies at {model.repository} may change: the spec has to say which content is meant"
        name, environment = context.spec.endpoint, context.place.environment
        hint = f"write `digest:`; `fleet lock --env {environment} {name}` reads it and says what it is"
        context.refuse("FL220", ("models", index, "repository"), message, hint)
    if not in_s3 and model.digest is not None:
        hint = "leave it out; only a repository in S3 has one"
        context.refuse(
            "FL220", ("models", index, "digest"), "a folder needs no digest: its lock has it", hint
        )


def _artifact(spec: EndpointSpec, packed: Packed, locked: LockedArchive, key: str) -> Artifact:
    return Artifact(
        source=packed,
        digest=locked.digest,
        size=locked.size,
        key=key,
        named_by_content=packed.version is None,
        compression=spec.models[packed.index].compression,
    )
