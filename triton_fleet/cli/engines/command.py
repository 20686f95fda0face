"""How engines are printed."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from triton_fleet.builds.engines.endpoint_engines import (
    EndpointEngine,
    command_line,
    named_model,
    planned_engines,
)
from triton_fleet.builds.engines.lock import locked_engine
from triton_fleet.catalog.data_file import data_file
from triton_fleet.cli.arguments import Endpoint, Endpoints, Env, OutputFormat
from triton_fleet.cli.current_fleet import current_fleet, current_project
from triton_fleet.cli.engines.builds import build, ls
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.cli.show.spec import Line, print_lines
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.printers.console import unfolded_console
from triton_fleet.printers.lines import print_json
from triton_fleet.printers.sanitizer import visible
from triton_fleet.project.project import Project
from triton_fleet.spec.problems import did_you_mean


def engine_document(decided: EndpointContext, planned: EndpointEngine) -> dict[str, object]:
    """An engine in the output of `fleet engines plan --format json`."""
    locked = locked_engine(decided.spec, decided.locked, planned.index, planned.model)
    return {
        "endpoint": decided.spec.endpoint,
        "archive": decided.spec.models[planned.index].archive,
        "model": planned.model,
        "key": None if locked is None else planned.build(locked.onnx).key,
        "onnx": planned.engine.onnx,
        "onnx_digest": None if locked is None else locked.onnx,
        "gpu": planned.gpu,
        "compute_capability": planned.compute_capability,
        "image": planned.image,
        "arguments": planned.arguments,
        "command": command_line(planned),
        "way": planned.runner.way,
        "instance_type": planned.runner.instance_type,
        "why": planned.runner.why,
    }


def print_plan(decided: EndpointContext, planned: EndpointEngine) -> None:
    """Print an engine in a few lines."""
    console = unfolded_console()
    title = f"{decided.spec.endpoint} / {named_model(decided, planned)}"
    console.print(Text(visible(title), "bold"), soft_wrap=True)
    runner = planned.runner
    lines = [
        Line(_labelled_value("key", _key(decided, planned))),
        Line(_labelled_value("built by", f"{runner.way} ({runner.instance_type})"), runner.why),
        Line(_labelled_value("inside", planned.image)),
        Line(_labelled_value("command", command_line(planned))),
    ]
    print_lines(console, lines)


def print_explanation(decided: EndpointContext, planned: EndpointEngine) -> None:
    """Print an engine with the reason of each decision."""
    print_plan(decided, planned)
    console = unfolded_console()
    console.print(Text("\nArguments of trtexec", "bold"))
    print_lines(
        console,
        [
            Line(Text(f"  {visible(each.text)}"), "; ".join(filter(None, (each.reason, each.price))))
            for each in planned.explained
        ],
    )
    facts = data_file("tensorrt.yaml")
    console.print(
        Text(f"  from {facts['source']} ({facts['date']})", "dim"), soft_wrap=not console.is_terminal
    )
    console.print(Text("\nThe key depends on", "bold"))
    locked = locked_engine(decided.spec, decided.locked, planned.index, planned.model)
    print_lines(
        console,
        [
            Line(
                _labelled_value("the ONNX model", planned.engine.onnx),
                locked.onnx if locked else "not in the lock yet",
            ),
            Line(_labelled_value("the arguments", f"{len(planned.arguments)} above"), "in this order"),
            Line(
                _labelled_value("the GPU", f"{planned.gpu}, compute capability {planned.compute_capability}")
            ),
            Line(_labelled_value("the image", planned.image), "with the TensorRT in it"),
        ],
    )
    console.print(
        Text("  any other value means another engine; builder and names of model and file do not matter"),
        soft_wrap=not console.is_terminal,
    )


def _key(decided: EndpointContext, planned: EndpointEngine) -> str:
    locked = locked_engine(decided.spec, decided.locked, planned.index, planned.model)
    if locked is None:
        return f"not locked: run {decided.environment.lock_command(decided.spec.endpoint)}"
    return planned.build(locked.onnx).key


def _labelled_value(what: str, value: str) -> Text:
    return Text.assemble(f"  {what}: ", (visible(value), "bold"))


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
