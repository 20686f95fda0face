"""Refusals of pydantic as findings: file and line, what was found, what is allowed, what was meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache, reduce
from operator import getitem
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.alarms import MAP, VALUE
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.source import MAX_FINDINGS, KeyPath, Source, finding_at, first_of
from triton_fleet.spec.values import DURATION, Mistake, descriptions

MAY_HOLD_KEYS: Mapping[str, str] = {"notifications": "/", "owner": "://"}
"""Where the addresses of chats and paging services are refused, as they hold a key: by the sign of one."""
_HOST = re.compile(r"((?:[^/]*://)?)(?:[^/@]*@)?([^/?#]*)")
ELSEWHERE: Mapping[type[BaseModel], tuple[type[BaseModel], str]] = {
    EndpointSpec: (Environment, "it is a key of environments/ENV.yaml, at the top"),
    Environment: (
        EndpointSpec,
        "it is a key of a spec: write it under `defaults:`, or in one endpoint's spec",
    ),
}
"""By the kind of file: the other kinds, and the hint for their keys."""
MAX_CHOICES = 40
"""The most words that are named as what could be meant."""
NO_KEYS = ("[key]", VALUE, MAP)
"""Words that pydantic puts into the path of a mistake beside keys."""
Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], source: Source) -> Model:
    """The document as an object of the given type.

    Raises:
        FindingsError: every key and value that does not fit, each with its place.
    """
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        details = _own_mistakes(error.errors(include_url=False))
        raise FindingsError(_findings(model, source, details)) from error


def certain_mistakes(model: type[Model], source: Source) -> list[Finding]:
    """The mistakes of a document that lacks a layer: those that no key of the layer can correct.

    A mapping may lack a key, or contradict itself, only because a part of it is in the layer. Lists are
    replaced as a whole.
    """
    try:
        model.model_validate(source.data)
    except ValidationError as error:
        details = _own_mistakes(error.errors(include_url=False))
        return _findings(model, source, [detail for detail in details if _is_certain(detail)])
    return []


def _is_certain(detail: ErrorDetails) -> bool:
    if any(isinstance(part, int) for part in detail["loc"]):
        return True
    return detail["type"] != "missing" and not (
        detail["type"] == "value_error" and isinstance(detail["input"], Mapping)
    )


def _findings(model: type[BaseModel], source: Source, details: list[ErrorDetails]) -> list[Finding]:
    findings = [_finding(model, source, detail) for detail in details[:MAX_FINDINGS]]
    return first_of(findings, len(details))


def _own_mistakes(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Without lists that are too short only because pydantic counts no item that is wrong itself."""
    inside = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    return [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in inside]


def did_you_mean(word: str, choices: Collection[str], *, whole_list: bool = False) -> str:
    """A hint that names the nearest known word, else (or with `whole_list` as well) all of them."""
    close = [f"did you mean `{near}`?" for near in _nearest(word, tuple(choices))]
    more = f" and {len(choices) - MAX_CHOICES} more" if len(choices) > MAX_CHOICES else ""
    hints = [f"known: {', '.join(sorted(choices)[:MAX_CHOICES])}{more}"] if whole_list or not close else []
    return " ".join(close + hints) if choices else "there is none yet"


@lru_cache(maxsize=256)
def _nearest(word: str, choices: tuple[str, ...]) -> list[str]:
    """The nearest word, if any is near; kept, as many specs of a fleet have one mistake in common."""
    return get_close_matches(word, choices, n=1)


def _finding(model: type[BaseModel], source: Source, detail: ErrorDetails) -> Finding:
    path: KeyPath = tuple(part for part in detail["loc"] if part not in NO_KEYS)
    entry, error = detail["input"], detail.get("ctx", {}).get("error")
    if isinstance(error, Mistake):
        path, entry = path + error.below, reduce(getitem, error.below, entry)
    mark = source.latest_mark(path) if detail["type"] == "value_error" else source.mark(path)
    sign = MAY_HOLD_KEYS.get(str(path[0]) if path else "")
    confidential = sign is not None and sign in str(entry)
    value = _display_value(_without_key(entry) if confidential else entry, mark.text)
    is_layer = mark.file != source.file
    code, message, hint = _explain(model, path, detail, value, is_layer=is_layer)
    return replace(finding_at(mark, code, message, hint), confidential=confidential)


def _explain(
    model: type[BaseModel], path: KeyPath, detail: ErrorDetails, value: str, *, is_layer: bool
) -> tuple[str, str, str]:
    key = dotted_path(path)
    match detail["type"]:
        case "extra_forbidden":
            return "FL110", f"unknown key `{key}`", _suggest_key(model, path, is_layer=is_layer)
        case "missing":
            field = _field_text(model, path)
            return "FL111", f"the key `{key}` is missing", field
        case "string_type":
            plain = isinstance(detail["input"], bool | int | float)
            hint = f'put it in quotes, "{value}": without them it is not text' if plain else ""
        case "value_error":
            error = detail["ctx"]["error"]
            hint = error.hint if isinstance(error, Mistake) else ""
            return "FL112", _with_value(key, value, str(error)), hint
        case "model_type" | "dict_type" | "tuple_type":
            hint = ""
        case _:
            hint = remedy(detail) or _field_text(model, path)
    unit = "s" if DURATION.fullmatch(value.strip('"')) else ""
    return "FL112", _with_value(key, value, in_words(detail, unit)), hint


def _suggest_key(model: type[BaseModel], path: KeyPath, *, is_layer: bool) -> str:
    """The key that was meant by an unknown one: of the same section, or of another file.

    A layer of a spec has every key of a spec except its name.
    """
    model_of_key, section = ELSEWHERE.get(model, (model, ""))
    if section and len(path) == 1 and path[0] in model_of_key.model_fields:
        return section
    parent = _model_at(model, path[:-1])
    keys = [key for key in (parent.model_fields if parent else ()) if not (is_layer and key == "endpoint")]
    return did_you_mean(str(path[-1]), keys) if keys else ""


def _without_key(value: object) -> object:
    """Of an address no more than its host."""
    match = _HOST.match(value) if isinstance(value, str) else None
    return f"{match[1]}{match[2]}/…" if match else value


def _with_value(key: str, value: str, problem: str) -> str:
    if not key:
        return problem
    return f"`{key}` is {value}: {problem}" if value else f"`{key}`: {problem}"


def dotted_path(path: KeyPath) -> str:
    """A place in a document as a person writes it: `models[0].archive`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _display_value(value: object, value_text: str) -> str:
    """The value as it was written; nothing for a mapping, which the message is about."""
    match value:
        case dict():
            return ""
        case list() | tuple():
            return "a list"
        case None:
            return "empty"
        case str():
            text = f'"{value}"'
        case _:
            text = value_text or str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def _field_text(model: type[BaseModel], path: KeyPath) -> str:
    parent = _model_at(model, path[:-1])
    return " ".join(descriptions(parent).get(str(path[-1]), "").split()) if parent and path else ""


def _model_at(model: type[BaseModel], path: KeyPath) -> type[BaseModel] | None:
    for part in path:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(part)
        inner = _model_in(field.annotation) if field else None
        if inner is None:
            return None
        model = inner
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((inner for part in get_args(annotation) if (inner := _model_in(part))), None)


WORDS: Mapping[str, str] = {
    "int_type": "it must be a whole number",
    "float_type": "it must be a number",
    "bool_type": "it must be true or false",
    "string_type": "it must be text",
    "model_type": "it must be a mapping of keys",
    "dict_type": "it must be a mapping of keys",
    "tuple_type": "it must be a list",
    "enum": "it must be {expected}",
    "literal_error": "it must be {expected}",
    "string_pattern_mismatch": "it must match {pattern}",
    "string_too_short": "it must have at least {min_length} characters",
    "string_too_long": "it must have at most {max_length} characters",
    "too_short": "it must have at least {min_length} items, and has {actual_length}",
    "too_long": "it must have at most {max_length} items, and has {actual_length}",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than_equal": "it must be at most {le}",
}
_BOOLEANS: Mapping[str, str] = {
    **dict.fromkeys(("true", "yes", "y", "on", "1"), "true"),
    **dict.fromkeys(("false", "no", "n", "off", "0"), "false"),
}
"""Booleans of others, such as YAML 1.1."""
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(d|days?|%)?")
"""Units that change no number where none is written."""


def in_words(detail: ErrorDetails, unit: str = "") -> str:
    """The problem as a clause that may follow the value; `unit` is that of its limits."""
    words = WORDS.get(detail["type"])
    if words is None:
        return detail["msg"][0].lower() + detail["msg"][1:]
    limits = {key: _plain(value) for key, value in detail.get("ctx", {}).items()}
    return words.format_map(limits) + (unit if words.endswith(("{ge}", "{gt}", "{le}")) else "")


def remedy(detail: ErrorDetails) -> str:
    """The hint, if the value shows it; else empty."""
    kind, value = detail["type"], detail["input"]
    if kind == "bool_type" and (boolean := _BOOLEANS.get(str(value).lower())):
        return f"write `{boolean}`, without quotes"
    if kind in ("int_type", "float_type") and isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        if match and (kind == "float_type" or match[1].isdecimal()):
            return f"write `{match[1]}`, without {'a unit' if match[2] else 'quotes'}"
    return ""


def _plain(value: object) -> object:
    return f"{value:.15g}" if isinstance(value, float) else value
