"""Hints for calls that SageMaker refuses before they reach a model."""

from __future__ import annotations

from triton_fleet.context.samples import target_models
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.problems import did_you_mean

NOT_FOUND = "not found"


def instead(project: Project, endpoint: str, target: str | None, message: str) -> str:
    """A hint from the endpoint's spec; empty if the spec does not help.

    Args:
        project: The environment that was called.
        endpoint: The name that was called.
        target: The target model that was called.
        message: SageMaker's error message.
    """
    env = project.environment.environment
    if NOT_FOUND in message:
        return (
            f"`fleet local up {endpoint}` deploys it"
            if env == LOCAL
            else f"`fleet ls --env {env}` lists them"
        )
    loaded = project.specs.readable(endpoint)
    if loaded is None:
        return ""
    spec = loaded.spec
    targets = list(target_models(spec).values())
    if spec.mode is not Mode.MULTI_MODEL or target in targets:
        return ""
    if target is None:
        return f"pass one with --target: {', '.join(targets)}"
    return did_you_mean(target, targets, list_all=True)


def routes_of(project: Project, endpoint: str) -> tuple[str, ...]:
    """The names by which the models of a shared container are called, as far as the files have them."""
    loaded = project.specs.readable(endpoint)
    if loaded is None:
        return ()
    decided, _ = locked_context(project, loaded)
    return tuple(decided.routes)
