"""`fleet publish`: uploads the locked archives to the artifact bucket; --prune removes what is unused."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.aws.access import Access
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Endpoints, Env, Profile, Yes
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.images.builds import former_lines
from triton_fleet.cli.output import ask_consent, end_like_ctrl_c, say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.core.formats import count_of
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.human import show_findings
from triton_fleet.store.images.record import former_repositories
from triton_fleet.store.progress import progress_on, shown_builder, shown_size
from triton_fleet.store.prune.plan import Plan
from triton_fleet.store.prune.prune import GRACE, Prune
from triton_fleet.store.publish.publish import PublishResult
from triton_fleet.store.publish.publish import publish as publish_archives

KEEP = 10
NONCURRENT_DAYS = 90
"""How long the bucket keeps deleted objects, set in constructs/triton_endpoints/foundation.py."""
HOURS = int(GRACE.total_seconds()) // 3600


def publish(
    env: Env,
    endpoints: Endpoints = None,
    profile: Profile = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune", help="Also delete objects and images that no Model, lock or recent release uses."
        ),
    ] = False,
    keep: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help=f"With --prune: how many recent releases of each endpoint to keep. Default: {KEEP}.",
        ),
    ] = None,
    yes: Yes = False,
) -> None:
    """Upload the archives that the content store lacks.

    Builds missing images and TensorRT engines first, then copies the archives to the prefixes of their
    endpoints.
    """
    if keep is not None and not prune:
        raise typer.BadParameter("requires --prune", param_hint="--keep")
    end_like_ctrl_c()
    project = chosen_project(current_fleet(), env, endpoints, may_be_empty=prune)
    fleet = resolve_project(project)
    access = connect(project, profile)
    progress = progress_on(OutputConsole())
    s3, builders = access.client("s3"), access.engine_clients
    result = publish_archives(
        s3, project, fleet.endpoints, progress, builders, ecr=lambda: access.client("ecr")
    )
    if result.warnings:
        show_findings(result.warnings)
    for note in result.images.notes(env):
        say(note)
    if result.engines:
        say(f"engines: built {result.engines}{shown_builder(env)}")
    say(_summary(result))
    if prune:
        with aws_errors_as_findings(fleet.deployment):
            _prune(access, project.root, KEEP if keep is None else keep, yes=yes)


def _summary(result: PublishResult) -> str:
    parts = [
        f"uploaded {result.uploads} ({shown_size(result.bytes)})" if result.uploads else "",
        f"copied {result.copies} to the endpoints" if result.copies else "",
        f"{result.present} already present" if result.present else "",
    ]
    return f"archives: {', '.join(part for part in parts if part) or 'none needed'}"


def _prune(access: Access, root: Path, keep: int, *, yes: bool) -> None:
    bucket = access.deployment.bucket
    clients = access.client("s3"), access.client("sagemaker"), access.client("ecr")
    work = Prune(*clients, root, access.deployment, keep)
    for line in former_lines(former_repositories(access.client("s3"), access.deployment)):
        say(line)
    plan = work.plan()
    _show(plan, bucket)
    if not (plan.units or plan.uploads):
        return
    if not ask_consent("Remove them?", yes=yes):
        say("nothing was removed")
        return
    objects = work.remove(plan)
    uploads = f", {len(objects.uploads)} uploads aborted" if objects.uploads else ""
    images = f", {count_of(len(objects.images), 'image')}" if objects.images else ""
    say(f"removed {count_of(len(objects.objects), 'object')}, {shown_size(objects.size)}{images}{uploads}")


def _show(plan: Plan, bucket: str) -> None:
    for unit in plan.units:
        if unit.image is not None:
            records = f", with its record, {count_of(len(unit.objects), 'object')}" if unit.objects else ""
            say(f"  {unit.name}: an image of {shown_size(unit.image.size)}{records}")
            continue
        count = "" if len(unit.objects) == 1 else f", {count_of(len(unit.objects), 'object')}"
        say(f"  {unit.name}: {shown_size(unit.size)}{count}")
    for upload in plan.uploads:
        say(f"  {upload.key}: an incomplete upload")
    if plan.objects or plan.uploads:
        say(f"unused: {count_of(len(plan.objects), 'object')} in s3://{bucket}, {shown_size(plan.size)}")
    elif not plan.images:
        say(f"nothing to remove from s3://{bucket}")
    if plan.images:
        size = shown_size(sum(image.size for image in plan.images))
        images = f"{count_of(len(plan.images), 'image')} in {plan.images[0].repository}"
        say(f"unused: {images}, {size} with the layers that images share")
    if young := _too_young(plan):
        say(f"kept for now: {young}, unused but younger than {HOURS} hours")
    if plan.objects:
        say(f"the bucket is versioned: deleted objects can be restored for {NONCURRENT_DAYS} days")
    if plan.images:
        say("images cannot be restored: an image that is built again has another digest")


def _too_young(plan: Plan) -> str:
    objects = count_of(plan.too_young, "object") if plan.too_young else ""
    images = count_of(plan.too_young_images, "image") if plan.too_young_images else ""
    return " and ".join(part for part in (objects, images) if part)
