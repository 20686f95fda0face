"""The keys of a spec of which `null` is a value; of all others it takes away what a layer below has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.source import KeyPath


@cache
def takes_null(path: KeyPath) -> bool:
    """Whether `null` stays at a key of a spec: as its value, or because the key is unknown and is refused."""
    types: list[Any] = [EndpointSpec]
    for part in path:
        types = [inner for each in types for inner in _below(each, part)]
    return not types or any(each in (NoneType, object) for each in types)


def _below(annotation: Any, part: str | int) -> Iterator[Any]:
    """The types of what a mapping or list of this type has at a key or index."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        yield from _alternatives(field.annotation) if field else ()
    elif get_origin(annotation) in (dict, tuple) and (inner := get_args(annotation)):
        yield from _alternatives(inner[1] if get_origin(annotation) is dict else inner[0])


def _alternatives(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in (Union, UnionType):
        for argument in get_args(annotation):
            yield from _alternatives(argument)
    elif get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    else:
        yield annotation
