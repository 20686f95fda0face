"""Workflows of GitHub Actions for a fleet: check, deploy, promote, and look for drift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from triton_fleet.endpoint.environment import environment_warnings
from triton_fleet.findings import Finding
from triton_fleet.new.ci.targets import Target, fill, indent, prefix_of, targets_of
from triton_fleet.project.reader import read_source
from triton_fleet.spec.trusts import JOB_MINUTES, AccessRole

FOLDER = ".github/workflows"
HEAD = "# Written by `fleet ci github` from environments/; change it there and run the command again.\n"
CHECKOUT = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"
PYTHON = "actions/setup-python@0b93645e9fea7318ecaed2b359559ac225c90a2b # v5.3.0"
UPLOAD = "actions/upload-artifact@b4b15b8c7c6ac21ea08fcf65892d2ee8f75cf882 # v4.4.3"
DOWNLOAD = "actions/download-artifact@fa0a91b85d4f404e444e00e005971372dc801d16 # v4.1.8"
APP = "actions/create-github-app-token@67018539274d69449ef7c02e8e71183d1719ab42 # v2.1.4"
AWS = "aws-actions/configure-aws-credentials@00943011d9042930efac3dcd3a170e4273319bc8 # v5.1.0"


def workflows(root: Path, top: Path, *, locked: bool) -> Mapping[str, str]:
    """The workflows by their path from the top of the Git repository.

    Args:
        root: The fleet.
        top: The folder of the Git repository.
        locked: Whether weights are not in CI, so that no command reads repositories.

    Raises:
        FindingsError: an environment cannot be read.
        CannotRunError: no workflow can name the fleet's folder.
    """
    targets, prefix = targets_of(root), prefix_of(root, top)
    texts = {"fleet-check": _check(targets, prefix, locked=locked)}
    for target in targets:
        if target.settings.access.github:
            texts[f"fleet-deploy-{target.name}"] = _deploy(target, prefix, locked=locked)
        if source := promotion_source(target, targets):
            texts[f"fleet-promote-{target.name}"] = _promote(target, source, prefix)
    if targets_with_access := [target for target in targets if target.settings.access.github]:
        texts["fleet-drift"] = _drift(targets_with_access, prefix)
    return {f"{FOLDER}/{name}.yml": HEAD + text for name, text in texts.items()}


def promotion_source(target: Target, targets: Sequence[Target]) -> Target | None:
    """The environment that a workflow may promote from: its `promotes_to` has the target's."""
    for candidate in targets:
        access = candidate.settings.access.github
        is_trusted = access is not None and target.github_environment in access.promotes_to
        if candidate.name == target.source and is_trusted and target.settings.access.github:
            return candidate
    return None


def omissions(root: Path) -> Iterator[str]:
    """The environments without a workflow, and the key that gives them one.

    Raises:
        FindingsError: an environment cannot be read.
    """
    targets = targets_of(root)
    for target in targets:
        if target.settings.access.github is None:
            yield f"no workflow deploys {target.name}: environments/{target.name}.yaml has no `access.github`"
        elif target.source and promotion_source(target, targets) is None:
            yield (
                f"no workflow promotes to {target.name}: `access.github.promotes_to` in"
                f" environments/{target.source}.yaml lacks {target.github_environment!r}"
            )


def doubts(root: Path) -> list[Finding]:
    """Warnings about the environments whose jobs the workflows run: roles that may not trust them.

    Raises:
        FindingsError: an environment cannot be read.
    """
    return [
        environment_warning
        for target in targets_of(root)
        for environment_warning in environment_warnings(
            target.settings, read_source(root / target.settings.file)
        )
    ]


def _check(targets: Sequence[Target], prefix: str, *, locked: bool) -> str:
    checks = [
        line
        for target in targets
        for line in (
            f"- run: .venv/bin/fleet check --env {target.name} --format github{_option(target, locked)}",
            "  if: ${{ !cancelled() && steps.setup.outcome == 'success' }}",
        )
    ]
    return fill(
        _template("check"),
        **_common(prefix),
        SETUP=_setup(any(not target.source for target in targets) and not locked),
        LOCKED=" --locked" if locked else "",
        INNER=f"/{prefix.rstrip('/')}" if prefix else "",
        CHECKS=indent(checks, 6) + "\n" if checks else "",
        UPLOAD=UPLOAD,
        DOWNLOAD=DOWNLOAD,
    )


def _deploy(target: Target, prefix: str, *, locked: bool) -> str:
    paths = [f"{prefix}locks/{target.name}/**", f"{prefix}environments/{target.name}.yaml"]
    return fill(
        _template("deploy"),
        **_common(prefix),
        **_of_target(target),
        PATHS=indent(["paths:", *(f'  - "{path}"' for path in paths)], 4) + "\n" if target.source else "",
        SETUP=_setup(not target.source and not locked),
        CREDENTIALS=_credentials(target, "deploy", JOB_MINUTES["deploy"]),
        MINUTES=str(JOB_MINUTES["deploy"]),
        LOCKED=_option(target, locked),
    )


def _promote(target: Target, source: Target, prefix: str) -> str:
    minutes = JOB_MINUTES["promotion"]
    return fill(
        _template("promote"),
        **_common(prefix),
        **_of_target(target),
        SOURCE=source.name,
        MINUTES=str(minutes),
        TESTED_CREDENTIALS=_credentials(source, "promotion", minutes),
        CREDENTIALS=_credentials(target, "deploy", minutes, "unset-current-credentials: true"),
        APP=APP,
    )


def _drift(targets: Sequence[Target], prefix: str) -> str:
    jobs = [
        fill(
            _template("drift-job"),
            **_common(prefix),
            **_of_target(target),
            CREDENTIALS=_credentials(target, "drift", JOB_MINUTES["drift"]),
            MINUTES=str(JOB_MINUTES["drift"]),
            UPLOAD=UPLOAD,
        )
        for target in targets
    ]
    needs = ", ".join(f"drift-{target.name}" for target in targets)
    return fill(
        _template("drift"),
        **_common(prefix),
        JOBS="".join(jobs).rstrip("\n") + "\n",
        NEEDS=needs,
        COMPARED=" && ".join(f"needs.drift-{target.name}.result == 'success'" for target in targets),
        DOWNLOAD=DOWNLOAD,
    )


def _common(prefix: str) -> dict[str, str]:
    folder = f'defaults:\n  run:\n    working-directory: "{prefix.rstrip("/")}"\n'
    return {
        "DEFAULTS": folder if prefix else "",
        "CHECKOUT_ALL": _checkout("  fetch-depth: 0"),
        "CHECKOUT": _checkout(),
    }


def _of_target(target: Target) -> dict[str, str]:
    github = target.settings.access.github
    return {
        "GITHUB_ENVIRONMENT": target.github_environment,
        "ENVIRONMENT": target.name,
        "BRANCH": github.branch if github else "main",
    }


def _checkout(*further: str) -> str:
    lines = [
        f"- uses: {CHECKOUT}",
        "  with:",
        "    persist-credentials: false",
        *(f"  {line}" for line in further),
        f"- uses: {PYTHON}",
        "  with:",
        '    python-version: "3.12"',
    ]
    return indent(lines, 6)


def _credentials(target: Target, role: AccessRole, minutes: int, *further: str) -> str:
    """A role for the length of a job; without a duration, the action asks for an hour."""
    default = target.audience == "sts.amazonaws.com"
    lines = [
        f"- uses: {AWS}",
        "  with:",
        f"    role-to-assume: {target.role(role)}",
        f"    aws-region: {target.settings.region}",
        f"    role-duration-seconds: {minutes * 60}",
        *([] if default else [f"    audience: {target.audience}"]),
        *(f"    {line}" for line in further),
    ]
    return indent(lines, 6)


def _setup(has_weights: bool) -> str:
    """`make weights` sets up too; without weights nothing has to make them."""
    return "make weights" if has_weights else "make setup"


def _option(target: Target, locked: bool) -> str:
    """`--locked` for a promoted endpoint: repositories belong to the default branch."""
    return " --locked" if locked or target.source else ""


def _template(name: str) -> str:
    return (files("triton_fleet.new.ci") / "templates" / f"github-{name}.yml").read_text("utf-8")
