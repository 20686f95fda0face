"""Options that describe the endpoint for which a model repository is checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from triton_fleet.catalog.instances import instance_types
from triton_fleet.check.repositories import (
    RepositoryTarget,
    is_repository,
    leads_nowhere,
    missing_path_finding,
    named_findings,
)
from triton_fleet.check.run import all_findings, with_line
from triton_fleet.cli.arguments import Today, policy_day
from triton_fleet.cli.current_fleet import current_fleet, nearest_fleet
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import print_notes, promotion_selection
from triton_fleet.exits import INPUT_IS_WRONG
from triton_fleet.findings import MAX_NAMES, Finding, FindingsError, Severity, collect_findings
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.printers.lines import print_error
from triton_fleet.product.distributions import LOCAL
from triton_fleet.product.extras import require_extra
from triton_fleet.project.project import Fleet, Project
from triton_fleet.rules.names import name_of
from triton_fleet.selection.selector import Selector
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import SPECS
from triton_fleet.store.promote.template_digest import template_changes

if TYPE_CHECKING:
    from triton_fleet.changes.pending_promotion import PendingPromotion

RELEASE = re.compile(r"[0-9]{2}\.(0[1-9]|1[0-2])")

ModeOf: TypeAlias = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help=f"For repositories: {', '.join(Mode)}. Default: single.",
    ),
]
Release: TypeAlias = Annotated[
    str | None,
    typer.Option("--triton", metavar="REL", help="For repositories: the Triton release, such as 25.04."),
]
Instance: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--instance", metavar="INSTANCE", help="For repositories: the instance type, such as ml.g5.xlarge."
    ),
]
DefaultModel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--default-model",
        metavar="NAME",
        help="For repositories: the model that a single endpoint serves by default.",
    ),
]


def asked_for(
    mode: Mode | None, release: str | None, instance: str | None, default_model: str | None
) -> RepositoryTarget:
    """The options as one target.

    Raises:
        typer.BadParameter: a release or type is unknown, or the options contradict each other.
    """
    if release is not None and not RELEASE.fullmatch(release):
        raise typer.BadParameter(
            f"{release!r} is not a Triton release; write one such as 25.04", param_hint="--triton"
        )
    if instance is not None and instance not in instance_types():
        hint = did_you_mean(instance, list(instance_types()))
        raise typer.BadParameter(
            f"{instance!r} is not a known instance type; {hint}", param_hint="--instance"
        )
    if mode not in (None, Mode.SINGLE) and default_model is not None:
        raise typer.BadParameter(f"mode {mode} loads no default model", param_hint="--default-model")
    return RepositoryTarget(
        mode=mode or Mode.SINGLE, release=release, instance=instance, default_model=default_model
    )


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Endpoint names, globs, conditions, changed:REF, or files, such as specs: see"
            " `fleet docs check`. Default: all. Or model repositories: .pbtxt files, folders, archives.",
        ),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            help="Environment name (a file in environments/ without .yaml). Not needed for repositories.",
        ),
    ] = None,
    mode: ModeOf = None,
    triton: Release = None,
    instance: Instance = None,
    default_model: DefaultModel = None,
    run: Annotated[
        bool, typer.Option("--run", help="Also load the repositories in this machine's Triton.")
    ] = False,
    format: Annotated[
        Format, typer.Option("--format", help="Text, JSON, SARIF for code scanning, or GitHub annotations.")
    ] = Format.HUMAN,
    locked: Annotated[
        bool,
        typer.Option("--locked", help="Trust the locks: do not compare them with the repositories."),
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    today: Today = None,
) -> None:
    """Check endpoints or model repositories; nothing is changed.

    Endpoints are checked for an environment, with their locks; a spec outside model_specs/ is checked without
    a lock. For an environment with `promoted_from`, also shows what waits for a promotion to it. Exit code 1:
    there are errors or, with --strict, warnings.
    """
    target = asked_for(mode, triton, instance, default_model)
    for_repositories = run or any(option is not None for option in (mode, triton, instance, default_model))
    fleet = None if env is None or for_repositories else nearest_fleet()
    # It selects endpoints by files that could also be checked without a fleet.
    selector = Selector(fleet, env, drafts=True) if fleet and env else None
    repositories, nowhere, specs = _sort_arguments(paths or (), env, selector)
    if run and not repositories:
        raise typer.BadParameter("pass a model repository: a folder or an archive", param_hint="--run")
    if not (repositories or nowhere) and for_repositories:
        raise typer.BadParameter(
            "only for model repositories: a spec sets its own mode, release and instance",
            param_hint="--mode, --triton, --instance, --default-model",
        )
    is_of_specs = bool(specs) or not (repositories or nowhere)
    if today is not None and not is_of_specs:
        raise typer.BadParameter(
            "only for endpoints: policies do not apply to model repositories", param_hint="--today"
        )
    root, subjects = Path.cwd(), [str(repository) for repository in repositories]
    promotions: list[PendingPromotion] = []
    findings = [*map(missing_path_finding, nowhere), *named_findings(repositories, target)]
    if run:
        require_extra(LOCAL)
        from triton_fleet.cli.try_load import run_findings  # slow imports that only --run needs

        findings += run_findings(repositories, target, quiet=format is not Format.HUMAN)
    if is_of_specs:
        if env is None:
            mistake_of_specs = f"{specs[0]!r} is not a model repository; " if specs else ""
            message = f"{mistake_of_specs}pass the name of an environment to check endpoints"
            raise typer.BadParameter(message, param_hint="--env")
        fleet = fleet or current_fleet()
        root = fleet.root
        selector_of_fleet = selector or Selector(fleet, env, drafts=True)
        of_specs, names, promotions = _of_specs(
            fleet, env, selector_of_fleet, specs, locked=locked, today=policy_day(today)
        )
        findings, subjects = [*findings, *of_specs], [*subjects, *names]
        if promotions and format is Format.HUMAN:
            from triton_fleet.changes.promotion_lines import pending_texts  # slow imports, as below

            for text in pending_texts(promotions):
                say(text)
    findings = sorted(map(with_line, dict.fromkeys(findings)), key=lambda finding: finding.sort_key)
    if not findings and format is Format.HUMAN:
        about = f"{env}: " if env else ""
        if subjects:
            say(f"{about}no findings in {_name_list(subjects)}")
        elif not promotions:
            say(f"{about}no endpoint was checked")
        return
    print_findings(findings, format, root)
    if format is Format.HUMAN:
        print_error(f"run `fleet rules {name_of(findings[0].code)}` for an explanation of the first")
    if any(strict or _is_error(finding) for finding in findings):
        sys.exit(INPUT_IS_WRONG)


def _is_error(finding: Finding) -> bool:
    """Whether a finding is one that a deploy would be refused for."""
    return finding.severity is Severity.ERROR


def _sort_arguments(
    paths: Sequence[str], env: str | None, selector: Selector | None
) -> tuple[list[Path], list[str], list[str]]:
    """Model repositories; paths that do not exist, if there is no --env; everything else.

    With --env, an endpoint's name and a path that is part of an endpoint stand for the endpoint.
    """
    repository_paths = [path for path in paths if path and is_repository(Path(path))]
    parts = [path_text for path_text in repository_paths if selector and selector.concerns(path_text)]
    nowhere = [path for path in paths if env is None and leads_nowhere(Path(path))]
    repositories = [Path(path_text) for path_text in repository_paths if path_text not in parts]
    return (
        repositories,
        nowhere,
        [path for path in paths if path in parts or path not in {*repository_paths, *nowhere}],
    )


def _of_specs(
    fleet: Fleet, env: str, selector: Selector, paths: Sequence[str], *, locked: bool, today: date
) -> tuple[list[Finding], list[str], list[PendingPromotion]]:
    """The findings of the specs, which were checked, and what waits for a promotion to them."""
    promotions: list[PendingPromotion] = []
    try:
        names = set[str]()
        settings = fleet.environment.readable(env) if paths and env in fleet.environments else None
        if settings and settings.promoted_from:
            selection = promotion_selection(fleet.open(env), paths, selector)
            endpoint_selection, names = selection.own, {*selection.promotable.endpoints}
        else:
            endpoint_selection = selector.select(paths)
        project = fleet.open(env, endpoint_selection.endpoints, endpoint_selection.draft_names())
        project = replace(project, endpoints=tuple(endpoint_selection.endpoints))
        findings = all_findings(project, endpoint_selection.drafts, trusts_locks=locked, today=today)
        findings += [] if any(map(_is_error, findings)) else template_changes(project)
        if project.is_promoted:
            # slow imports that only such an environment needs
            from triton_fleet.check.pending_promotions import pending_promotions, promotion_warnings

            with collect_findings(findings):
                promotions = pending_promotions(project, today, names if paths else None)
                findings += promotion_warnings(promotions, findings)
        if paths:
            print_notes(endpoint_selection, env, waits=bool(promotions))
    except FindingsError as error:
        return error.findings, [], []
    subjects = [*project.endpoints, *(file.name for file in endpoint_selection.drafts)]
    return findings, subjects if subjects or paths else [_no_specs(project)], promotions


def _no_specs(project: Project) -> str:
    """The folder of specs, with the reason why an environment has no endpoint."""
    reasons = [finding.message for finding in project.absent.values()]
    if not reasons:
        return f"{SPECS}/, which has no specs"
    name = project.environment.environment
    more = f"; {len(reasons) - 1} more" if len(reasons) > 1 else ""
    return f"{SPECS}/, of whose specs {name} has none: {reasons[0]}{more}"


def _name_list(subjects: Sequence[str]) -> str:
    """The first of what was checked, and how many more."""
    more = f" and {len(subjects) - MAX_NAMES} more" if len(subjects) > MAX_NAMES else ""
    return ", ".join(subjects[:MAX_NAMES]) + more
