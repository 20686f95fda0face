"""The endpoints of an environment that is promoted to: which may come, and those that it has already."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from triton_fleet.changes.spec_changes import spec_changes
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.project.membership import locked_endpoints, promoted_spec
from triton_fleet.project.project import Project
from triton_fleet.store.lock import write_text
from triton_fleet.store.promote.spec import expanded_for


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
