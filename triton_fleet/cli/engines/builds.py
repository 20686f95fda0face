"""`fleet engines build` and `ls`: build engines without a publish, and list those in the bucket."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Endpoints, Env, Profile, TableFormat
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_fleet, current_project
from triton_fleet.cli.output import end_like_ctrl_c, say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.core.formats import count_of
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import FindingsError
from triton_fleet.printers.console import OutputConsole, print_rows
from triton_fleet.printers.lines import print_json
from triton_fleet.store.progress import progress_on, shown_builder, shown_size

if TYPE_CHECKING:
    from triton_fleet.store.engines.inventory import HeldEngine

HEADINGS = ("key", "model", "GPU", "TensorRT", "size", "built (UTC)", "needed by")
OPTIONAL_HEADINGS = ("TensorRT", "built (UTC)")
"""What a narrow terminal does not show."""


def build(env: Env, endpoints: Endpoints = None, profile: Profile = None) -> None:
    """Build the engines that the bucket lacks.

    Builds what the locks name and publishes nothing.
    """
    from triton_fleet.store.builds.run import PACE
    from triton_fleet.store.engines.ensure import ensure_engines
    from triton_fleet.store.engines.request import all_engines

    end_like_ctrl_c()
    project = chosen_project(current_fleet(), env, endpoints)
    fleet = resolve_project(project)
    engines = all_engines(fleet.endpoints)
    if not engines:
        say(f"{env}: no engines in {', '.join(project.endpoints) or 'model_specs/, which has no specs'}")
        return
    access, progress = connect(project, profile), progress_on(OutputConsole())
    with aws_errors_as_findings(fleet.deployment):
        result = ensure_engines(access.client("s3"), project, engines, progress, access.engine_clients, PACE)
    if result.findings:
        raise FindingsError(list(result.findings))
    present_count = len(engines) - len(result.new_keys)
    also = f"; {present_count} already present" if present_count else ""
    by = shown_builder(env)
    say(
        f"built {count_of(len(result.new_keys), 'engine')}{by}{also}"
        if result.new_keys
        else f"{count_of(present_count, 'engine')} already present"
    )


def ls(
    env: Env,
    profile: Profile = None,
    format: Annotated[TableFormat, typer.Option("--format", help="A table or JSON.")] = TableFormat.TABLE,
) -> None:
    """List the engines in the bucket and the locks that need them."""
    from triton_fleet.store.engines.inventory import held_engines

    project = current_project(env)
    access, deployment = connect(project, profile), project.deployment
    with aws_errors_as_findings(deployment):
        engines = held_engines(access.client("s3"), deployment.bucket, project.locks)
    if format is TableFormat.JSON:
        print_json([asdict(engine) for engine in engines])
    elif engines:
        print_rows(HEADINGS, OPTIONAL_HEADINGS, map(_row, engines))
    else:
        say(f"s3://{deployment.bucket} has no engines")


def _row(engine: HeldEngine) -> tuple[str, ...]:
    # The endpoints, with the number of their models if several use the engine: copies share one.
    models = Counter(name.partition("/")[0] for name in engine.needed_by)
    users = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in models.items())
    return (
        engine.key.removeprefix("sha256:")[:12],
        engine.model,
        f"{engine.gpu} ({engine.compute_capability})",
        engine.tensorrt,
        shown_size(engine.size),
        engine.built[:16].replace("T", " "),
        users or "no lock",
    )
