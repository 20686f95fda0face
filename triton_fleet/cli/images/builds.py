"""`fleet images build` and `ls`: build images, and list those of an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Endpoints, Env, Profile, TableFormat
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_fleet, current_project
from triton_fleet.cli.output import end_like_ctrl_c, say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.findings import FindingsError
from triton_fleet.printers.console import OutputConsole, print_rows
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.lines import print_json
from triton_fleet.store.images.source import image_sources, wanted_images
from triton_fleet.store.progress import progress_on, shown_size

if TYPE_CHECKING:
    from triton_fleet.store.images.record import HeldImage

HEADINGS = ("key", "digest", "Triton", "CUDA", "TensorRT", "size", "built (UTC)", "needed by")
OPTIONAL_HEADINGS = ("CUDA", "TensorRT")
"""What a narrow terminal does not show."""


def build(env: Env, endpoints: Endpoints = None, profile: Profile = None) -> None:
    """Build and push the images that the repository lacks.

    Deploys and publishes do the same. `fleet lock` then records digests and facts.
    """
    from triton_fleet.store.builds.run import PACE
    from triton_fleet.store.images.builds import build_images

    end_like_ctrl_c()
    project = chosen_project(current_fleet(), env, endpoints)
    sources = image_sources(project)
    if not sources:
        say(f"{env}: no images to build in {', '.join(project.endpoints) or 'model_specs/'}")
        return
    if warnings := [warning for source in sources for warning in source.warnings]:
        show_findings(warnings)
    deployment, progress = project.deployment, progress_on(OutputConsole())
    access = connect(project, profile)
    with aws_errors_as_findings(deployment):
        images = wanted_images(project, sources)
        result = build_images(
            access.client("s3"),
            lambda: access.client("ecr"),
            project,
            images,
            progress,
            access.engine_clients,
            PACE,
        )
    for image in images:
        if (built_image := result.results.get(image.key)) is not None:
            state = "built" if image.key in result.new_keys else "already present"
            names = ", ".join(use.endpoint for use in image.uses)
            say(f"{names}: {state}, {deployment.image_repository}@{built_image.record.digest}")
    if result.findings:
        raise FindingsError(list(result.findings))
    say(f"next: fleet lock --env {env} {' '.join(source.endpoint for source in sources)}")


def ls(
    env: Env,
    profile: Profile = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table or JSON.")] = TableFormat.TABLE,
) -> None:
    """List the built images, their contents and the locks that need them."""
    from triton_fleet.store.images.record import former_repositories, held_images

    project = current_project(env)
    access, deployment = connect(project, profile), project.deployment
    with aws_errors_as_findings(deployment):
        images = held_images(access.client("s3"), access.client("ecr"), deployment, project.locks)
        is_table = format is TableFormat.TABLE
        former = former_repositories(access.client("s3"), deployment) if is_table else {}
    if format is TableFormat.JSON:
        print_json([asdict(image) for image in images])
    elif images:
        print_rows(HEADINGS, OPTIONAL_HEADINGS, map(_row, images))
    else:
        say(f"{deployment.image_repository} has no images")
    for line in former_lines(former):
        say(line)


def former_lines(former: Mapping[str, int]) -> list[str]:
    """The rest in each repository of another `kms_key`, as two commands show it."""
    return [
        f"{count} record{'s name images' if count != 1 else ' names an image'} of the former repository"
        f" {name}, which is not pruned: delete it once no Model uses it"
        for name, count in former.items()
    ]


def _row(image: HeldImage) -> tuple[str, ...]:
    return (
        image.key.removeprefix("sha256:")[:12],
        image.digest.removeprefix("sha256:")[:12] if image.exists else "gone from the registry",
        image.triton or "unknown",
        image.cuda or "unknown",
        image.tensorrt or "unknown",
        shown_size(image.size) if image.size is not None else "unknown",
        image.built[:16].replace("T", " "),
        ", ".join(image.needed_by) or "no lock",
    )
