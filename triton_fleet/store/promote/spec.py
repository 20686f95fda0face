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
TESTED_KEYS = ("mode", "archive_set", "triton", "image", "image_digest", "default_model", "routes", "models")
"""Keys that decide what answers: the environment in which they were tested cannot differ in them alone."""


@dataclass(frozen=True)
class PromotedSpec:
    """A spec as the target will have it, and in which keys it differs on purpose from what was tested."""

    text: str
    loaded_spec: LoadedSpec
    differences: tuple[KeyChange, ...]


def promoted_spec_of(source: Project, target: Project, endpoint: str) -> PromotedSpec:
    """The tested spec for the target, whose overrides are laid over it.

    Raises:
        FindingsError: a spec is wrong, or a key would differ that no override is about.
    """
    source_spec, new = source.load(endpoint), expanded_for(source, target, endpoint)
    changes = spec_changes(source_spec, new.loaded_spec)
    if findings := list(_unintended_findings(source, target, source_spec, new.loaded_spec, changes)):
        raise FindingsError(findings)
    return PromotedSpec(new.text, new.loaded_spec, tuple(changes))


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


def _unintended_findings(
    source: Project,
    target: Project,
    source_spec: LoadedSpec,
    target_spec: LoadedSpec,
    changes: Sequence[KeyChange],
) -> Iterator[Finding]:
    """Differences that come from `defaults`, and those of what answers that only the source overrides."""
    name, target_name = source.environment.environment, target.environment.environment
    for change in changes:
        target_mark = _override(target_spec, change.path)
        source_mark = _override(source_spec, change.path)
        if target_mark or (source_mark and change.path[0] not in TESTED_KEYS):
            continue
        mark = source_mark or _default(source_spec, change.path) or _default(target_spec, change.path)
        remedy = f"in the overrides of {target_name}, or make it the same in both"
        message = f"was tested in {name} with another value than {target_name} has: {change}"
        yield finding_at(
            mark or source_spec.source.mark(change.path),
            CODE,
            f"{source_spec.spec.endpoint} {message}",
            f"write `{change.key}` {remedy}",
        )


def _override(loaded_spec: LoadedSpec, path: KeyPath) -> Mark | None:
    return _mark(loaded_spec, path, LayerKind.OVERRIDES)


def _default(loaded_spec: LoadedSpec, path: KeyPath) -> Mark | None:
    return _mark(loaded_spec, path, LayerKind.DEFAULTS)


def _mark(loaded_spec: LoadedSpec, path: KeyPath, kind: LayerKind) -> Mark | None:
    """Where a layer of a kind sets a key, all of it or a part of it."""
    for layer in reversed(loaded_spec.layers):
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


def target_for(
    target: Project, endpoints: Sequence[str], selection: Collection[str] | None = None
) -> Project:
    """The target of a promotion with the endpoints that come, whether or not it has them.

    Args:
        target: The environment.
        endpoints: What was selected in the environment in which they were tested.
        selection: Those of them that were named one by one. Default: all. Others that the target is not to
            have are left out.

    Raises:
        FindingsError: the target is not to have one that was named, or none is left.
    """
    refusals = {
        name: target.absent[name]
        for name in endpoints
        if name in target.absent and name not in target.unpromoted_names
    }
    eligible = tuple(name for name in endpoints if name not in refusals)
    findings = [finding for name, finding in refusals.items() if selection is None or name in selection]
    if findings or not eligible:
        raise FindingsError(findings or list(refusals.values()))
    return replace(target, endpoints=eligible)


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
    lock_names = locked_endpoints(root, name)
    selection = [
        name_of_endpoint
        for name_of_endpoint in lock_names
        if not endpoints or any(fnmatchcase(name_of_endpoint, pattern) for pattern in endpoints)
    ]
    main = target.following_main
    without_spec = [
        name_of_endpoint
        for name_of_endpoint in selection
        if not promoted_spec(root, name, name_of_endpoint).is_file()
    ]
    findings = [
        _unadoptable(target, pattern, "no lock there has this name")
        for pattern in endpoints
        if not any(fnmatchcase(name_of_endpoint, pattern) for name_of_endpoint in lock_names)
    ]
    findings += [
        _unadoptable(target, name_of_endpoint, "it has no spec in model_specs/", removes=True)
        for name_of_endpoint in without_spec
        if name_of_endpoint not in main.spec_files
    ]
    refusals = [
        name_of_endpoint
        for name_of_endpoint in without_spec
        if name_of_endpoint in target.absent and name_of_endpoint not in target.unpromoted_names
    ]
    findings += [
        target.absent[name_of_endpoint] for name_of_endpoint in refusals if name_of_endpoint in endpoints
    ]
    if findings:
        raise FindingsError(findings)
    new_specs = [name_of_endpoint for name_of_endpoint in without_spec if name_of_endpoint not in refusals]
    texts = all_of(new_specs, lambda name_of_endpoint: _unchanged_text(main, target, name_of_endpoint))
    files = [promoted_spec(root, name, name_of_endpoint) for name_of_endpoint in new_specs]
    return [file for file, text in zip(files, texts, strict=True) if write_text(file, text, root)]


def _unchanged_text(main: Project, target: Project, endpoint: str) -> str:
    """The spec for the target, which means there what the layers mean."""
    expansion = expanded_for(main, target, endpoint)
    if changes := spec_changes(main.load(endpoint), expansion.loaded_spec):
        message = f"{endpoint} would change when it is adopted: {', '.join(map(str, changes))}"
        hint = "write the key in the spec in place of a `null` that removes a default"
        raise FindingsError([Finding(code="FL843", message=message, hint=hint)])
    return expansion.text


def _unadoptable(target: Project, endpoint: str, reason: str, *, removes: bool = False) -> Finding:
    name = target.environment.environment
    hint = f"`git rm locks/{name}/{endpoint}.lock.yaml` removes its lock" if removes else ""
    return Finding(code="FL841", message=f"{endpoint!r} cannot be adopted in {name}: {reason}", hint=hint)
