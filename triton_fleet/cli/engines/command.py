"""`fleet engines`: the TensorRT engines of endpoints: what they are built from, how and where."""

from __future__ import annotations

from typing import Annotated

import typer

from triton_fleet.builds.engines.endpoint_engines import planned_engines
from triton_fleet.cli.arguments import Endpoint, Endpoints, Env, OutputFormat
from triton_fleet.cli.current_fleet import current_fleet, current_project
from triton_fleet.cli.engines.builds import build, ls
from triton_fleet.cli.engines.lines import engine_document, print_explanation, print_plan
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.printers.lines import print_json
from triton_fleet.project.project import Project
from triton_fleet.spec.problems import did_you_mean

app = typer.Typer(
    help="Plan, build and explain TensorRT engines.",
    no_args_is_help=True,
)


for command in (build, ls):
    app.command()(command)


@app.command()
def plan(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """Show each engine's key, builder and trtexec command line."""
    is_json = format is OutputFormat.JSON
    project = chosen_project(current_fleet(), env, endpoints, may_be_empty=is_json)
    planned = [
        (decided, planned_engine)
        for decided in all_of(project.endpoints, lambda name: _endpoint_context(project, name))
        for planned_engine in planned_engines(decided)
    ]
    if is_json:
        print_json([engine_document(*each) for each in planned])
        return
    for decided, each in planned:
        print_plan(decided, each)
    if not planned:
        say(f"{env}: {_no_engines(project)}")


@app.command()
def explain(
    endpoint: Endpoint,
    model: Annotated[str, typer.Argument(help="The name of the model in the repository.")],
    env: Env,
) -> None:
    """Explain an engine's trtexec arguments and its key."""
    project = current_project(env, endpoint)
    decided = _endpoint_context(project, endpoint)
    found = [planned_engine for planned_engine in planned_engines(decided) if planned_engine.model == model]
    if not found:
        known = [planned_engine.model for planned_engine in planned_engines(decided)]
        message = f"{endpoint} has no engine for model {model!r} that can be built in {env}"
        hint = did_you_mean(model, known) if known else f"run `fleet check --env {env} {endpoint}`"
        raise FindingsError([Finding(code="FL398", message=message, hint=hint)])
    for each in found:
        print_explanation(decided, each)


def _no_engines(project: Project) -> str:
    """The reason why no engine is shown."""
    env, names = project.environment.environment, project.endpoints
    unplanned = [name for name in names if any(model.engines for model in project.load(name).spec.models)]
    if unplanned:
        return (
            f"the engines of {', '.join(unplanned)} cannot be built: run `fleet check --env {env}` to see why"
        )
    return f"no engines in {', '.join(names) or 'model_specs/, which has no specs'}"


def _endpoint_context(project: Project, name: str) -> EndpointContext:
    decided, _ = locked_context(project, project.load(name))
    return decided
