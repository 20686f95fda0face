"""The CODEOWNERS file of a fleet, from the `owner` of its specs, and the owner of all other files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from triton_fleet.check.repository_owners import OwnedSpec, named_files, ownership_findings
from triton_fleet.findings import Finding, FindingsError, Severity, all_of
from triton_fleet.new.ci.github import FOLDER as WORKFLOWS
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.layers import Layer, Layering, LayerKind, merged_source
from triton_fleet.project.reader import read_source
from triton_fleet.project.spec_files import policy_files
from triton_fleet.spec.contacts import EndpointOwner, Owner
from triton_fleet.spec.prices import PRICES, PRICES_SCHEMA
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import ENVIRONMENTS, POLICIES, PROFILES, Mark, Source, finding_at
from triton_fleet.spec.values import Name

_SPECIAL = re.compile(r"([\\\s#!*?\[\]])")
PLATFORM = "platform.yaml"
"""The policy whose owner is the platform's; `fleet init` writes it."""
MONTHLY_COST = "monthly_cost"
_NAME = TypeAdapter[str](Name)


class _Parts(BaseModel):
    """The keys of a spec by which files have owners."""

    model_config = ConfigDict(extra="ignore", strict=True)

    owner: EndpointOwner | None = None


class _Policy(BaseModel):
    """The keys of a policy by which its file and the prices have owners."""

    model_config = ConfigDict(extra="ignore", strict=True)

    owner: Owner | None = None
    statements: list[dict[str, object]] = Field(default_factory=list)


@dataclass(frozen=True)
class _SpecReviewer:
    """A spec with its reviewer; `folder` is the one whose file names the owner, None for the spec itself."""

    spec: OwnedSpec
    reviewer: str
    folder: Path | None


def codeowners(root: Path, top: Path) -> list[str]:
    """The lines for specs, locks, models and what the platform writes: the last matching line wins.

    The owner of policies/platform.yaml has environments/ and profiles/, and shares the locks of promoted
    environments. A policy whose owner has no contact for such a file has no line. prices.yaml, which need
    not exist, belongs to the owner of policies/platform.yaml, else to those of policies with `monthly_cost`.
    All of these are the last, so no line of a spec overrides theirs.

    Args:
        root: The fleet.
        top: The folder of the Git repository, to which the paths are relative; without links.

    Raises:
        FindingsError: a spec cannot be read, its owner has no contact that such a file can name, or one of
            its models overlaps the platform's folders or another owner's.
    """
    root = root.resolve()
    fleet = FleetFiles(root)
    layers_of_fleet = Layering(fleet, Source(root, {}))
    specs = all_of(fleet.specs.by_endpoint.items(), lambda item: _spec(layers_of_fleet, *item))
    with_owner = [(spec, spec.owner, layers) for spec, layers in specs if spec.owner]
    reviewers = all_of(with_owner, lambda item: _owned_spec(*item))
    if findings := ownership_findings(root, [owned_spec for owned_spec, _ in specs]):
        raise FindingsError(findings)
    folders = {
        owned_spec.folder: owned_spec.reviewer for owned_spec in reviewers if owned_spec.folder is not None
    }
    lines = [f"{pattern_of(folder, top)}/ {folders[folder]}" for folder in sorted(folders)]
    lines += [
        f"{pattern_of(owned_spec.spec.file, top)} {owned_spec.reviewer}"
        for owned_spec in reviewers
        if owned_spec.folder is None
    ]
    locks = pattern_of(root / "locks", top)
    lines += [
        f"{locks}/*/{owned_spec.spec.endpoint}.*.yaml {owned_spec.reviewer}" for owned_spec in reviewers
    ]
    lines += [f"{path} {' '.join(names)}" for path, names in sorted(_models(reviewers, top).items())]
    platform = platform_reviewer(root)
    if platform is not None:
        lines += [
            f"{locks}/{environment}/{owned_spec.spec.endpoint}.*.yaml {owned_spec.reviewer} {platform}"
            for environment in _promoted_environments(fleet)
            for owned_spec in reviewers
            if owned_spec.reviewer != platform
        ]
        lines += [f"{pattern_of(root / folder, top)}/ {platform}" for folder in (ENVIRONMENTS, PROFILES)]
    return [*lines, *_of_policies(root, top)]


def _promoted_environments(fleet: FleetFiles) -> Iterator[str]:
    """The environments that `fleet promote` writes, also those whose file has a mistake."""
    for name in fleet.environments:
        source = fleet.source.readable(fleet.environment_file(name))
        if source is not None and source.data.get("promoted_from") is not None:
            yield name


def _of_policies(root: Path, top: Path) -> Iterator[str]:
    """The lines of policies, and of the prices at which they compare costs.

    The prices need not exist: GitHub takes the reviewers of a pull request from the file of its base, so
    their line has to exist before they do.
    """
    owners = {file: policy_reviewer(file) for file in policy_files(root)[0]}
    yield from (f"{pattern_of(file, top)} {name}" for file, name in owners.items() if name)
    names = [platform_reviewer(root)]
    if names == [None]:
        names = [name for file, name in owners.items() if MONTHLY_COST in _limits(file)]
    if reviewers := " ".join(dict.fromkeys(filter(None, names))):
        yield from (f"{pattern_of(root / file, top)} {reviewers}" for file in (PRICES, PRICES_SCHEMA))


def _limits(policy: Path) -> set[str]:
    """The keys of a policy's statements."""
    return {key for statement in validate(_Policy, read_source(policy)).statements for key in statement}


def policy_reviewer(file: Path) -> str | None:
    """The contact of a policy's owner, where a CODEOWNERS file can name it.

    Raises:
        FindingsError: the policy cannot be read.
    """
    owner = validate(_Policy, read_source(file)).owner
    return owner.reviewer if owner else None


def platform_reviewer(root: Path) -> str | None:
    """That of the owner of policies/platform.yaml; None where there is none.

    Raises:
        FindingsError: likewise.
    """
    policy = root / POLICIES / PLATFORM
    return policy_reviewer(policy) if policy.is_file() else None


def _spec(fleet_layers: Layering, name: str, file: Path) -> tuple[OwnedSpec, tuple[Layer, ...]]:
    source = read_source(file)
    layers = fleet_layers.layers(source)
    whole = merged_source(source, layers)
    return OwnedSpec(name, file, whole, validate(_Parts, whole).owner), layers


def _owned_spec(spec: OwnedSpec, owner: EndpointOwner, layers: tuple[Layer, ...]) -> _SpecReviewer:
    _check_name(spec.endpoint, spec.file)
    owner_layer = next(layer for layer in reversed(layers) if "owner" in layer.source.data)
    folder = owner_layer.source.file.parent if owner_layer.kind is LayerKind.FOLDER else None
    mark = spec.source.marks.get(("owner", "contact"), owner_layer.source.mark(("owner",)))
    return _SpecReviewer(spec, _reviewer(owner, mark), folder)


def _check_name(name: str, file: Path) -> None:
    """Refuse a name with which the pattern of its locks would match those of other endpoints."""
    try:
        _NAME.validate_python(name)
    except ValidationError:
        message = f"a CODEOWNERS file cannot have the locks of {name!r}, which is not an endpoint's name"
        hint = "rename the file: letters, digits and inner hyphens, at most 63, before .yaml"
        raise FindingsError([Finding(code="FL510", message=message, hint=hint, file=file, line=1)]) from None


def _reviewer(owner: Owner, mark: Mark) -> str:
    if owner.reviewer is not None:
        return owner.reviewer
    contact_text = f"its contact is {owner.contact}" if owner.contact else "it has no contact"
    message = f"a CODEOWNERS file cannot name the owner {owner.team!r}: {contact_text}"
    hint = 'write `contact: "@organisation/team"`, or an email address'
    raise FindingsError([finding_at(mark, "FL510", message, hint)])


def _models(reviewers: list[_SpecReviewer], top: Path) -> Mapping[str, list[str]]:
    """The reviewers of each model repository and of each ONNX model outside of them.

    One that several teams share has all of them.
    """
    files = [
        (file, spec_reviewer.reviewer)
        for spec_reviewer in reviewers
        for file in named_files(spec_reviewer.spec)
        if file.is_model and file.path.is_relative_to(top)
    ]
    repositories = {file.path for file, _ in files if file.is_repository}
    models = defaultdict[str, list[str]](list)
    for file, reviewer in files:
        if file.is_repository or repositories.isdisjoint(file.path.parents):
            names = models[pattern_of(file.path, top) + ("/" if file.is_repository else "")]
            if reviewer not in names:
                names.append(reviewer)
    return models


def pattern_of(path: Path, top: Path) -> str:
    """A path from the top of the repository, a link as such; blanks and signs with a meaning are escaped."""
    relative = path.relative_to(top).as_posix()
    if not relative.isprintable():
        message = f"a CODEOWNERS file cannot have the path {relative!r}"
        raise FindingsError([Finding(code="FL510", message=message, hint="rename it", file=path)])
    return "/" + _SPECIAL.sub(r"\\\1", relative)


_CATCH_ALL_PATTERNS = ("*", "**", "/**")


def fallback_lines(root: Path, top: Path, above: str) -> list[str]:
    """The first lines, of the owner of policies/platform.yaml; none if that has no contact for such a file.

    At the top of the repository they are `*`, which would override every line above, and `/.github/`. In a
    larger repository they are the fleet's folder and its workflows. If a line above is for files in
    `.github`, their owner is the choice of whoever wrote it: then these have no line for them.

    Args:
        root: The fleet.
        top: The folder of the Git repository, without links.
        above: The text above the lines of the fleet.

    Raises:
        FindingsError: the policy cannot be read.
    """
    real, reviewer = root.resolve(), platform_reviewer(root)
    if reviewer is None:
        return []
    patterns = [pattern for pattern, _ in _patterns(above)]
    if real == top:
        lines = [] if patterns else [f"* {reviewer}"]
        workflows = "/.github/"
    else:
        lines, workflows = [f"{pattern_of(real, top)}/ {reviewer}"], f"/{WORKFLOWS}/fleet-*.yml"
    if not any(pattern in _CATCH_ALL_PATTERNS or ".github" in pattern for pattern in patterns):
        lines.append(f"{workflows} {reviewer}")
    return lines


def missing_fallback(file: Path, text: str, root: Path, top: Path) -> Finding | None:
    """A warning where a CODEOWNERS file gives no owner to files that a deploy executes."""
    owners = dict(_patterns(text))
    folders = [] if root.resolve() == top else [pattern_of(root.resolve(), top), "/.github"]
    if any(owners.get(pattern) for pattern in _CATCH_ALL_PATTERNS):
        return None
    bare = [folder for folder in folders if not (owners.get(f"{folder}/") or owners.get(f"{folder}/**"))]
    if folders and not bare:
        return None
    folder_names = " and ".join(f"{pattern.lstrip('/')}/" for pattern in bare) or "the repository"
    return Finding(
        code="FL573",
        severity=Severity.WARNING,
        message=f"files of {folder_names} without a line of their own have no owner; a deploy executes some"
        " of them",
        hint="write `* @organisation/platform` as the first line of the file; a new file has it if the owner"
        f" in {POLICIES}/{PLATFORM} has a contact",
        file=file,
        line=1,
    )


def _patterns(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each pattern with its owners; section headings of GitLab are none."""
    for row in text.splitlines():
        words = row.partition(" #")[0].split()
        if words and not words[0].startswith(("#", "[", "^[")):
            yield words[0], words[1:]
