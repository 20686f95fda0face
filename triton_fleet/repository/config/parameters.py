"""A model's parameters as its backend reads them, and those of its execution accelerators.

Sources: onnxruntime_backend, src/onnxruntime.cc, LoadModel; tensorflow_backend, src/tensorflow.cc, likewise;
python_backend, r26.05, src/python_be.cc, ModelState::ModelState, which replaces the variable of an
environment's path only at the beginning: elsewhere it also drops as many characters as stand before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from triton_fleet.catalog.backends import Accelerator, Backend, Parameter, backend_facts, core_parameter
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.backend import runs_on_gpu
from triton_fleet.repository.config.fil import fil_parameters
from triton_fleet.repository.config.message import ParsedConfig, Position
from triton_fleet.repository.config.parameter_values import wrong_value

NEAR = 0.85
"""The least similarity to a known key, from 0 to 1, for a proposal of that key."""
BATCH_STRATEGY = "TRITON_BATCH_STRATEGY_PATH"


def parameters(config: ParsedConfig, backend: str, release: str | None) -> Iterator[Finding]:
    """Findings in the parameters of a model and of its execution accelerators.

    Args:
        config: The configuration.
        backend: What serves the model; the parameters of one that is not Triton's own are not checked.
        release: The Triton release, such as "25.04"; None for the newest.
    """
    if backend == "ensemble":
        return
    yield from _of_core(config, release)
    facts = backend_facts(backend, platform=config.message.platform, runtime=config.message.runtime)
    if facts is None:
        return
    for key in sorted(config.message.parameters):
        yield from _parameter(config, facts, key, release)
    yield from accelerators(config, facts, release)
    if backend == "fil":
        yield from fil_parameters(config, release)
    elif backend == "python":
        yield from python_parameters(config)


def _of_core(config: ParsedConfig, release: str | None) -> Iterator[Finding]:
    facts = core_parameter(BATCH_STRATEGY)
    has_batcher = config.message.HasField("sequence_batching") and BATCH_STRATEGY in config.message.parameters
    if has_batcher and (release is None or release >= facts["since"]):
        hint = "leave the parameter out, or use `dynamic_batching`"
        yield config.finding("FL450", facts["with_sequences"], "parameters", BATCH_STRATEGY, hint=hint)


def _parameter(config: ParsedConfig, facts: Backend, key: str, release: str | None) -> Iterator[Finding]:
    fact = facts.parameters.get(key)
    if fact is None:
        message, hint = _unknown(facts, key)
    elif fact.until and (release is None or release >= fact.until):
        message = (
            f"parameter '{key}' has not been read by the {facts.backend} backend since Triton {fact.until}"
        )
        hint = f"write `{fact.instead}` instead" if fact.instead else "leave it out"
    elif release is not None and fact.since > release:
        message = (
            f"parameter '{key}' is read by the {facts.backend} backend from Triton {fact.since} on;"
            f" the image is {release}"
        )
        hint = "leave it out, or choose a later image"
    else:
        yield from _value(config, fact, release)
        return
    if message:
        yield config.finding("FL452", message, "parameters", key, hint=hint, severity=Severity.WARNING)


def _unknown(facts: Backend, key: str) -> tuple[str, str]:
    """The message and hint for a key that the backend lacks; both empty if the key may be the user's own."""
    if key in facts.elsewhere:
        return f"parameter '{key}' {facts.elsewhere[key]}", "leave it out"
    readable = {name.lower(): name for name, of in facts.parameters.items() if not of.until}
    near = get_close_matches(key.lower(), readable, 1, NEAR)
    if facts.open or not near:
        return "", ""
    message = f"parameter '{key}' is not read by the {facts.backend} backend"
    return message, f"did you mean `{readable[near[0]]}`?"


def _value(config: ParsedConfig, parameter: Parameter, release: str | None) -> Iterator[Finding]:
    on_gpu = runs_on_gpu(config) if parameter.gpu else True
    value = config.message.parameters[parameter.name].string_value
    wrong = wrong_value(parameter, value, config.name, release)
    if wrong is None or on_gpu is False:
        return
    # On a machine without a GPU it is not read.
    severity = wrong.severity if on_gpu else Severity.WARNING
    code = "FL450" if wrong.severity is Severity.ERROR else "FL451"
    place = ("parameters", parameter.name)
    yield config.finding(code, wrong.message, *place, hint=wrong.hint, severity=severity)


CODE = "FL454"


def accelerators(config: ParsedConfig, facts: Backend, release: str | None) -> Iterator[Finding]:
    """Findings in a model's execution accelerators; instances on a GPU alone read those for GPUs."""
    on_gpu = runs_on_gpu(config)
    for device, accelerators_of_device in facts.accelerators.items():
        if device == "gpu" and on_gpu is False:
            continue
        severity = Severity.WARNING if device == "gpu" and on_gpu is None else Severity.ERROR
        settings = config.message.optimization.execution_accelerators
        field = f"{device}_execution_accelerator"
        for index, setting in enumerate(getattr(settings, field)):
            place = ("optimization", "execution_accelerators", field, index)
            yield from _accelerator(config, setting, accelerators_of_device, place, severity, release)


def _accelerator(
    config: ParsedConfig,
    accelerator_config: Any,
    accelerators: Mapping[str, Accelerator],
    place: Position,
    severity: Severity,
    release: str | None,
) -> Iterator[Finding]:
    names = [
        accelerator_facts.name
        for accelerator_facts in accelerators.values()
        if release is None or accelerator_facts.since <= release
    ]
    if accelerator_config.name not in names:
        message = f"unknown Execution Accelerator '{accelerator_config.name}' is requested"
        hint = f"the backend has {', '.join(names)}"
        yield config.finding(CODE, message, *place, "name", hint=hint, severity=severity)
        return
    accelerator = accelerators[accelerator_config.name]
    for key in sorted(accelerator_config.parameters):
        parameter, wrong = accelerator.parameters.get(key), None
        later = parameter is not None and release is not None and parameter.since > release
        if later or (parameter is None and not accelerator.open):
            since = (
                f"Triton has it from {parameter.since} on, and the image is {release}" if parameter else ""
            )
            message = accelerator.message.format(key=key)
            hint = since or f"it takes {', '.join(sorted(accelerator.parameters))}"
        elif parameter and (
            wrong := wrong_value(parameter, accelerator_config.parameters[key], config.name, release)
        ):
            message, hint = wrong.message, wrong.hint
        else:
            continue
        weighs = wrong.severity if wrong and severity is Severity.ERROR else severity
        yield config.finding(CODE, message, *place, "parameters", key, hint=hint, severity=weighs)


KEY = "EXECUTION_ENV_PATH"
VARIABLE = "$$TRITON_MODEL_DIRECTORY"


def python_parameters(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in the names of a model's code and of its environment, without looking at the files."""
    yield from _code(config)
    if KEY not in config.message.parameters:
        return
    path, place = config.message.parameters[KEY].string_value, ("parameters", KEY)
    if path.find(VARIABLE) > 0:
        message = f"{KEY} is {path!r}: {VARIABLE} is replaced only at the beginning, so the path is wrong"
        hint = f'write "{VARIABLE}/" and the path below the model\'s directory'
        yield config.finding("FL450", message, *place, hint=hint)
    elif path and not path.startswith(("/", VARIABLE)) and "://" not in path:
        message = f"{KEY} is {path!r}, which is looked for below the directory that the server was started in"
        hint = f'write "{VARIABLE}/" before it'
        if "TRITON_MODEL_DIRECTORY" in path:
            hint = f'write "{VARIABLE}", with two dollar signs'
        yield config.finding("FL451", message, *place, hint=hint, severity=Severity.WARNING)


def _code(config: ParsedConfig) -> Iterator[Finding]:
    """A file that Python cannot import as a module of the version's folder (tried with 24.10)."""
    filename = config.message.default_model_filename
    stem = filename.removesuffix(".py")
    if not filename or "/" in filename:
        return
    if stem == filename:
        message = f"Model name must end with '.py'. Model name is \"{filename}\"."
    elif "." in stem:
        message = f"No module named '1.{stem.partition('.')[0]}'"
    elif any(character.isspace() for character in stem):
        message = f"{filename!r} is started by a shell, which splits it on white space"
    else:
        return
    yield config.finding("FL458", message, "default_model_filename", hint="call it as a module: `model.py`")
