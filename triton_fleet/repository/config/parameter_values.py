"""Whether a backend can read the value of a parameter, and its message if it cannot.

Sources: triton-inference-server/backend, src/backend_common.cc, ParseBoolValue, ParseIntValue and their like;
what else the backends have is named beside each in the catalog.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches

from triton_fleet.catalog.backends import Parameter
from triton_fleet.findings import Severity

MAX_HINT_VALUES = 6
WHOLE = re.compile(r"\s*([+-]?\d+)", re.ASCII)
NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
DIGITS = re.compile(r"\d+", re.ASCII)


@dataclass(frozen=True)
class Wrong:
    """A value that is not read as it stands; a warning where it is ignored, or read in part."""

    message: str
    hint: str
    severity: Severity


def wrong_value(parameter: Parameter, value: str, model: str, release: str | None) -> Wrong | None:
    """The problem of a value; None if it has none.

    Args:
        parameter: As the catalog has it.
        value: Its `string_value`.
        model: The model's name, for the backend's words.
        release: Such as "25.04"; None for the newest.
    """
    choices = [value for value in parameter.values if release is None or _since(parameter, value) <= release]
    if (parameter.empty and not value) or _is_one_of(value, choices, parameter.any_case):
        return None
    if parameter.silent and _is_one_of(value, parameter.silent, parameter.any_case):
        return None
    if parameter.number:
        return _wrong_number(parameter, value, model, release)
    return _refusal(parameter, value, model, release, parameter.message) if parameter.values else None


def _wrong_number(parameter: Parameter, value: str, model: str, release: str | None) -> Wrong | None:
    read, rest = _number(parameter, value)
    if read is None:
        return _refusal(parameter, value, model, release, parameter.message)
    below = parameter.minimum is not None and read < parameter.minimum
    if below or (parameter.maximum is not None and read > parameter.maximum):
        if release is not None and release < parameter.bounded_since:
            return None
        beyond = parameter.beyond or f"{{key}} is {{value}}, which is out of range{_bounds(parameter)}"
        return _refusal(parameter, value, model, release, beyond)
    if not rest.strip():
        return None
    message = f"{parameter.name} is {value!r}, of which only {value.removesuffix(rest).strip()} is read"
    return Wrong(message, "write only the number", Severity.WARNING)


def _number(parameter: Parameter, value: str) -> tuple[Decimal | None, str]:
    """The number that a value begins with, and what follows it; None where it begins with none."""
    if parameter.number == "python":
        try:
            return Decimal(int(value)), ""
        except ValueError:
            return None, value
    if parameter.number == "digits":
        return (Decimal(value), "") if DIGITS.fullmatch(value) else (None, value)
    match = (WHOLE if parameter.number == "int" else NUMBER).match(value)
    if match is None:
        return None, value
    return Decimal(match[1]), value[match.end() :]


def _refusal(parameter: Parameter, value: str, model: str, release: str | None, message: str) -> Wrong:
    fails = parameter.fails and (release is None or parameter.fails_since <= release)
    if fails:
        words = message.format(value=value, lower=value.lower(), key=parameter.name, model=model)
        return Wrong(words, _hint(parameter, value, release), Severity.ERROR)
    problem = f"{parameter.name} is {value!r}, which is silently ignored"
    if parameter.default:
        problem += f": {parameter.default} is used instead"
    return Wrong(problem, _hint(parameter, value, release), Severity.WARNING)


def _hint(parameter: Parameter, value: str, release: str | None) -> str:
    later = _since(parameter, value)
    if release is not None and later > release:
        return f"Triton has it from {later} on, and the image is {release}"
    choices = [*parameter.values]
    if near := get_close_matches(value.lower(), [choice.lower() for choice in choices], 1):
        choice_name = next(choice for choice in choices if choice.lower() == near[0])
        return f'did you mean "{choice_name}"?'
    if parameter.number:
        choices.append(f"{'a' if parameter.number == 'float' else 'a whole'} number{_bounds(parameter)}")
    return f"write {' or '.join(choices[:MAX_HINT_VALUES])}"


def _bounds(parameter: Parameter) -> str:
    if parameter.minimum is not None and parameter.maximum is not None:
        return f" from {parameter.minimum} to {parameter.maximum}"
    if parameter.minimum is not None:
        return f" of at least {parameter.minimum}"
    return f" of at most {parameter.maximum}" if parameter.maximum is not None else ""


def _since(parameter: Parameter, value: str) -> str:
    return parameter.values_since.get(value, "")


def _is_one_of(value: str, choices: Sequence[str], any_case: bool) -> bool:
    return value.lower() in map(str.lower, choices) if any_case else value in choices
