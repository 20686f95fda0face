"""A model's parameters as its backend reads them: values, and keys that mean nothing to it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from triton_fleet.catalog.backends import Backend, Parameter, backend_facts, core_parameter
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.accelerators import accelerators
from triton_fleet.repository.config.devices import runs_on_gpu
from triton_fleet.repository.config.fil import fil_parameters
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.config.parameter_values import wrong_value
from triton_fleet.repository.config.python_parameters import python_parameters

NEAR = 0.85
"""The least similarity to a known key, from 0 to 1, for a proposal of that key."""
BATCH_STRATEGY = "TRITON_BATCH_STRATEGY_PATH"


def parameters(config: ParsedConfig, backend: str, release: str | None) -> Iterator[Finding]:
    """What is wrong with the parameters of a model and of its execution accelerators.

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
    batched = config.message.HasField("sequence_batching") and BATCH_STRATEGY in config.message.parameters
    if batched and (release is None or release >= facts["since"]):
        hint = "leave the parameter out, or use `dynamic_batching`"
        yield config.finding("FL450", facts["with_sequences"], "parameters", BATCH_STRATEGY, hint=hint)


def _parameter(config: ParsedConfig, facts: Backend, key: str, release: str | None) -> Iterator[Finding]:
    known = facts.parameters.get(key)
    if known is None:
        message, hint = _unknown(facts, key)
    elif known.until and (release is None or release >= known.until):
        message = (
            f"parameter '{key}' has not been read by the {facts.backend} backend since Triton {known.until}"
        )
        hint = f"write `{known.instead}` instead" if known.instead else "leave it out"
    elif release is not None and known.since > release:
        message = (
            f"parameter '{key}' is read by the {facts.backend} backend from Triton {known.since} on;"
            f" the image is {release}"
        )
        hint = "leave it out, or choose a later image"
    else:
        yield from _value(config, known, release)
        return
    if message:
        yield config.finding("FL452", message, "parameters", key, hint=hint, severity=Severity.WARNING)


def _unknown(facts: Backend, key: str) -> tuple[str, str]:
    """The message and hint for a key that the backend lacks; both empty if the key may be the user's own."""
    if key in facts.elsewhere:
        return f"parameter '{key}' {facts.elsewhere[key]}", "leave it out"
    readable = {each.lower(): each for each, of in facts.parameters.items() if not of.until}
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
