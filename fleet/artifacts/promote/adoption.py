"""The endpoints of an environment that is promoted to: which may come, and those that it has already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fleet.artifacts.lock import write_text
from fleet.artifacts.promote.spec import expanded_for
from fleet.findings import Finding, FindingsError, all_of
from fleet.spec.layers import Layering
from fleet.spec.membership import locked_endpoints, promoted_spec
from fleet.spec.project import Project, environment_names
from fleet.spec.spec_files import spec_files


def target_for(target: Project, endpoints: Sequence[str]) -> Project:
    """The target of a promotion with the endpoints that come, whether or not it has them.

    Raises:
        FindingsError: the target is not to have one of them.
    """
    barred = [
        target.absent[name] for name in endpoints if name in target.absent and name not in target.unpromoted
    ]
    if barred:
        raise FindingsError(barred)
    return replace(target, endpoints=tuple(endpoints))


def following(project: Project) -> Project:
    """An environment as it would be if it followed the specs in model_specs/."""
    layering = Layering(project.root, project.environment_source, environment_names(project.root))
    return replace(project, layering=layering, spec_files=spec_files(project.root).by_endpoint)


def adopted_specs(target: Project, endpoints: Sequence[str] = ()) -> list[Path]:
    """Write the specs that locks lack, with the keys that they have now; return the new files.

    Args:
        target: The environment.
        endpoints: Those that are adopted. Default: all that have a lock.

    Raises:
        FindingsError: the environment has no `promoted_from`, or a lock has no spec in model_specs/.
        CannotRunError: a file cannot be written.
    """
    name, root = target.environment.environment, target.root
    if not target.is_promoted:
        message = f"{name} has no `promoted_from`, so it follows the specs in model_specs/"
        hint = f"write `promoted_from: ENVIRONMENT` in environments/{name}.yaml first"
        raise FindingsError([Finding(code="FL515", message=message, hint=hint)])
    chosen = [each for each in locked_endpoints(root, name) if each in endpoints or not endpoints]
    unlocked = [each for each in endpoints if each not in chosen]
    main, lacking = following(target), [each for each in chosen if each not in target.spec_files]
    findings = [_unadoptable(target, each, "it has no lock there") for each in unlocked]
    findings += [
        _unadoptable(target, each, "it has no spec in model_specs/")
        for each in lacking
        if each not in main.spec_files
    ]
    if findings:
        raise FindingsError(findings)
    texts = all_of(lacking, lambda each: expanded_for(main, target, each).text)
    files = [promoted_spec(root, name, each) for each in lacking]
    return [file for file, text in zip(files, texts, strict=True) if write_text(file, text)]


def _unadoptable(target: Project, endpoint: str, reason: str) -> Finding:
    name = target.environment.environment
    hint = f"`git rm locks/{name}/{endpoint}.lock.yaml` removes its lock" if "spec" in reason else ""
    return Finding(code="FL841", message=f"{endpoint!r} cannot be adopted in {name}: {reason}", hint=hint)
