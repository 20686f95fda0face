"""What to write instead where SageMaker refuses a call before any model sees it."""

from __future__ import annotations

from fleet.endpoint.context.targets import target_models
from fleet.findings import FindingsError
from fleet.spec.endpoint import Mode
from fleet.spec.environment import LOCAL
from fleet.spec.problems import did_you_mean
from fleet.spec.project import Project

NOT_FOUND = "not found"


def instead(project: Project, endpoint: str, target: str | None, said: str) -> str:
    """A hint by the endpoint's spec; empty where that knows no better.

    Args:
        project: Of the environment that was asked.
        endpoint: Its name, as it was called.
        target: The target model that was called.
        said: SageMaker's words.
    """
    env = project.environment.environment
    if NOT_FOUND in said:
        return (
            f"`fleet local up {endpoint}` deploys it"
            if env == LOCAL
            else f"`fleet ls --env {env}` lists them"
        )
    try:
        spec = project.load(endpoint).spec
    except FindingsError:
        return ""
    targets = list(target_models(spec).values())
    if spec.mode is not Mode.MULTI_MODEL or target in targets:
        return ""
    if target is None:
        return f"name one with --target: {', '.join(targets)}"
    return did_you_mean(target, targets, list_all=True)
