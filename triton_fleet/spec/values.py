"""Values that specs and environments share, the tags of services, and the descriptions of keys."""

from __future__ import annotations

import ast
import inspect
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)


class Mistake(ValueError):
    """A problem of a value, and the hint against it.

    `below` leads from what is validated to the value that is meant: keys and indexes.
    """

    def __init__(self, problem: str, hint: str, below: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem)
        self.hint, self.below = hint, below


UNITS = {"s": 1, "m": 60, "h": 3600}
DURATION = re.compile(r"([0-9]{1,9})([smh])")


class Document(BaseModel):
    """The base of every object of a file: frozen, no unknown keys, no silent conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def fits(pattern: re.Pattern[str], problem: str, hint: str) -> AfterValidator:
    """The validator of a text that has to match."""

    def validate(value: str) -> str:
        if not pattern.fullmatch(value):
            raise Mistake(problem, hint)
        return value

    return AfterValidator(validate)


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that occurs twice."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def require_unique(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, each once.

    Raises:
        ValueError: one occurs twice.
    """
    if name := first_duplicate(names):
        raise ValueError(f"{name!r} is listed twice")
    return names


def _seconds(value: object) -> object:
    match = DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("write a whole number and a unit: `600s`, `10m` or `1h`")
    return int(match[1]) * UNITS[match[2]]


Seconds = Annotated[
    int,
    BeforeValidator(_seconds),
    PlainSerializer(lambda seconds: f"{seconds}s", return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": f"^{DURATION.pattern}$", "examples": ["600s", "10m", "1h"]}),
]
"""A duration in seconds, written with its unit: `600s`, `10m`, `1h`."""

BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_SIZE = re.compile(r"([0-9]{1,9})(KiB|MiB|GiB)")


def _bytes(value: object) -> object:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("write a whole number and a unit: `512MiB` or `4GiB`")
    return int(match[1]) * BYTES[match[2]]


def _in_bytes(size: int) -> str:
    unit = max((unit for unit in BYTES if size % BYTES[unit] == 0), key=BYTES.__getitem__)
    return f"{size // BYTES[unit]}{unit}"


Bytes = Annotated[
    int,
    BeforeValidator(_bytes),
    PlainSerializer(_in_bytes, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": f"^{_SIZE.pattern}$", "examples": ["512MiB", "4GiB"]}),
]
"""A size in bytes, written with its unit: `512MiB`, `4GiB`."""

Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""A number of things, at least one, that a 32-bit integer holds."""

Percent = Annotated[float, Field(gt=0, le=100)]
"""A share of 100."""

_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%")


def _share(value: object) -> object:
    match = _SHARE.fullmatch(value) if isinstance(value, str) else None
    if match is None or not 0 < float(match[1]) <= 100:
        raise ValueError("write a number above 0 and up to 100 with its sign: `50%`")
    return float(match[1])


Share = Annotated[
    float,
    BeforeValidator(_share),
    PlainSerializer(lambda share: f"{share:.15g}%", return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": f"^{_SHARE.pattern}$", "examples": ["50%", "1%"]}),
]
"""A share of 100, written with its sign: `50%`."""

_LATENCY = re.compile(r"([0-9]{1,9})(ms|s)")


def _milliseconds(value: object) -> object:
    match = _LATENCY.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match[1]):
        raise ValueError("write a whole number and a unit: `200ms` or `2s`")
    return int(match[1]) * (1000 if match[2] == "s" else 1)


Milliseconds = Annotated[
    int,
    BeforeValidator(_milliseconds),
    PlainSerializer(lambda time: f"{time}ms", return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": f"^{_LATENCY.pattern}$", "examples": ["200ms", "2s"]}),
]
"""A short time in milliseconds, written with its unit: `200ms`, `2s`."""

Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
"""A text that paths, variables and arguments of a process can hold: one without a NUL."""

DYNAMIC = "{{resolve:"
"""How CloudFormation's dynamic references begin, in whose place it puts what is stored, in any property."""

NAME_LENGTH = 63
Name = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$", max_length=NAME_LENGTH)]
"""A name as SageMaker takes it: letters, digits and inner hyphens, at most 63."""

ModelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", max_length=255)]
"""A model directory's name; Triton's container splits its settings on white space, so there is none."""

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""A SHA-256 digest in hexadecimal."""


def hexadecimal(digest: str) -> str:
    """A digest as it stands in keys, without its algorithm."""
    return digest.removeprefix("sha256:")


_SIGNS = frozenset("_.:/=+-@")


def _plain(text: str) -> str:
    for character in text:
        if character not in _SIGNS and unicodedata.category(character)[0] not in "LNZ":
            raise ValueError(
                f"{character!r} is not allowed in a tag, which has letters, digits, spaces and _.:/=+-@"
            )
    return text


def _require_free_key(key: str) -> str:
    if key.lower().startswith(("aws:", "triton-fleet:")):
        raise ValueError("tags that begin with `aws:` or `triton-fleet:` are reserved")
    return key


TagKey = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    AfterValidator(_plain),
    AfterValidator(_require_free_key),
]
TagValue = Annotated[str, StringConstraints(max_length=256), AfterValidator(_plain)]
Tags = dict[TagKey, TagValue]


@cache
def descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """The description of each field that has one, those of the classes that it extends included."""
    texts = dict[str, str]()
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            texts |= _own(base)
    return texts


def _own(model: type[BaseModel]) -> Mapping[str, str]:
    tree = ast.parse(dedent(inspect.getsource(model))).body[0]
    texts = dict[str, str]()
    for field, text in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = inspect.cleandoc(words)
    return texts
