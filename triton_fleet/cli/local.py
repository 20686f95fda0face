"""`fleet local`: endpoints on this machine, deployed by the real CDK and served by a real Triton."""

from __future__ import annotations

import shlex
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.awsapi.emulator import client_variables
from triton_fleet.cli.arguments import Concurrency, Endpoints, FailFast
from triton_fleet.cli.aws_access import running_supervisor
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.output import end_like_ctrl_c, say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY
from triton_fleet.core.folders import project_root
from triton_fleet.core.formats import format_size
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.local.state import LocalState, Supervisor
from triton_fleet.local.status import EndpointStatus, Status, TargetModelStatus, ask_status
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.lines import print_json, print_line
from triton_fleet.product.distributions import LOCAL as EXTRA
from triton_fleet.product.extras import require_extra
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.problems import did_you_mean

app = typer.Typer(help="Run endpoints on this machine, with a real Triton.", no_args_is_help=True)

MAX_EVICTIONS = 5


class VariableFormat(StrEnum):
    """How the variables are printed."""

    SHELL = "shell"
    JSON = "json"


@app.command()
def up(
    endpoints: Endpoints = None,
    concurrency: Concurrency = DEFAULT_CONCURRENCY,
    fail_fast: FailFast = False,
) -> None:
    """Deploy endpoints to an embedded AWS and serve them.

    Run it again to update them. An endpoint that fails does not stop the others and is shown at the end.
    """
    require_extra(EXTRA)
    from triton_fleet.local.up import up as deploy

    end_like_ctrl_c()
    files = current_fleet()
    names = chosen_project(files, LOCAL, endpoints).endpoints if endpoints else ()
    fleet = deploy(files, names, OutputConsole(), concurrency=concurrency, fail_fast=fail_fast)
    _show(fleet.status, fleet.supervisor)
    say("")
    say(
        f"embedded AWS at {fleet.supervisor.url}; boto3 and the AWS CLI reach it after"
        ' eval "$(fleet local env)"; `fleet local down` stops it'
    )
    if fleet.failure is not None:
        raise fleet.failure


@app.command()
def status() -> None:
    """Show what is served, and how it differs from SageMaker."""
    supervisor = running_supervisor(project_root(Path.cwd()))
    say(f"embedded AWS at {supervisor.url}, process {supervisor.pid}")
    _show(ask_status(supervisor), supervisor)


@app.command()
def env(
    format: Annotated[
        VariableFormat, typer.Option("--format", help="Lines for a shell, or JSON.")
    ] = VariableFormat.SHELL,
) -> None:
    """Print variables for boto3 and the AWS CLI, for a shell or as JSON.

    Run `eval "$(fleet local env)"`.
    """
    supervisor = running_supervisor(project_root(Path.cwd()))
    variables = client_variables(region=supervisor.region, url=supervisor.url, keys=supervisor.keys)
    if format is VariableFormat.JSON:
        print_json(variables)
        return
    for name, value in variables.items():
        print_line(f"export {name}={shlex.quote(value)}")


@app.command()
def logs(
    name: Annotated[
        str | None,
        typer.Argument(
            help="An endpoint, ENV/ENDPOINT, cdk/ENDPOINT, aws, cdk or supervisor. Default: list the logs."
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing as the log grows.")] = False,
) -> None:
    """Print a log, or list the logs."""
    files = _state().logs()
    if name is None:
        for log in files.values():
            say(str(log))
        return
    if name not in files:
        hint = did_you_mean(name, list(files)) if files else "nothing has been started yet"
        raise FindingsError([Finding(code="FL121", message=f"log {name!r} does not exist", hint=hint)])
    command = ["tail", "-n", "+1", *(["-f"] if follow else []), str(files[name])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tail:
        for line in tail.stdout or ():
            print_line(line.decode("utf-8", "replace"))


@app.command()
def down() -> None:
    """Stop the endpoints and the embedded AWS, and delete its data."""
    from triton_fleet.local.session import stop_supervisor

    state = _state()
    supervisor = stop_supervisor(state)
    state.clean()
    say("stopped" if supervisor else "nothing was running")


def _state() -> LocalState:
    return LocalState(project_root(Path.cwd()))


def _sizes(model: TargetModelStatus) -> str:
    memory = f", {format_size(model.memory)} of memory" if model.state == "loaded" else ""
    return f"{memory}, {format_size(model.disk)} of disk"


def _place(endpoint: EndpointStatus, supervisor: Supervisor) -> str:
    """Where an endpoint is, if that is not where `local` is."""
    account = f"account {endpoint.account}, " if endpoint.account != supervisor.account else ""
    is_elsewhere = account or endpoint.region != supervisor.region
    return f" in {account}{endpoint.region}" if is_elsewhere else ""


def _show(status: Status, supervisor: Supervisor) -> None:
    if not status.endpoints:
        say("no endpoint is served")
    for endpoint in status.endpoints:
        restarts = f", restarts: {endpoint.restarts}" if endpoint.restarts else ""
        place = _place(endpoint, supervisor)
        say(
            f"{endpoint.log}: {endpoint.state}{place}{restarts}; configuration {endpoint.configuration}",
            "bold",
        )
        for model in endpoint.models:
            say(f"  {model.target}: {model.state}{_sizes(model)}")
        if endpoint.evictions:
            latest = ", ".join(reversed(endpoint.evictions[-MAX_EVICTIONS:]))
            say(f"  evicted for other models, latest first: {latest}", "dim")
        for difference in endpoint.differences:
            say(f"  unlike SageMaker: {difference}", "dim")
        for permission in endpoint.missing_permissions:
            say(f"  as on SageMaker: {permission}", "yellow")
        for problem in endpoint.problems:
            say(f"  {problem}", "yellow")
    for resource in status.skipped_resources:
        say(f"  not hosted by the embedded AWS: {resource}", "dim")
