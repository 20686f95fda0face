"""Types of props: findings about values of another type than the annotations of a signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from constructs import Construct

from triton_endpoints.library.environment import report
from triton_endpoints.library.props import UNSET
from triton_endpoints.library.values import is_token
from triton_fleet.findings import Finding
from triton_fleet.spec.problems import did_you_mean

_WORDS: Mapping[object, str] = {
    str: "text",
    int: "a number",
    float: "a number",
    bool: "True or False",
    Mapping: "a mapping",
    Callable: "a function",
}
_SHOWN_CHARACTERS = 60


def has_right_types(construct: Construct, owner: Callable[..., object], props: Mapping[str, object]) -> bool:
    """Whether props have the types of a signature; what has another one is reported at the construct's path.

    Args:
        construct: Whose props they are.
        owner: The callable that takes them, a class or a method.
        props: Its arguments, by name.
    """
    findings = list(_of_props(owner, props))
    report(construct, findings)
    return not findings


def _of_props(
    owner: Callable[..., object], props: Mapping[str, object], prefix: str = ""
) -> Iterator[Finding]:
    for name, annotation in _annotations(owner).items():
        if name in props:
            yield from _of_value(f"{prefix}{name}", props[name], annotation)


@cache
def _annotations(owner: Callable[..., object]) -> Mapping[str, Any]:
    has_initialiser = isinstance(owner, type) and not is_dataclass(owner)
    return get_type_hints(vars(owner)["__init__"] if has_initialiser else owner)


def _of_value(path: str, value: object, annotation: Any) -> list[Finding]:
    findings = _inside(path, value, annotation)
    if findings is not None:
        return findings
    message = f"`{path}` is {_text(value)}: it must be {_words(annotation)}"
    return [Finding(code="FL112", message=message, hint=_remedy(value, annotation), file=Path(path))]


def _inside(path: str, value: object, annotation: Any) -> list[Finding] | None:
    """Findings about what is inside a value; None where the value itself has another type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (object, Any) or value is UNSET:
        return []
    if origin in (Union, UnionType):
        if isinstance(value, Mapping) and (structs := [member for member in arguments if _is_struct(member)]):
            arguments = tuple(structs)
        members = [_inside(path, value, member) for member in arguments]
        return min((findings for findings in members if findings is not None), key=len, default=None)
    if origin is Literal:  # the spec checks the word itself
        return [] if isinstance(value, tuple(map(type, arguments))) else None
    if origin is Callable:
        return [] if callable(value) else None
    if origin is Mapping:
        return list(_of_mapping(path, value, *arguments)) if isinstance(value, Mapping) else None
    if origin in (Sequence, tuple):
        if isinstance(value, str) or not isinstance(value, Sequence):
            return None
        return [
            finding
            for index, item in enumerate(value)
            for finding in _of_value(f"{path}[{index}]", item, arguments[0])
        ]
    if annotation in (int, float):  # a whole number that is a token is a float
        return [] if isinstance(value, int | float) and not isinstance(value, bool) else None
    if _is_struct(annotation) and isinstance(value, Mapping):
        return list(_of_struct(path, value, annotation))
    if not any(_is_instance(side, annotation) for side in getattr(value, "_delegates", [value])):
        return None
    return list(_of_props(type(value), vars(value), f"{path}.")) if is_dataclass(annotation) else []


def _of_mapping(
    path: str, mapping: Mapping[object, object], key_annotation: Any, annotation: Any
) -> Iterator[Finding]:
    for key, value in mapping.items():
        place = f"{path}.{key}"
        if get_origin(key_annotation) is Literal and key not in get_args(key_annotation):
            hint = did_you_mean(str(key), get_args(key_annotation))
            yield Finding(code="FL110", message=f"unknown key `{place}`", hint=hint, file=Path(place))
        elif not isinstance(key, str):
            message = f"`{path}` has the key {_text(key)}: it must be text"
            yield Finding(code="FL112", message=message, hint=_remedy(key, str), file=Path(place))
        else:
            yield from _of_value(place, value, annotation)


def _of_struct(path: str, values: Mapping[str, object], struct: Callable[..., object]) -> Iterator[Finding]:
    """Findings about keys that stand for a struct of the CDK, which checks them itself."""
    try:
        struct(**values)
    except TypeError as error:
        yield Finding(code="FL112", message=f"`{path}`: {error}", file=Path(path))


def _is_struct(annotation: Any) -> bool:
    """Whether a type is a struct of the CDK, for which its arguments by name may stand."""
    return hasattr(annotation, "__jsii_struct_bases__")


def _is_instance(value: object, annotation: Any) -> bool:
    if not getattr(annotation, "_is_protocol", False):
        return isinstance(value, annotation)
    # An interface of the CDK is a protocol, of which Python cannot ask for instances.
    members = {name for base in annotation.__mro__ for name in vars(base) if not name.startswith("_")}
    own = getattr(value, "__dict__", {})
    return all(hasattr(type(value), member) or member in own for member in members)


def _text(value: object) -> str:
    """A value in a message: what is short as it is, else its type."""
    if is_token(value):
        return "a token"
    if value is None or isinstance(value, str | int | float):
        text = f'"{value}"' if isinstance(value, str) else str(value)
        return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return f"a {type(value).__name__}"


def _words(annotation: Any) -> str:
    """The types that a value may have: `text, a Path or a FleetEnvironment`."""
    words = list(dict.fromkeys(_word(member) for member in _members(annotation)))
    *first_words, last_word = words
    return f"{', '.join(first_words)} or {last_word}" if first_words else last_word


def _members(annotation: Any) -> list[Any]:
    """The types of a union but that of None; another type alone."""
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return [member for member in members if member is not NoneType]


def _word(annotation: Any) -> str:
    origin = get_origin(annotation) or annotation
    if origin in (Sequence, tuple):
        (item, *_) = get_args(annotation)
        return f"a list of {item.__name__}" if isinstance(item, type) and item not in _WORDS else "a list"
    if origin is Literal:
        return "text"
    return _WORDS.get(origin) or f"{'an' if origin.__name__[0] in 'AEIOU' else 'a'} {origin.__name__}"


def _remedy(value: object, annotation: Any) -> str:
    for member in _members(annotation):
        if member in (str, int, float) and is_token(value):
            return f"write `Token.as_{'string' if member is str else 'number'}(...)`"
        if member is str and isinstance(value, int | float):
            return f'put it in quotes, "{value}"'
        if get_origin(member) is Sequence and _inside("", value, get_args(member)[0]) == []:
            return "put it in a list"
        if isinstance(member, type) and is_dataclass(member):
            keys = ", with its keys as arguments" if isinstance(value, Mapping) else ""
            return f"write `{member.__name__}(...)`{keys}"
    return ""
