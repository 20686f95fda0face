"""What pydantic refuses, told as findings: file and line, what was found, what is allowed, what was meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fleet.findings import Finding, FindingsError
from fleet.spec.alarms import MAP, VALUE
from fleet.spec.source import MOST, KeyPath, Source, finding_at, first_of
from fleet.spec.values import DURATION

LISTED = 40
"""So many of the words that could be meant are named."""
NO_KEYS = ("[key]", VALUE, MAP)
"""What pydantic puts into the place of a mistake beside keys."""
Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], source: Source) -> Model:
    """The document as an object of the given type.

    Raises:
        FindingsError: every key and value that does not fit, each with its place.
    """
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        shown = [_finding(model, source, detail) for detail in details[:MOST]]
        raise FindingsError(first_of(shown, len(details))) from error


def did_you_mean(word: str, known: Collection[str], *, list_all: bool = False) -> str:
    """A hint that names the nearest known word, else (or with `list_all` as well) all of them."""
    close = [f"did you mean `{near}`?" for near in get_close_matches(word, known, n=1)]
    more = f" and {len(known) - LISTED} more" if len(known) > LISTED else ""
    listed = [f"known: {', '.join(sorted(known)[:LISTED])}{more}"] if list_all or not close else []
    return " ".join(close + listed) if known else "there is none yet"


def _finding(model: type[BaseModel], source: Source, detail: ErrorDetails) -> Finding:
    path: KeyPath = tuple(part for part in detail["loc"] if part not in NO_KEYS)
    mark = source.latest_mark(path) if detail["type"] == "value_error" else source.mark(path)
    code, message, hint = _explained(model, path, detail, _shown(detail["input"], mark.text))
    return finding_at(mark, code, message, hint)


def _explained(
    model: type[BaseModel], path: KeyPath, detail: ErrorDetails, value: str
) -> tuple[str, str, str]:
    shown = dotted(path)
    match detail["type"]:
        case "extra_forbidden":
            parent = _model_at(model, path[:-1])
            known = list(parent.model_fields) if parent else []
            return "FL110", f"unknown key `{shown}`", did_you_mean(str(path[-1]), known) if known else ""
        case "missing":
            field = _field_text(model, path)
            return "FL111", f"the key `{shown}` is missing", field
        case "string_type":
            plain = isinstance(detail["input"], bool | int | float)
            hint = f'put it in quotes, "{value}": without them it is no text' if plain else ""
            return "FL112", _with_value(shown, value, "it must be text"), hint
        case "value_error":
            return "FL112", _with_value(shown, value, str(detail["ctx"]["error"])), ""
        case "model_type" | "dict_type":
            return "FL112", _with_value(shown, value, "it must be a mapping of keys"), ""
        case "tuple_type":
            return "FL112", _with_value(shown, value, "it must be a list"), ""
        case "string_pattern_mismatch":
            form = f"it must match {detail['ctx']['pattern']}"
            return "FL112", _with_value(shown, value, form), _field_text(model, path)
        case "greater_than_equal" | "less_than_equal" if DURATION.fullmatch(value.strip('"')):
            at_least = detail["ctx"].get("ge")
            limit = f"at most {detail['ctx']['le']}s" if at_least is None else f"at least {at_least}s"
            return "FL112", _with_value(shown, value, f"it must be {limit}"), _field_text(model, path)
        case _:
            said = detail["msg"][0].lower() + detail["msg"][1:]
            return "FL112", _with_value(shown, value, said), _field_text(model, path)


def _with_value(shown: str, value: str, problem: str) -> str:
    if not shown:
        return problem
    return f"`{shown}` is {value}: {problem}" if value else f"`{shown}`: {problem}"


def dotted(path: KeyPath) -> str:
    """A place in a document as a person writes it: `models[0].archive`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _shown(value: object, written: str) -> str:
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
            text = written or str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def _field_text(model: type[BaseModel], path: KeyPath) -> str:
    parent = _model_at(model, path[:-1])
    field = parent.model_fields.get(str(path[-1])) if parent and path else None
    return " ".join((field.description or "").split()) if field else ""


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
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
