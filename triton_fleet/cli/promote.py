"""`fleet promote`: another environment will run the archives and images that were tested in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from triton_fleet.check.pending_promotions import require_promotable
from triton_fleet.cli.arguments import Today, policy_day
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.core.formats import count_of
from triton_fleet.printers.console import OutputConsole
from triton_fleet.project.project import Project
from triton_fleet.spec.environment import LOCAL
from triton_fleet.store.progress import progress_on, shown_size
from triton_fleet.store.promote.lock import require_two
from triton_fleet.store.promote.promote import PromotionSide
from triton_fleet.store.promote.promote import promote as copy_and_lock
from triton_fleet.store.promote.spec import adopted_specs, target_for
from triton_fleet.store.promote.template_digest import template_digests


def promote(
    target: Annotated[
        str,
        typer.Option("--to", metavar="ENV", help="The environment to promote to."),
    ],
    endpoints: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ENDPOINT",
            help="The endpoints to promote; '*' for all. See `fleet docs check`.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="ENV",
            help="The environment to promote from. Default: `promoted_from` of the target.",
        ),
    ] = None,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt",
            help="Only write the specs that are missing beside existing locks; do not call AWS.",
        ),
    ] = False,
    from_profile: Annotated[
        str | None,
        typer.Option(metavar="PROFILE", help="AWS profile for the source account."),
    ] = None,
    to_profile: Annotated[
        str | None,
        typer.Option(metavar="PROFILE", help="AWS profile for the target account."),
    ] = None,
    today: Today = None,
) -> None:
    """Copy what one environment runs to another, for review.

    If rules or policies of the target refuse it, nothing is copied. Copies archives, engines and images by
    digest. Writes the locks, and also the specs if the target has `promoted_from`, as one change to review.
    """
    target_project = current_project(target)
    if adopt:
        _adopt(target_project, endpoints or ())
        return
    source = source or target_project.environment.promoted_from
    if source is None:
        raise typer.BadParameter(
            f"{target} has no `promoted_from`: name the environment to promote from", param_hint="--from"
        )
    if not endpoints:
        raise typer.BadParameter("name the endpoints, or '*' for all", param_hint="ENDPOINT")
    source_project = chosen_project(target_project.fleet, source, endpoints)
    promotion_target = target_for(target_project, source_project.endpoints, endpoints)
    for name in (
        endpoint for endpoint in source_project.endpoints if endpoint not in promotion_target.endpoints
    ):
        say(f"left out: {promotion_target.absent[name].message}")
    source_project = replace(source_project, endpoints=promotion_target.endpoints)
    require_two(source_project, promotion_target, LOCAL)
    require_promotable(source_project, promotion_target, policy_day(today))
    origin = _side(source_project, from_profile)
    result = copy_and_lock(
        origin, _side(promotion_target, to_profile), progress_on(OutputConsole()), template_digests
    )
    say(_summary("archive", result.copies, result.bytes, result.present))
    if result.images or result.images_present:
        say(_summary("image", result.images, result.image_bytes, result.images_present))
    for name, changes in result.differences.items():
        for change in changes:
            say(f"{name}: {target} differs from {source} on purpose: {change}")
    for file in result.files:
        say(f"wrote {file.relative_to(source_project.root)}")
    deploy = f"run `fleet deploy --env {target} {' '.join(source_project.endpoints)}`"
    if result.files:
        say(f"review and commit {'it' if len(result.files) == 1 else 'them'}, then {deploy}")
    else:
        say(f"the lock{' is' if len(source_project.endpoints) == 1 else 's are'} up to date: {deploy}")


def _side(project: Project, profile: str | None) -> PromotionSide:
    client = connect(project, profile).client
    return PromotionSide(project=project, s3=client("s3"), ecr=client("ecr"), sagemaker=client("sagemaker"))


def _adopt(project: Project, endpoints: Sequence[str]) -> None:
    """Write the specs that locks lack, of the fleet's own specs."""
    files = adopted_specs(project, endpoints)
    for file in files:
        say(f"wrote {file.relative_to(project.root)}")
    if not files:
        say(f"every lock of {project.environment.environment} has its spec")


def _summary(what: str, copy_count: int, size: int, present_count: int) -> str:
    if not copy_count:
        return f"copied nothing: {count_of(present_count, what)} already present"
    also = f"; {present_count} already present" if present_count else ""
    return f"copied {count_of(copy_count, what)}, {shown_size(size)}{also}"
