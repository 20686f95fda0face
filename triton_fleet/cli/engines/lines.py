"""How engines are printed."""

from __future__ import annotations

from rich.text import Text

from triton_fleet.builds.engines.artifacts import locked_engine
from triton_fleet.builds.engines.endpoint_engines import EndpointEngine, command_line, named_model
from triton_fleet.catalog.data_file import data_file
from triton_fleet.cli.show.lines import Line, print_lines
from triton_fleet.context.context import EndpointContext
from triton_fleet.printers.console import unfolded_console
from triton_fleet.printers.sanitizer import visible


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
