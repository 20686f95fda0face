"""The specs of an environment that is promoted to: written for it, and adopted by it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from triton_fleet.changes.spec_changes import KeyChange, spec_changes
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.project.expansion import expanded_spec, spec_text
from triton_fleet.project.layers import LayerKind
from triton_fleet.project.membership import locked_endpoints, promoted_spec
from triton_fleet.project.project import LoadedSpec, Project, load_spec
from triton_fleet.project.reader import parse_source
from triton_fleet.spec.source import KeyPath, Mark, finding_at
from triton_fleet.store.lock import write_text

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


def target_for(target: Project, endpoints: Sequence[str], named: Collection[str] | None = None) -> Project:
    """The target of a promotion with the endpoints that come, whether or not it has them.

    Args:
        target: The environment.
        endpoints: What was selected in the environment in which they were tested.
        named: Those of them that were named one by one. Default: all. Others that the target is not to have
            are left out.

    Raises:
        FindingsError: the target is not to have one that was named, or none is left.
    """
    barred = {
        name: target.absent[name]
        for name in endpoints
        if name in target.absent and name not in target.unpromoted
    }
    chosen = tuple(name for name in endpoints if name not in barred)
    refused = [found for name, found in barred.items() if named is None or name in named]
    if refused or not chosen:
        raise FindingsError(refused or list(barred.values()))
    return replace(target, endpoints=chosen)


def adopted_specs(target: Project, endpoints: Sequence[str] = ()) -> list[Path]:
    """Write the specs that locks lack, with the keys that they have now; return the new files.

    Args:
        target: The environment.
        endpoints: Names and globs of those that are adopted. Default: all that have a lock.

    Raises:
        FindingsError: the environment has no `promoted_from`, or a lock has no spec in model_specs/.
        CannotRunError: a file cannot be written.
    """
    name, root = target.environment.environment, target.root
    if not target.is_promoted:
        message = f"{name} has no `promoted_from`, so it follows the specs in model_specs/"
        hint = f"write `promoted_from: ENVIRONMENT` in environments/{name}.yaml first"
        raise FindingsError([Finding(code="FL515", message=message, hint=hint)])
    locked = locked_endpoints(root, name)
    chosen = [each for each in locked if not endpoints or any(fnmatchcase(each, one) for one in endpoints)]
    main = target.following_main
    lacking = [each for each in chosen if not promoted_spec(root, name, each).is_file()]
    findings = [
        _unadoptable(target, one, "no lock there has this name")
        for one in endpoints
        if not any(fnmatchcase(each, one) for each in locked)
    ]
    findings += [
        _unadoptable(target, each, "it has no spec in model_specs/", removes=True)
        for each in lacking
        if each not in main.spec_files
    ]
    barred = [each for each in lacking if each in target.absent and each not in target.unpromoted]
    findings += [target.absent[each] for each in barred if each in endpoints]
    if findings:
        raise FindingsError(findings)
    adopted = [each for each in lacking if each not in barred]
    texts = all_of(adopted, lambda each: _unchanged_text(main, target, each))
    files = [promoted_spec(root, name, each) for each in adopted]
    return [file for file, text in zip(files, texts, strict=True) if write_text(file, text, root)]


def _unchanged_text(main: Project, target: Project, endpoint: str) -> str:
    """The spec for the target, which means there what the layers mean."""
    found = expanded_for(main, target, endpoint)
    if changes := spec_changes(main.load(endpoint), found.loaded):
        message = f"{endpoint} would change when it is adopted: {', '.join(map(str, changes))}"
        hint = "write the key in the spec in place of a `null` that removes a default"
        raise FindingsError([Finding(code="FL843", message=message, hint=hint)])
    return found.text


def _unadoptable(target: Project, endpoint: str, reason: str, *, removes: bool = False) -> Finding:
    name = target.environment.environment
    hint = f"`git rm locks/{name}/{endpoint}.lock.yaml` removes its lock" if removes else ""
    return Finding(code="FL841", message=f"{endpoint!r} cannot be adopted in {name}: {reason}", hint=hint)
