"""The live set of a multi-model endpoint: archives are added and removed without a deploy, never changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from triton_fleet.catalog.variables import out_of_memory
from triton_fleet.context.targets import target_model
from triton_fleet.endpoint.object_keys import prefix_of
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import ArchiveSet, Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at
from triton_fleet.spec.values import NAME_LENGTH

NAME = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*")
TARGET = re.compile(r"(?P<archive>.+)-v(?P<version>[1-9]\d*)\.tar\.gz")


@dataclass(frozen=True, kw_only=True)
class LiveSet:
    """Where the archives of one endpoint are, and what its files declare.

    `declared` has the targets of the spec with their digests in the lock; "" if the lock lacks one.
    """

    endpoint: str
    deployment: Deployment
    declared: Mapping[str, str]

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
    loaded = project.load(endpoint)
    _require_live(project, loaded)
    locked = project.lock(endpoint).archives if project.lock_file(endpoint).is_file() else {}
    return LiveSet(
        endpoint=endpoint,
        deployment=project.deployment,
        declared={
            target_model(each.name, each.version): locked[each.name].digest if each.name in locked else ""
            for each in loaded.spec.packed
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


def require_removable(live: LiveSet, target: str, there: list[str]) -> None:
    """Check that a target can be removed; `there` are those of the live set.

    Raises:
        FindingsError: the target is in the spec, or does not exist.
    """
    environment = live.deployment.environment
    if target in live.declared:
        message = f"{target} is in the spec of {live.endpoint}: the next publish would add it again"
        lock = f"fleet lock --env {environment} {live.endpoint}"
        hint = f"remove it from model_specs/{live.endpoint}.yaml and run `{lock}`"
        raise FindingsError([Finding(code="FL331", message=message, hint=hint)])
    if target not in there:
        message = f"{live.endpoint} has no target {target!r} in {environment}"
        raise FindingsError([Finding(code="FL334", message=message, hint=did_you_mean(target, there))])


def _require_live(project: Project, loaded: LoadedSpec) -> None:
    spec = loaded.spec
    if spec.mode is Mode.MULTI_MODEL and spec.archive_set is ArchiveSet.LIVE:
        return
    key = "archive_set" if spec.mode is Mode.MULTI_MODEL else "mode"
    now = f"`mode: {spec.mode.value}`" if key == "mode" else f"`archive_set: {spec.archive_set.value}`"
    options = f"--env {project.environment.environment} {spec.endpoint}"
    message = f"{spec.endpoint} has no live set: {now} means that only a deploy changes its models"
    hint = (
        "write `mode: multi-model`, `archive_set: live` and a `version` for each archive, then run"
        f" `fleet lock {options}` and `fleet deploy {options}`"
    )
    raise FindingsError([finding_at(loaded.source.latest_mark((key,)), "FL333", message, hint)])
