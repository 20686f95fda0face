"""The spec that a promotion writes, and what may differ between the two environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triton_fleet.changes.spec_changes import KeyChange, spec_changes
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.expansion import expanded_spec, spec_text
from triton_fleet.project.layers import LayerKind
from triton_fleet.project.membership import promoted_spec
from triton_fleet.project.project import LoadedSpec, Project, load_spec
from triton_fleet.project.reader import parse_source
from triton_fleet.spec.source import KeyPath, Mark, finding_at

CODE = "FL843"
TESTED = ("mode", "archive_set", "triton", "image", "image_digest", "default_model", "routes", "models")
"""Keys that decide what answers: the environment in which they were tested cannot differ in them alone."""


@dataclass(frozen=True)
class PromotedSpec:
    """A spec as the target will have it, and in which keys it differs on purpose from what was tested."""

    text: str
    loaded: LoadedSpec
    differences: tuple[KeyChange, ...]


def promoted_spec_of(source: Project, target: Project, endpoint: str) -> PromotedSpec:
    """The tested spec for the target, whose overrides are laid over it.

    Raises:
        FindingsError: a spec is wrong, or a key would differ that no override is about.
    """
    tested, new = source.load(endpoint), expanded_for(source, target, endpoint)
    changes = spec_changes(tested, new.loaded)
    if findings := list(_unintended(source, target, tested, new.loaded, changes)):
        raise FindingsError(findings)
    return PromotedSpec(new.text, new.loaded, tuple(changes))


def previewed_spec(source: Project, target: Project, endpoint: str) -> LoadedSpec:
    """The spec that a promotion would bring, whose keys have the places where they are written now.

    Raises:
        FindingsError: a layer is wrong, or the spec is in the target.
    """
    layering = target.layering if source.is_promoted else target.draft_layering
    return load_spec(source.fleet.source(source.spec_files[endpoint]), layering)


def expanded_for(source: Project, target: Project, endpoint: str) -> PromotedSpec:
    """A spec of one project as the file that another one would have of it.

    Raises:
        FindingsError: a layer is wrong, or the spec is in the target.
    """
    root, name = target.root, target.environment.environment
    file = promoted_spec(root, name, endpoint)
    document = expanded_spec(source.fleet, source.spec_files[endpoint], file.parent)
    text = spec_text(document)
    return PromotedSpec(text, target.load_source(parse_source(file, text)), ())


def _unintended(
    source: Project,
    target: Project,
    tested: LoadedSpec,
    wanted: LoadedSpec,
    changes: Sequence[KeyChange],
) -> Iterator[Finding]:
    """Differences that come from `defaults`, and those of what answers that only the source overrides."""
    name, other = source.environment.environment, target.environment.environment
    for change in changes:
        here = _override(wanted, change.path)
        there = _override(tested, change.path)
        if here or (there and change.path[0] not in TESTED):
            continue
        mark = there or _default(tested, change.path) or _default(wanted, change.path)
        where = f"in the overrides of {other}, or make it the same in both"
        yield finding_at(
            mark or tested.source.mark(change.path),
            CODE,
            f"{tested.spec.endpoint} was tested in {name} with another value than {other} has: {change}",
            f"write `{change.key}` {where}",
        )


def _override(loaded: LoadedSpec, path: KeyPath) -> Mark | None:
    return _mark(loaded, path, LayerKind.OVERRIDES)


def _default(loaded: LoadedSpec, path: KeyPath) -> Mark | None:
    return _mark(loaded, path, LayerKind.DEFAULTS)


def _mark(loaded: LoadedSpec, path: KeyPath, kind: LayerKind) -> Mark | None:
    """Where a layer of a kind sets a key, all of it or a part of it."""
    for layer in reversed(loaded.layers):
        if layer.origin is kind and _sets(layer.source.data, path):
            return layer.source.mark(path)
    return None


def _sets(data: object, path: KeyPath) -> bool:
    for part in path:
        if not isinstance(data, dict):
            return True  # a list or a single value is replaced whole
        if part not in data:
            return False
        data = data[part]
    return True
