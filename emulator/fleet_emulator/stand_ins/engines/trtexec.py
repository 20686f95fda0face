"""A stand-in for trtexec: it checks options and the ONNX model, and writes a plan that no GPU can run."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fleet_emulator.stand_ins.engines.calls import record_call
from triton_fleet.catalog.data_file import LOADER
from triton_fleet.catalog.releases import numbers
from triton_fleet.core.folders import source_path
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.onnx.types import text
from triton_fleet.repository.onnx.wire import BYTES, FieldBudget, Wire, WireError, WireField
from triton_fleet.repository.plan import FORMAT_0, HEADER, VERSION, plan_version
from triton_fleet.repository.stream import Stream

DOMAINS = frozenset({"", "ai.onnx"})
GRAPH, NODE = 7, 1
"""Fields of ModelProto and of GraphProto (onnx/onnx.proto), as are those below of NodeProto."""
OUTPUT, OPERATOR, DOMAIN = 2, 4, 7


class OnnxError(Exception):
    """The message of trtexec about the model, each argument a line."""


class _Node(NamedTuple):
    operator: str
    domain: str
    output: str


def require_importable(model: bytes) -> None:
    """Nothing, if all operators are of ONNX's own domain; which of those TensorRT lacks is not known here.

    Raises:
        OnnxError: one is not, or the bytes are not an ONNX model.
    """
    try:
        for number, node in enumerate(_nodes(model)):
            if node.domain not in DOMAINS:
                raise OnnxError(
                    f'While parsing node number {number} [{node.operator} -> "{node.output}"]:',
                    "ERROR: onnxOpCheckers.cpp In function checkFallbackPluginImporter: [6] creator && "
                    '"Plugin not found, are the plugin name, version, and namespace correct?"',
                    "Failed to parse onnx file",
                )
    except WireError as error:
        raise OnnxError(f"Failed to parse onnx file: {error}", "Parsing model failed") from error


def require_inputs(model: bytes, shapes: str) -> None:
    """Nothing, if shapes as trtexec takes them, `ids:1x128,mask:1x128`, are of inputs of the model.

    Raises:
        OnnxError: one is not.
    """
    inputs = {tensor.name for tensor in read_header(Stream(model), len(model)).inputs}
    for shape in shapes.split(",") if shapes else ():
        name = shape.rpartition(":")[0]
        if name not in inputs:
            raise OnnxError(
                f'Cannot find input tensor with name "{name}" in the network inputs! '
                "Please make sure the input tensor names are correct."
            )


def _nodes(model: bytes) -> Iterator[_Node]:
    wire = Wire(Stream(model), len(model), FieldBudget())
    for graph in wire.fields(len(model)):
        if (graph.number, graph.kind) == (GRAPH, BYTES):
            for node in wire.fields(graph.value):
                if (node.number, node.kind) == (NODE, BYTES):
                    yield _node(wire, node)


def _node(wire: Wire, message: WireField) -> _Node:
    texts = {OUTPUT: "", OPERATOR: "", DOMAIN: ""}
    for field in wire.fields(message.value):
        if field.number in texts and field.kind == BYTES:
            texts[field.number] = texts[field.number] or text(wire.take(field))
    return _Node(texts[OPERATOR], texts[DOMAIN], texts[OUTPUT])


NAME = "trtexec (stand-in)"
REASONS = source_path("engine_build") / "compile_engine" / "reasons.json"
"""Endings of trtexec that the build script knows."""


class RefusedError(Exception):
    """The failure of trtexec, each argument a line."""


def run() -> None:
    """Answer as a process."""
    record_call()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    version = os.environ.get("FLEET_STAND_IN_TENSORRT") or os.environ.get("TRT_VERSION", "")
    sys.exit(Trtexec(version, os.environ).answer(sys.argv[1:]))


class Trtexec:
    """The trtexec of one TensorRT, `10.9.0.34`; the environment decides how it fails, if at all."""

    def __init__(self, version: str, environ: Mapping[str, str]) -> None:
        self._version, self._fault = version, environ.get(FAULT, "")

    def answer(self, arguments: Sequence[str]) -> int:
        """Run with the arguments; the exit code."""
        if not self._version:
            print(f"{NAME}: neither FLEET_STAND_IN_TENSORRT nor TRT_VERSION names a version of TensorRT")
            return 1
        banner = f"TensorRT.{NAME} {self._stamp()} # trtexec {' '.join(arguments)}"
        print(f"&&&& RUNNING {banner}")
        flags = {name: value for name, _, value in (argument.partition("=") for argument in arguments)}
        try:
            self._do(flags)
        except (RefusedError, OSError) as error:
            for line in error.args if isinstance(error, RefusedError) else (str(error),):
                _say("E", line)
            print(f"&&&& FAILED {banner}")
            return 1
        print(f"&&&& PASSED {banner}")
        return 0

    def _stamp(self) -> str:
        """As NV_TENSORRT_VERSION counts: `[TensorRT v8601]`, and from 10 on `[TensorRT v100900] [b34]`."""
        major, minor, patch, build = (*numbers(self._version), 0, 0, 0)[:4]
        if major < 10:
            return f"[TensorRT v{major * 1000 + minor * 100 + patch}]"
        return f"[TensorRT v{major * 10_000 + minor * 100 + patch}] [b{build}]"

    def _do(self, flags: Mapping[str, str]) -> None:
        option_names = options(self._version)
        if not flags or "--help" in flags:
            _say("I", f"the options are {' '.join(sorted(option_names))}")
            return
        if unknown := sorted(flags.keys() - option_names):
            raise RefusedError(*(f"Unknown option: {name} {flags[name]}" for name in unknown))
        if "--loadEngine" in flags:
            self._load(flags)
        elif "--onnx" in flags and "--saveEngine" in flags:
            self._build(flags)
        else:
            raise RefusedError("it takes --onnx with --saveEngine, or --loadEngine")

    def _build(self, flags: Mapping[str, str]) -> None:
        onnx, plan = Path(flags["--onnx"]), Path(flags["--saveEngine"])
        model = onnx.read_bytes()
        try:
            require_importable(model)
            for flag in ("--minShapes", "--optShapes", "--maxShapes"):
                require_inputs(model, flags.get(flag, ""))
        except OnnxError as error:
            raise RefusedError(*error.args, "Engine set up failed") from error
        plan.write_bytes(self._header() + model[: len(model) // 2])
        self._fail_on_request(is_build=True)
        plan.write_bytes(self._header() + model)
        _say("I", f"wrote a plan of {plan.stat().st_size} bytes that no GPU can run")
        if cache := flags.get("--timingCacheFile"):
            with Path(cache).open("a", encoding="utf-8") as file:
                file.write(f"{NAME}, no timings: {onnx.name}\n")

    def _load(self, flags: Mapping[str, str]) -> None:
        plan = Path(flags["--loadEngine"]).read_bytes()
        plan_tensorrt = plan_version(plan)
        if "--getPlanVersionOnly" in flags:
            _say("I", f"Plan was created with TensorRT version {plan_tensorrt}")
            return
        if numbers(plan_tensorrt) != numbers(self._version):
            raise RefusedError(
                "Error[6]: The engine plan file is not compatible with this version of TensorRT, expecting "
                f"library version {self._version} got {plan_tensorrt}, please rebuild.",
                "Engine set up failed",
            )
        self._fail_on_request(is_build=False)
        try:
            require_inputs(plan[HEADER:], flags.get("--shapes", ""))
        except OnnxError as error:
            raise RefusedError(*error.args) from error
        _say("I", "looked at the plan; nothing was run, so nothing is measured")

    def _header(self) -> bytes:
        header = bytearray(FORMAT_0 + os.urandom(HEADER - len(FORMAT_0)))
        header[VERSION] = bytes((*numbers(self._version), 0)[:4])
        return bytes(header)

    def _fail_on_request(self, *, is_build: bool) -> None:
        if not self._fault or (self._fault == NOT_LOADABLE) == is_build:
            return
        if self._fault == "hang":
            _say("I", "hangs on request")
            signal.pause()
        if self._fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise RefusedError(*real_lines(self._fault))


def _say(severity: str, text: str) -> None:
    print(f"[{severity}] [stand-in] {text}")


FAULT = "FLEET_STAND_IN_FAULT"
"""The environment variable: a problem's name as reasons.json has it, NOT_LOADABLE, `hang` or `killed`."""
NOT_LOADABLE = "the plan does not load back"


def real_lines(problem: str) -> tuple[str, ...]:
    """The example of the first reason of a problem; its name alone where it has none."""
    table = json.loads(REASONS.read_text(encoding="utf-8"))
    for reason in table["reasons"]:
        if reason["problem"] == problem:
            return tuple(reason["example"])
    return (f"fails on request: {problem}",)


def options(version: str) -> frozenset[str]:
    """Those of the trtexec of a TensorRT, `10.9.0.34`."""
    names: set[str] = set()
    for since, change in _versions().items():
        if numbers(since) <= numbers(version):
            names |= set(change.get("new", "").split())
            names -= set(change.get("gone", "").split())
    return frozenset(names)


@cache
def _versions() -> dict[str, Any]:
    text = (files("fleet_emulator.stand_ins.engines") / "trtexec_options.yaml").read_text(encoding="utf-8")
    versions: dict[str, Any] = yaml.load(text, Loader=LOADER)["versions"]  # noqa: S506
    return versions
