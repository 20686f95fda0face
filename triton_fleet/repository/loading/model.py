"""One model in its folder: its configuration, and the files that it needs.

Source: triton-inference-server/core, r26.06, src/model.cc, Init (labels); src/backend_model_instance.cc,
GenerateWarmupData; src/sequence_batch_scheduler/sequence_batch_scheduler.cc, GenerateInitialStateData.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from posixpath import normpath
from typing import Any, NamedTuple

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.judge import config_findings
from triton_fleet.repository.config.message import ParsedConfig, Position
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.copies import name_mismatch
from triton_fleet.repository.loading.completion import graph_path, header_of
from triton_fleet.repository.loading.ensembles import (
    decoupled_branches,
    missing_models,
    missing_versions,
    steps_of,
)
from triton_fleet.repository.loading.mappings import mappings
from triton_fleet.repository.loading.models import Model, ServingContainer, python_codes
from triton_fleet.repository.loading.versions import present_versions, versions
from triton_fleet.repository.model_config import CONFIG, SIZES
from triton_fleet.repository.model_files import missing_files
from triton_fleet.repository.onnx.match import external_findings, onnx_findings
from triton_fleet.repository.onnx.versions import version_findings
from triton_fleet.repository.python.code import lacks_class
from triton_fleet.repository.python.conda_match import conda_findings

STREAMS_SINCE = "25.03"
SHELL = re.compile(r"[\s&'\"();|<>`$\\*]")
"""Characters that a shell interprets: the Python backend starts each model in one (tried with 24.10)."""


def model_findings(
    contents: Contents, setting: ServingContainer, model: Model, *, is_main: bool
) -> Iterator[Finding]:
    """Findings in one model.

    Args:
        contents: The repository.
        setting: The container.
        model: The model.
        is_main: Whether it is the one that answers.
    """
    config, folder = model.config, model.directory
    yield from config_findings(config, setting.release, model.backend)
    yield from _identity(model, free_name=setting.multi_model and is_main)
    yield from _backend(contents, model)
    yield from _name(contents, model)
    yield from _runtime(contents, model)
    yield from versions(contents, folder, config, is_built=folder in setting.engine_models)
    yield from named_files(contents, folder, config)
    yield from missing_files(
        config, model.backend, setting.release, contents, folder, model.versions, setting.engine_models
    )
    if model.backend == "python":
        yield from conda_findings(config, contents, folder, setting.release)
        yield from _class(contents, model)
    if model.backend == "onnxruntime":
        for version in model.versions:
            header = header_of(config, contents, folder, version)
            if header is not None:
                file = contents.file(contents.path(folder, version))
                yield from onnx_findings(config, header, file)
                graph = contents.file(graph_path(config, contents, folder, version))
                yield from version_findings(config, header, graph, setting.release)
                yield from external_findings(config, header, contents, contents.path(folder, version))
    too_old = setting.release is not None and setting.release < STREAMS_SINCE
    if is_main and config.message.model_transaction_policy.decoupled and (setting.multi_model or too_old):
        message = "HTTP end point doesn't support models with decoupled transaction policy"
        hint = f"only a single endpoint with Triton {STREAMS_SINCE} or newer streams"
        yield config.finding(
            "FL469", message, "model_transaction_policy", hint=hint, severity=Severity.WARNING
        )


def ensemble_findings(model: Model, models: Mapping[str, Model]) -> Iterator[Finding]:
    """Mismatches between an ensemble and its composing models."""
    if not model.config.message.HasField("ensemble_scheduling"):
        return
    configs = {name: model_config.config for name, model_config in models.items()}
    yield from missing_models(model.config, configs)
    yield from missing_versions(
        model.config, {name: model_config.versions for name, model_config in models.items()}
    )
    yield from mappings(model.config, configs)
    yield from decoupled_branches(model.config, configs)
    decoupled_names = [
        name
        for name in steps_of(model.config)
        if name in configs and configs[name].message.model_transaction_policy.decoupled
    ]
    if decoupled_names and model.config.message.response_cache.enable:
        message = (
            f"Response Cache does not currently support model {model.config.name} with 'decoupled'"
            " transaction"
            " policy. Please disable the response cache."
        )
        hint = f"leave it out: {decoupled_names[0]} answers in several parts, so the ensemble does"
        yield model.config.finding("FL429", message, "response_cache", hint=hint)


def _class(contents: Contents, model: Model) -> Iterator[Finding]:
    """Code without the class that the Python backend makes an instance of."""
    for path, code in python_codes(contents, model.directory, model.config, model.versions):
        if lacks_class(code):
            message = f"module '{path.parent.name}.{path.stem}' has no attribute 'TritonPythonModel'"
            hint = "write `class TritonPythonModel`, with `execute(self, requests)`"
            yield Finding(code="FL470", message=message, hint=hint, file=contents.file(str(path)), line=1)


def _runtime(contents: Contents, model: Model) -> Iterator[Finding]:
    """A library that neither the image has nor the model brings."""
    name, folder = model.config.message.runtime, model.directory
    own = ("", "model.py", f"libtriton_{model.backend}.so")
    brought = [contents.path(folder, version, name) for version in ("", *model.versions)]
    if (
        name.endswith(".so")
        and "/" not in name
        and name not in own
        and not any(map(contents.is_file, brought))
    ):
        message = f"unable to find backend library '{name}' for model '{model.config.name}'"
        hint = f"leave out `runtime`, it is libtriton_{model.backend}.so, or put the library beside the model"
        yield model.config.finding("FL417", message, "runtime", hint=hint)


def _name(contents: Contents, model: Model) -> Iterator[Finding]:
    """A directory that a Python model cannot be started in."""
    if model.backend == "python" and not contents.is_packed and (match := SHELL.search(model.directory)):
        message = (
            f"{model.directory!r} cannot be a Python model's name: a shell starts it, and interprets"
            f" {match[0]!r}"
        )
        place = contents.file(model.directory)
        yield Finding(code="FL405", message=message, hint="rename the directory", file=place)


def _identity(model: Model, *, free_name: bool) -> Iterator[Finding]:
    config, folder = model.config, model.directory
    if config.message.name not in ("", folder) and not free_name:
        message, hint = name_mismatch(config.message.name, folder)
        yield config.finding("FL411", message, "name", hint=hint)


def _backend(contents: Contents, model: Model) -> Iterator[Finding]:
    """A model without a backend, and configurations in version directories, one of which may name it."""
    config, folder = model.config, model.directory
    paths = [contents.path(folder, version, CONFIG) for version in present_versions(contents, folder)]
    unread_paths = [path for path in paths if contents.is_file(path)]
    move = f"move {unread_paths[0]} to {contents.path(folder, CONFIG)}" if unread_paths else ""
    reason = "Triton reads none in a version directory"
    if (
        not model.backend
        and config.message.platform == ""
        and not config.message.HasField("ensemble_scheduling")
    ):
        message = (
            f"Invalid model name: Could not determine backend for model '{config.name}' with no backend"
            " in model configuration. Expected model name of the form 'model.<backend_name>'."
        )
        hint = "write `backend`, and put the model's file into the version directory"
        yield config.finding("FL417", message, hint=f"{move}: {reason}" if move else hint)
    elif move:
        hint = f"remove {unread_paths[0]}" if model.has_config else move
        file, message = contents.file(unread_paths[0]), f"this configuration has no effect: {reason}"
        yield Finding(code="FL432", message=message, file=file, hint=hint, severity=Severity.WARNING)


CODE = "FL436"


class FileReference(NamedTuple):
    """A file: where its name stands, the folder in the model, and the bytes that it has to have."""

    place: Position
    folder: str
    name: str
    size: int


def named_files(contents: Contents, model: str, config: ParsedConfig) -> Iterator[Finding]:
    """Label files, warm-up samples and initial states that are missing, too short or outside of the model."""
    for file in _file_references(config):
        path = normpath(f"{file.folder}/{file.name}") if file.folder else normpath(file.name)
        whole = f"{model}/{path}" if model else path
        if path.startswith(("../", "/")) or path == "..":
            message = f"the file {file.name!r} of model {config.name!r} is outside of the model's directory"
            yield config.finding(CODE, message, *file.place, hint="put it into the model's directory")
        elif not contents.is_file(whole):
            message = f"failed to open text file for read {whole}: No such file or directory"
            yield config.finding(CODE, message, *file.place, hint=f"create {whole}")
        elif (size := contents.entries[whole].size) < file.size:
            message = (
                f"{file.folder} setting expects {file.size} bytes, but the data provided from"
                f" {file.name}only has {size} bytes"
            )
            yield config.finding(CODE, message, *file.place, hint="write as many elements as `dims` require")


def _file_references(config: ParsedConfig) -> Iterator[FileReference]:
    message = config.message
    for index, output in enumerate(message.output):
        if output.label_filename:
            yield FileReference(("output", index, "label_filename"), "", output.label_filename, 0)
    for index, sample in enumerate(message.model_warmup):
        for key, tensor in sorted(sample.inputs.items()):
            if tensor.WhichOneof("input_data_type") == "input_data_file" and sample.batch_size:
                place = ("model_warmup", index, "inputs", key, "input_data_file")
                yield FileReference(place, "warmup", tensor.input_data_file, _bytes(config, tensor))
    for index, state in enumerate(message.sequence_batching.state):
        for number, tensor in enumerate(state.initial_state):
            if tensor.WhichOneof("state_data") == "data_file":
                field = ("sequence_batching", "state", index, "initial_state", number, "data_file")
                yield FileReference(field, "initial_state", tensor.data_file, _bytes(config, tensor))


def _bytes(config: ParsedConfig, tensor: Any) -> int:
    """Of the elements; 0 of strings, and of what has no certain size."""
    sizes = list(tensor.dims)
    return (
        prod(sizes) * SIZES.get(config.enum(tensor, "data_type"), 0) if all(size > 0 for size in sizes) else 0
    )
