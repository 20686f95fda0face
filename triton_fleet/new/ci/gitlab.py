"""The pipeline of GitLab CI for a fleet: check, deploy, and look for drift."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from triton_fleet.new.ci.targets import Target, fill, indent, prefix_of, targets_of
from triton_fleet.spec.trusts import JOB_MINUTES, AccessRole

FILE = ".gitlab-ci.yml"
HEAD = "# Written by `fleet ci gitlab` from environments/; change it there and run the command again.\n"


def pipeline(root: Path, top: Path, *, locked: bool, file: str = FILE) -> str:
    """The text of a pipeline.

    Args:
        root: The fleet.
        top: The folder of the Git repository.
        locked: Whether weights are not in CI, so that no command reads repositories.
        file: Its path from the top of the repository.

    Raises:
        FindingsError: an environment cannot be read.
        CannotRunError: no pipeline can name the fleet's folder.
    """
    targets, prefix = targets_of(root), prefix_of(root, top)
    has_weights = not locked and any(not target.source for target in targets)
    template = (files("triton_fleet.new.ci") / "templates" / "gitlab.yml").read_text("utf-8")
    checks = [line for target in targets for line in _check(target, locked=locked)]
    deploys = [
        line
        for target in targets
        if target.settings.access.gitlab
        for line in (*_deploy(target, prefix, locked=locked), *_drift(target))
    ]
    text = fill(
        template,
        ENTER=f'    - cd "{prefix.rstrip("/")}"\n' if prefix else "",
        INNER=f"/{prefix.rstrip('/')}" if prefix else "",
        SETUP="make weights" if has_weights else "make setup",
        LOCKED=" --locked" if locked else "",
        FILE="" if file == FILE else f' --file "$CI_PROJECT_DIR/{file}"',
        CHECKS=indent(["", *checks], 0) if checks else "",
    )
    return HEAD + text + (indent(deploys, 0) + "\n" if deploys else "")


def omissions(root: Path) -> Iterator[str]:
    """The environments that no job deploys, and the key that gives them one.

    Raises:
        FindingsError: an environment cannot be read.
    """
    for target in targets_of(root):
        if target.settings.access.gitlab is None:
            yield f"no job deploys {target.name}: environments/{target.name}.yaml has no `access.gitlab`"


def _check(target: Target, *, locked: bool) -> list[str]:
    option = " --locked" if locked or target.source else ""
    return [
        f"fleet-check-{target.name}:",
        "  extends: .fleet-check",
        "  script:",
        f"    - .venv/bin/fleet check --env {target.name}{option}",
        "",
    ]


def _deploy(target: Target, prefix: str, *, locked: bool) -> list[str]:
    gitlab = target.settings.access.gitlab
    branch = gitlab.branch if gitlab else "main"
    paths = [f"{prefix}locks/{target.name}/**/*", f"{prefix}environments/{target.name}.yaml"]
    sources = "$CI_PIPELINE_SOURCE !~ /^(merge_request_event|schedule)$/"
    return [
        "",
        f"fleet-deploy-{target.name}:",
        "  extends: .fleet",
        "  stage: deploy",
        "  rules:",
        f'    - if: $CI_COMMIT_BRANCH == "{branch}" && {sources}',
        *(["      changes:", *(f'        - "{path}"' for path in paths)] if target.source else []),
        "  interruptible: false",
        f'  resource_group: "{target.name}"',
        "  environment:",
        f'    name: "{target.name}"',
        *_credentials(target, "deploy"),
        f"    - .venv/bin/fleet deploy --env {target.name}{' --locked' if locked or target.source else ''}",
    ]


def _drift(target: Target) -> list[str]:
    """A job of scheduled pipelines, which fails where something differs: its token cannot write an issue."""
    gitlab = target.settings.access.gitlab
    branch = gitlab.branch if gitlab else "main"
    return [
        "",
        f"fleet-drift-{target.name}:",
        "  extends: .fleet",
        "  stage: check",
        "  rules:",
        f'    - if: $CI_COMMIT_BRANCH == "{branch}" && $CI_PIPELINE_SOURCE == "schedule"',
        *_credentials(target, "drift"),
        f"    - .venv/bin/fleet drift --env {target.name}",
    ]


def _credentials(target: Target, role: AccessRole) -> list[str]:
    """The time of a job, a role by its token, and the beginning of the script.

    A token lasts as long as its job may take, so SDKs take the role on again each hour. Source: GitLab's
    ci/secrets/id_token_authentication, `exp`.
    """
    return [
        f"  timeout: {JOB_MINUTES[role]} minutes",
        "  id_tokens:",
        "    FLEET_TOKEN:",
        f"      aud: {target.audience}",
        "  variables:",
        f"    AWS_ROLE_ARN: {target.role(role)}",
        "    AWS_WEB_IDENTITY_TOKEN_FILE: $CI_PROJECT_DIR/.fleet-token",
        "  script:",
        '    - (umask 077 && printf %s "$FLEET_TOKEN" > "$AWS_WEB_IDENTITY_TOKEN_FILE")',
    ]
