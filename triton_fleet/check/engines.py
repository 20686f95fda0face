"""Engines of a spec against the models that they are for, and the ONNX models that they are built from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from triton_fleet.builds.engines.endpoint_engines import expected_tensorrt, spec_engines
from triton_fleet.builds.engines.model_fit import graph_misfits, profile_misfits
from triton_fleet.catalog.images import release, releases
from triton_fleet.catalog.instances import instance, instance_types
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.contents import Contents, OnnxHeader
from triton_fleet.repository.loading.models import Model
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.plan import plan_place, taken_path
from triton_fleet.repository.stream import FileStream
from triton_fleet.spec.engine import Engine
from triton_fleet.spec.source import KeyPath, finding_at
from triton_fleet.store.engines.onnx import OnnxFile, onnx_of
from triton_fleet.store.sources.spec_sources import no_s3

CODE = "FL395"


def engine_findings(
    loaded: LoadedSpec, index: int, contents: Contents, models: Mapping[str, Model]
) -> Iterator[Finding]:
    """What does not fit of the engines of one of the spec's repositories; weights are not read.

    Args:
        loaded: The spec.
        index: Which entry of its `models`.
        contents: The repository.
        models: Its models.
    """
    engines = [(path, engine) for path, of, engine in spec_engines(loaded.spec) if of == index]
    for path, engine in engines:
        graph = None
        try:
            graph = _graph(loaded, path, engine)
        except FindingsError as error:
            yield from error.findings
        if engine.model not in models:
            continue  # the rule engine-without-model reports it
        yield from _in_its_place(loaded, contents, engine.model)
        config, tensorrt = models[engine.model].config, _tensorrt(loaded)
        found = list(profile_misfits(engine, config, graph))
        if graph is not None:
            found += graph_misfits(config, graph, tensorrt)
        for misfit in found:
            mark = loaded.source.mark((*path, *misfit.below))
            severity = Severity.ERROR if misfit.certain else Severity.WARNING
            yield replace(finding_at(mark, CODE, misfit.message, misfit.hint), severity=severity)


def _in_its_place(loaded: LoadedSpec, contents: Contents, model: str) -> Iterator[Finding]:
    """The plan has no place in the repository, or a file of its name exists."""
    wanted = loaded.spec.instance.type
    capability = instance(wanted).compute_capability if wanted in instance_types() else ""
    try:
        path = contents.path(model, plan_place(contents, model, capability))
    except FindingsError as error:
        yield from error.findings
        return
    if path in contents.entries:
        yield taken_path(contents, path)


def _graph(loaded: LoadedSpec, path: KeyPath, engine: Engine) -> OnnxHeader | None:
    """The inputs and outputs of an ONNX model in a file; None of one in S3, or where they cannot be read.

    Raises:
        FindingsError: the file does not exist.
    """
    onnx = onnx_of(loaded, path, engine, no_s3)
    if not isinstance(onnx, OnnxFile):
        return None
    size = onnx.require()
    try:
        header = _read(onnx.file, size)
    except OSError:
        return None  # reported where it is digested
    return None if header.problem else header


def _read(file: Path, size: int) -> OnnxHeader:
    with file.open("rb", buffering=0) as content:
        return read_header(FileStream(content, size), size)


def _tensorrt(loaded: LoadedSpec) -> str:
    """The TensorRT of the spec's release; if that does not exist, which a rule reports, the newest's."""
    named = loaded.spec.triton if loaded.spec.triton in releases() else releases()[-1]
    return expected_tensorrt(release(named)) or "0"
