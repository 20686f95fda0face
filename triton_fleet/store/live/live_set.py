"""The live set of a multi-model endpoint: archives are added and removed without a deploy, never changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from triton_fleet.catalog.variables import out_of_memory
from triton_fleet.context.samples import target_model
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import prefix_of
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import ArchiveSet, Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at
from triton_fleet.spec.values import NAME_LENGTH
from triton_fleet.store.content_store import DIGEST, digest_of, list_objects

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*")
TARGET = re.compile(r"(?P<archive>.+)-v(?P<version>[1-9]\d*)\.tar\.gz")


@dataclass(frozen=True, kw_only=True)
class LiveSet:
    """Where the archives of one endpoint are, and what its files declare.

    `spec_targets` has the targets of the spec with their digests in the lock; "" if the lock lacks one.
    """

    endpoint: str
    deployment: Deployment
    spec_targets: Mapping[str, str]

    @property
    def prefix(self) -> str:
        """The prefix of the keys in the artifact bucket."""
        return f"{prefix_of(self.endpoint)}live/"

    def key(self, target: str) -> str:
        """The key of a target's archive."""
        return f"{self.prefix}{target}"


def live_set(project: Project, endpoint: str) -> LiveSet:
    """The live set of an endpoint, from an environment's files.

    Raises:
        FindingsError: the files are wrong, or the endpoint has no live set.
    """
    loaded_spec = project.load(endpoint)
    _require_live(project, loaded_spec)
    archives = project.lock(endpoint).archives if project.lock_file(endpoint).is_file() else {}
    return LiveSet(
        endpoint=endpoint,
        deployment=project.deployment,
        spec_targets={
            target_model(archive.name, archive.version): archives[archive.name].digest
            if archive.name in archives
            else ""
            for archive in loaded_spec.spec.packed_archives
        },
    )


def check_archive_name(archive: str) -> None:
    """Check that an archive's name can be the name of a target.

    Raises:
        FindingsError: a spec could not use the name, or each of its errors would read as out of memory.
    """
    words = [word for word in out_of_memory() if word in archive]
    if words:
        message = f"{archive!r} contains {words[0]!r}: each of its errors would read as out of memory"
    elif not NAME.fullmatch(archive) or len(archive) > NAME_LENGTH:
        message = (
            f"{archive!r} is not an archive's name: letters, digits, inner hyphens, at most {NAME_LENGTH}"
        )
    else:
        return
    raise FindingsError([Finding(code="FL335", message=message, hint="choose another name")])


def require_removable(live: LiveSet, target: str, targets: list[str]) -> None:
    """Check that a target can be removed; `targets` are those of the live set.

    Raises:
        FindingsError: the target is in the spec, or does not exist.
    """
    environment = live.deployment.environment
    if target in live.spec_targets:
        message = f"{target} is in the spec of {live.endpoint}: the next publish would add it again"
        lock = f"fleet lock --env {environment} {live.endpoint}"
        hint = f"remove it from model_specs/{live.endpoint}.yaml and run `{lock}`"
        raise FindingsError([Finding(code="FL331", message=message, hint=hint)])
    if target not in targets:
        message = f"{live.endpoint} has no target {target!r} in {environment}"
        raise FindingsError([Finding(code="FL334", message=message, hint=did_you_mean(target, targets))])


def _require_live(project: Project, loaded_spec: LoadedSpec) -> None:
    spec = loaded_spec.spec
    if spec.mode is Mode.MULTI_MODEL and spec.archive_set is ArchiveSet.LIVE:
        return
    key = "archive_set" if spec.mode is Mode.MULTI_MODEL else "mode"
    setting = f"`mode: {spec.mode.value}`" if key == "mode" else f"`archive_set: {spec.archive_set.value}`"
    options = f"--env {project.environment.environment} {spec.endpoint}"
    message = f"{spec.endpoint} has no live set: {setting} means that only a deploy changes its models"
    hint = (
        "write `mode: multi-model`, `archive_set: live` and a `version` for each archive, then run"
        f" `fleet lock {options}` and `fleet deploy {options}`"
    )
    raise FindingsError([finding_at(loaded_spec.source.latest_mark((key,)), "FL333", message, hint)])


HEADS = 16
"""Parallel requests for objects."""
UNKNOWN = ""
"""The digest of an archive that was uploaded by hand."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target model; size in bytes and time are None if the archive does not exist."""

    name: str
    is_declared: bool
    size: int | None = None
    mtime: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Past:
    """The latest content of a target's name; `version_id` is None if only the spec has it."""

    version_id: str | None
    is_there: bool


def targets_of(s3: S3Client, live: LiveSet) -> list[Target]:
    """The existing targets and those of the spec, by name."""
    stored_objects = {
        key.removeprefix(live.prefix): entry
        for key, entry in list_objects(s3, live.deployment.bucket, live.prefix).items()
    }
    present = [
        Target(
            name=name,
            is_declared=name in live.spec_targets,
            size=entry.size,
            mtime=entry.mtime,
        )
        for name, entry in stored_objects.items()
    ]
    absent = [Target(name=name, is_declared=True) for name in live.spec_targets if name not in stored_objects]
    return sorted(present + absent, key=lambda target: target.name)


def digests_of(s3: S3Client, live: LiveSet, targets: list[str]) -> dict[str, str]:
    """The digests of tar streams by target, `UNKNOWN` if an archive has none."""
    digests = all_in_parallel(
        targets, lambda name: digest_of(s3, live.deployment.bucket, live.key(name)), HEADS
    )
    return {name: digest for name, digest in zip(targets, digests, strict=True) if digest is not None}


def versions_of(s3: S3Client, live: LiveSet, archive: str) -> dict[int, Past]:
    """The known targets `ARCHIVE-vVERSION.tar.gz` by version, also removed ones.

    A removed one is known while the bucket keeps its object, as an instance may still serve it.
    """
    versions: dict[int, Past] = {}
    for key, version_id, is_there in _objects(s3, live.deployment.bucket, live.key(f"{archive}-v")):
        version = _version(key.removeprefix(live.prefix), archive)
        if version is not None:
            versions.setdefault(version, Past(version_id=version_id, is_there=is_there))
    for target in live.spec_targets:
        version = _version(target, archive)
        if version is not None:
            versions.setdefault(version, Past(version_id=None, is_there=False))
    return versions


def digest_of_target(s3: S3Client, live: LiveSet, target: str, past: Past) -> str:
    """The digest of the content that a target's name has or had."""
    if past.version_id is None:
        return live.spec_targets[target]
    head = s3.head_object(Bucket=live.deployment.bucket, Key=live.key(target), VersionId=past.version_id)
    return head["Metadata"].get(DIGEST, UNKNOWN)


def _version(target: str, archive: str) -> int | None:
    match = TARGET.fullmatch(target)
    return int(match["version"]) if match and match["archive"] == archive else None


def _objects(s3: S3Client, bucket: str, prefix: str) -> Iterator[tuple[str, str, bool]]:
    """Keys with the id of an object and whether it is current; for each key the latest object first."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix):
        for entry in page.get("Versions", []):
            yield entry["Key"], entry["VersionId"], entry["IsLatest"]
