"""The repositories of a spec with its samples and engines, checked as its container would load them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from triton_fleet.builds.engines.endpoint_engines import expected_tensorrt, spec_engines
from triton_fleet.builds.engines.model_fit import graph_misfits, profile_misfits
from triton_fleet.catalog.images import release, releases
from triton_fleet.catalog.instances import instance, instance_types
from triton_fleet.check.git_folders import input_git_findings
from triton_fleet.context.shared_container import default_route, routed_models
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import Contents, OnnxHeader
from triton_fleet.repository.loading.load_plan import LoadPlan
from triton_fleet.repository.loading.models import Model
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.plan import plan_place, taken_path
from triton_fleet.repository.stream import FileStream
from triton_fleet.rules.codes import allowable_codes
from triton_fleet.rules.names import allowed_codes, code_of
from triton_fleet.rules.registry import rules
from triton_fleet.spec.datatypes import Datatype
from triton_fleet.spec.endpoint import EndpointSpec, Mode, in_s3
from triton_fleet.spec.engine import Engine
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.samples import ANY_SIZE, OK, Input, Output, Sample
from triton_fleet.spec.source import KeyPath, finding_at
from triton_fleet.store.engines.onnx import OnnxFile, OnnxObject, onnx_of
from triton_fleet.store.sources.spec_sources import SpecRepositories, no_s3

FindOnnx: TypeAlias = "Callable[[KeyPath, Engine], OnnxFile | OnnxObject]"
"""Finds the ONNX model of the engine at a path of the spec.

Raises:
    FindingsError: its file may not be named.
"""


def repository_findings(repositories: SpecRepositories) -> Iterator[Finding]:
    """The findings of the spec's folders, without those it allows, and each code it allows for nothing.

    Folders that cannot be read, and what is in S3, are left out.
    """
    spec = repositories.loaded_spec
    findings = [*input_git_findings(repositories), *folder_findings(repositories)]
    codes_allowed_by_spec = allowed_codes(spec.spec.allow)
    codes_allowed_by_spec |= {
        rules()[code].in_files for code in codes_allowed_by_spec if code in rules()
    } & allowable_codes()
    yield from (finding for finding in findings if finding.code not in codes_allowed_by_spec)
    codes = {finding.code for finding in findings}
    for word in spec.spec.allow:
        mark = spec.source.mark(("allow", word))
        if code_of(word) in allowable_codes() - codes and mark.file == spec.source.file:
            unused_code = finding_at(
                mark, "FL130", f"`allow` names {word}, which finds nothing here", "leave it out"
            )
            yield replace(unused_code, severity=Severity.WARNING)


def folder_findings(repositories: SpecRepositories, find_onnx: FindOnnx | None = None) -> Iterator[Finding]:
    """The findings of the spec's folders, those that it allows among them; weights are not read.

    Args:
        repositories: The folders.
        find_onnx: Finds the ONNX model of an engine; default: where the spec names it.
    """
    spec = repositories.loaded_spec
    find_onnx = find_onnx or (lambda path, engine: onnx_of(spec, path, engine, no_s3))
    for index, archive in enumerate(spec.spec.models):
        if in_s3(archive):
            continue
        with suppress(FindingsError):  # reported where it is packed
            folder = repositories.folder(index)
            yield from folder.plan.findings
            if not folder.plan.refusals:
                yield from sample_findings(spec, index, folder.plan)
                yield from engine_findings(spec, index, folder.contents, folder.plan.models, find_onnx)


ENGINE_CODE = "FL395"


def engine_findings(
    loaded_spec: LoadedSpec,
    index: int,
    contents: Contents,
    models: Mapping[str, Model],
    find_onnx: FindOnnx,
) -> Iterator[Finding]:
    """The findings of the engines of one of the spec's repositories; weights are not read.

    Args:
        loaded_spec: The spec.
        index: Which entry of its `models`.
        contents: The repository.
        models: Its models.
        find_onnx: Finds the ONNX model of an engine.
    """
    engines = [(path, engine) for path, of, engine in spec_engines(loaded_spec.spec) if of == index]
    for path, engine in engines:
        graph = None
        try:
            graph = _graph(find_onnx(path, engine))
        except FindingsError as error:
            yield from error.findings
        if engine.model not in models:
            continue  # the rule engine-without-model reports it
        yield from _in_its_place(loaded_spec, contents, engine.model)
        config, tensorrt = models[engine.model].config, _tensorrt(loaded_spec)
        misfits = list(profile_misfits(engine, config, graph))
        if graph is not None:
            misfits += graph_misfits(config, graph, tensorrt)
        for misfit in misfits:
            mark = loaded_spec.source.mark((*path, *misfit.below))
            severity = Severity.ERROR if misfit.certain else Severity.WARNING
            yield replace(finding_at(mark, ENGINE_CODE, misfit.message, misfit.hint), severity=severity)


def _in_its_place(loaded_spec: LoadedSpec, contents: Contents, model: str) -> Iterator[Finding]:
    """The plan has no place in the repository, or a file of its name exists."""
    instance_type = loaded_spec.spec.instance.type
    capability = instance(instance_type).compute_capability if instance_type in instance_types() else ""
    try:
        path = contents.path(model, plan_place(contents, model, capability))
    except FindingsError as error:
        yield from error.findings
        return
    if path in contents.entries:
        yield taken_path(contents, path)


def _graph(onnx: OnnxFile | OnnxObject) -> OnnxHeader | None:
    """The inputs and outputs of an ONNX model in a file; None of one in S3, or where they cannot be read.

    Raises:
        FindingsError: the file does not exist.
    """
    if not isinstance(onnx, OnnxFile):
        return None
    size = onnx.require()
    try:
        return onnx_header(onnx.file, size)
    except OSError:
        return None  # reported where it is digested


def onnx_header(file: Path, size: int) -> OnnxHeader | None:
    """The inputs and outputs of an ONNX model; None where it has none that can be read."""
    with file.open("rb", buffering=0) as content:
        header = read_header(FileStream(content, size), size)
    return None if header.problem else header


def _tensorrt(loaded_spec: LoadedSpec) -> str:
    """The TensorRT of the spec's release; if that does not exist, which a rule reports, the newest's."""
    triton_release = loaded_spec.spec.triton if loaded_spec.spec.triton in releases() else releases()[-1]
    return expected_tensorrt(release(triton_release)) or "0"


SAMPLE_CODE = "FL328"


def sample_findings(loaded_spec: LoadedSpec, index: int, plan: LoadPlan) -> Iterator[Finding]:
    """The findings of the samples that one of the spec's repositories answers.

    A sample that is to be refused may be as wrong as it likes.

    Args:
        loaded_spec: The spec.
        index: Which entry of its `models`.
        plan: What the container makes of the repository.
    """
    targets = {item.name for item in loaded_spec.spec.models[index].packed_archives(index)}
    samples = [
        (number, item)
        for number, item in enumerate(loaded_spec.spec.samples)
        if item.status == OK and (item.target is None or item.target in targets)
    ]
    for number, sample in samples:
        model = plan.models.get(_routed_model(loaded_spec.spec, sample, plan.models) or plan.main or "")
        if model is not None:
            yield from _of_sample(loaded_spec, ("samples", number), sample, model.config)


def _routed_model(spec: EndpointSpec, sample: Sample, models: Collection[str]) -> str | None:
    """The model behind the route that a sample calls; None in other modes."""
    if spec.mode is not Mode.SHARED_CONTAINER:
        return None
    routes = routed_models(spec, models)
    return routes.get(sample.model or default_route(spec, routes) or "")


def _of_sample(
    loaded_spec: LoadedSpec, path: KeyPath, sample: Sample, config: ParsedConfig
) -> Iterator[Finding]:
    message = config.message
    for kind, tensors in (("input", sample.inputs), ("output", sample.outputs)):
        definitions = {definition.name: definition for definition in getattr(message, kind)}
        if not definitions:  # left to the backend
            continue
        for name, tensor in tensors.items():
            at = (*path, f"{kind}s", name)
            if name not in definitions:
                reason = f"model {config.name!r} has no {kind} {name!r}"
                yield finding_at(
                    loaded_spec.source.mark(at), SAMPLE_CODE, reason, did_you_mean(name, definitions)
                )
                continue
            if misfit := _misfit(tensor, definitions[name], config):
                hint = f"its {kind} is of {_declaration_text(definitions[name], config)}"
                yield finding_at(
                    loaded_spec.source.mark(at),
                    SAMPLE_CODE,
                    f"{kind} {name!r} of model {config.name!r} {misfit}",
                    hint,
                )
    yield from _missing_inputs(loaded_spec, path, sample.inputs, config)


def _missing_inputs(
    loaded_spec: LoadedSpec, path: KeyPath, inputs: Mapping[str, Input], config: ParsedConfig
) -> Iterator[Finding]:
    for definition in config.message.input:
        if not definition.optional and definition.name not in inputs:
            message = (
                f"model {config.name!r} needs the input {definition.name!r}, but the sample does not have it"
            )
            hint = f"it is of {_declaration_text(definition, config)}"
            yield finding_at(loaded_spec.source.mark((*path, "inputs")), SAMPLE_CODE, message, hint)


def _misfit(tensor: Input | Output, definition: Any, config: ParsedConfig) -> str | None:
    """The misfit of the data type or the shape, as a clause."""
    datatype = config.enum(definition, "data_type")
    if tensor.datatype is not None and definition.data_type and datatype != tensor.datatype.in_config:
        return f"is {_datatype(datatype)}, and not {tensor.datatype}"
    shape, dims = tensor.shape, _dims(definition, config)
    if shape is None or not definition.dims or definition.is_shape_tensor:
        return None
    if len(shape) == len(dims) + 1 and not config.message.max_batch_size and config.is_completed is not False:
        return None  # the backend may make it one that batches
    if len(shape) != len(dims) or not all(
        ANY_SIZE in pair or len({*pair}) == 1 for pair in zip(shape, dims, strict=True)
    ):
        return f"does not have the shape {list(shape)}"
    max_batch_size = config.message.max_batch_size
    return (
        f"takes batches of {max_batch_size} at most, and not of {shape[0]}"
        if max_batch_size and shape[0] > max_batch_size
        else None
    )


def _dims(definition: Any, config: ParsedConfig) -> Sequence[int]:
    """As callers see them: with the batch in front."""
    batch = [ANY_SIZE] if config.message.max_batch_size > 0 else []
    return [*batch, *definition.dims]


def _declaration_text(definition: Any, config: ParsedConfig) -> str:
    return f"{_datatype(config.enum(definition, 'data_type'))}, shape {_dims(definition, config)}"


def _datatype(name: str) -> str:
    return next((datatype.value for datatype in Datatype if datatype.in_config == name), name)
