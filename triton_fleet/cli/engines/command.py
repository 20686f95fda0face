"""How engines are printed."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from triton_fleet.builds.engines.artifacts import locked_engine
from triton_fleet.builds.engines.endpoint_engines import (
    EndpointEngine,
    command_line,
    named_model,
    planned_engines,
)
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


def engine_document(context: EndpointContext, engine: EndpointEngine) -> dict[str, object]:
    """An engine in the output of `fleet engines plan --format json`."""
    lock = locked_engine(context.spec, context.archives, engine.index, engine.model)
    return {
        "endpoint": context.spec.endpoint,
        "archive": context.spec.models[engine.index].archive,
        "model": engine.model,
        "key": None if lock is None else engine.build(lock.onnx).key,
        "onnx": engine.engine.onnx,
        "onnx_digest": None if lock is None else lock.onnx,
        "gpu": engine.gpu,
        "compute_capability": engine.compute_capability,
        "image": engine.image,
        "arguments": engine.arguments,
        "command": command_line(engine),
        "way": engine.runner.way,
        "instance_type": engine.runner.instance_type,
        "why": engine.runner.reason,
    }


def print_plan(context: EndpointContext, engine: EndpointEngine) -> None:
    """Print an engine in a few lines."""
    console = unfolded_console()
    title = f"{context.spec.endpoint} / {named_model(context, engine)}"
    console.print(Text(visible(title), "bold"), soft_wrap=True)
    runner = engine.runner
    lines = [
        Line(_labelled_value("key", _key(context, engine))),
        Line(_labelled_value("built by", f"{runner.way} ({runner.instance_type})"), runner.reason),
        Line(_labelled_value("inside", engine.image)),
        Line(_labelled_value("command", command_line(engine))),
    ]
    print_lines(console, lines)


def print_explanation(context: EndpointContext, engine: EndpointEngine) -> None:
    """Print an engine with the reason of each decision."""
    print_plan(context, engine)
    console = unfolded_console()
    console.print(Text("\nArguments of trtexec", "bold"))
    print_lines(
        console,
        [
            Line(Text(f"  {visible(part.text)}"), "; ".join(filter(None, (part.reason, part.price))))
            for part in engine.detailed_arguments
        ],
    )
    facts = data_file("tensorrt.yaml")
    console.print(
        Text(f"  from {facts['source']} ({facts['date']})", "dim"), soft_wrap=not console.is_terminal
    )
    console.print(Text("\nThe key depends on", "bold"))
    lock = locked_engine(context.spec, context.archives, engine.index, engine.model)
    print_lines(
        console,
        [
            Line(
                _labelled_value("the ONNX model", engine.engine.onnx),
                lock.onnx if lock else "not in the lock yet",
            ),
            Line(_labelled_value("the arguments", f"{len(engine.arguments)} above"), "in this order"),
            Line(_labelled_value("the GPU", f"{engine.gpu}, compute capability {engine.compute_capability}")),
            Line(_labelled_value("the image", engine.image), "with the TensorRT in it"),
        ],
    )
    console.print(
        Text("  any other value means another engine; builder and names of model and file do not matter"),
        soft_wrap=not console.is_terminal,
    )


def _key(context: EndpointContext, engine: EndpointEngine) -> str:
    lock = locked_engine(context.spec, context.archives, engine.index, engine.model)
    if lock is None:
        return f"not locked: run {context.environment.lock_command(context.spec.endpoint)}"
    return engine.build(lock.onnx).key


def _labelled_value(label: str, value: str) -> Text:
    return Text.assemble(f"  {label}: ", (visible(value), "bold"))


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
    plans = [
        (context, planned_engine)
        for context in all_of(project.endpoints, lambda name: _endpoint_context(project, name))
        for planned_engine in planned_engines(context)
    ]
    if is_json:
        print_json([engine_document(*pair) for pair in plans])
        return
    for context, pair in plans:
        print_plan(context, pair)
    if not plans:
        say(f"{env}: {_no_engines(project)}")


@app.command()
def explain(
    endpoint: Endpoint,
    model: Annotated[str, typer.Argument(help="The name of the model in the repository.")],
    env: Env,
) -> None:
    """Explain an engine's trtexec arguments and its key."""
    project = current_project(env, endpoint)
    context = _endpoint_context(project, endpoint)
    engines = [planned_engine for planned_engine in planned_engines(context) if planned_engine.model == model]
    if not engines:
        models = [planned_engine.model for planned_engine in planned_engines(context)]
        message = f"{endpoint} has no engine for model {model!r} that can be built in {env}"
        hint = did_you_mean(model, models) if models else f"run `fleet check --env {env} {endpoint}`"
        raise FindingsError([Finding(code="FL398", message=message, hint=hint)])
    for engine in engines:
        print_explanation(context, engine)


def _no_engines(project: Project) -> str:
    """The reason why no engine is shown."""
    env, names = project.environment.environment, project.endpoints
    endpoints = [name for name in names if any(model.engines for model in project.load(name).spec.models)]
    if endpoints:
        return (
            f"the engines of {', '.join(endpoints)} cannot be built: run `fleet check --env {env}` to see why"
        )
    return f"no engines in {', '.join(names) or 'model_specs/, which has no specs'}"


def _endpoint_context(project: Project, name: str) -> EndpointContext:
    context, _ = locked_context(project, project.load(name))
    return context
