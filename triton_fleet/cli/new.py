"""`fleet new`: writes the spec of a new endpoint, from model repositories or from another endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.arguments import policy_day
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.output import say
from triton_fleet.findings import FindingsError
from triton_fleet.new.proposal.spec import proposed_spec
from triton_fleet.new.proposal.writer import (
    new_file,
    placed_elsewhere,
    projects_with,
    spec_folder,
    spec_of,
    write_spec,
)
from triton_fleet.new.proposal.yaml_text import copied_spec
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.printers.lines import print_error
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import LOCAL

OPTIONS = "--from-repository, --from-spec"


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the new endpoint.")],
    from_repository: Annotated[
        str | None,
        typer.Option(
            "--from-repository",
            metavar="DIR",
            help="A model repository, or a folder of several: propose a spec for them.",
        ),
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help=f"With --from-repository: {', '.join(Mode)}. Default: by the number of repositories.",
        ),
    ] = None,
    from_spec: Annotated[
        str | None,
        typer.Option(
            "--from-spec", metavar="ENDPOINT", help="Copy another endpoint's spec, into its folder."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="SPEC_PROFILE",
            help="With --from-repository: a file in profiles/ without .yaml; repeatable.",
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            "--folder",
            metavar="FOLDER",
            help="With --from-repository: a folder below model_specs/, created if missing.",
        ),
    ] = None,
) -> None:
    """Write the spec of a new endpoint; no file is overwritten.

    The spec passes all rules in every environment; policies that it breaks are printed. With
    --from-repository, each proposed key has its reason as a comment.
    """
    if (from_repository is None) == (from_spec is None):
        raise typer.BadParameter("pass one of the two", param_hint=OPTIONS)
    beside_original = ": a copy is written beside the original"
    for option, value, reason in (
        ("mode", mode, ""),
        ("profile", profile, ""),
        ("folder", folder, beside_original),
    ):
        if value not in (None, []) and from_repository is None:
            raise typer.BadParameter(f"only with --from-repository{reason}", param_hint=f"--{option}")
    fleet = current_fleet()
    root = fleet.root
    beside = None if from_spec is None else spec_of(root, from_spec).parent
    file = new_file(root, name, beside or spec_folder(root, folder or ""))
    projects = projects_with(fleet, name)
    try:
        if from_repository is not None:
            text = proposed_spec(name, file, from_repository, projects, mode, profile or ())
        else:
            text = copied_spec(projects[0].draft(spec_of(root, str(from_spec))), name)
        findings = write_spec(file, text, projects, policy_day())
    except FindingsError as error:
        source_folder = None if from_repository is None else Path(from_repository)
        raise FindingsError(placed_elsewhere(error.findings, file, source_folder)) from error
    say(f"wrote {file.relative_to(root)}")
    if findings:
        print_findings(findings, Format.HUMAN, root)
        print_error("the spec breaks policies: `fleet check` and `fleet deploy` fail until you change it")
    for project in projects:
        if from_spec is not None and project.environment_source.section("overrides", from_spec).data:
            file_name = f"environments/{project.environment.environment}.yaml"
            say(f"{file_name} has overrides for {from_spec} that were not copied")
    names = [project.environment.environment for project in projects]
    say(f"next: fleet lock --env {(first := LOCAL if LOCAL in names else names[0])} {name}")
    say(f"      fleet {'local up' if first == LOCAL else f'deploy --env {first}'} {name}")
