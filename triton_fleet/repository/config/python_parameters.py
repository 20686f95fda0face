"""The path of a Python model's own environment, as its configuration names it.

Source: triton-inference-server/python_backend, r26.05, src/python_be.cc, ModelState::ModelState, which
replaces the variable only at the beginning: elsewhere it also drops as many characters as stand before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig

KEY = "EXECUTION_ENV_PATH"
VARIABLE = "$$TRITON_MODEL_DIRECTORY"


def python_parameters(config: ParsedConfig) -> Iterator[Finding]:
    """What is wrong with the names of a model's code and of its environment, without looking at the files."""
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
    named = config.message.default_model_filename
    stem = named.removesuffix(".py")
    if not named or "/" in named:
        return
    if stem == named:
        message = f"Model name must end with '.py'. Model name is \"{named}\"."
    elif "." in stem:
        message = f"No module named '1.{stem.partition('.')[0]}'"
    elif any(each.isspace() for each in stem):
        message = f"{named!r} is started by a shell, which splits it on white space"
    else:
        return
    yield config.finding("FL458", message, "default_model_filename", hint="call it as a module: `model.py`")
