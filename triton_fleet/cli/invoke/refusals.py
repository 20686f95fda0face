"""Which of an endpoint's models a call goes to."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.context.samples import target_models
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.problems import did_you_mean


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The TargetModel of a multi-model endpoint, or route and version of a shared container."""

    target: str | None = None
    model: str | None = None
    version: int | None = None

    @property
    def options(self) -> dict[str, bool]:
        """The options that name it, and whether each is given."""
        values = {"--target": self.target, "--model": self.model, "--version": self.version}
        return {option: value is not None for option, value in values.items()}


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
    endpoint_spec = project.specs.readable(endpoint)
    if endpoint_spec is None:
        return ""
    spec = endpoint_spec.spec
    targets = list(target_models(spec).values())
    if spec.mode is not Mode.MULTI_MODEL or target in targets:
        return ""
    if target is None:
        return f"pass one with --target: {', '.join(targets)}"
    return did_you_mean(target, targets, whole_list=True)


def routes_of(project: Project, endpoint: str) -> tuple[str, ...]:
    """The names by which the models of a shared container are called, as far as the files have them."""
    spec = project.specs.readable(endpoint)
    if spec is None:
        return ()
    context, _ = locked_context(project, spec)
    return tuple(context.routes)
