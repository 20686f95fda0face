"""Calls that a deployed endpoint has to answer, and what its answers have to be."""

from __future__ import annotations

from math import prod
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from triton_fleet.spec.datatypes import Datatype
from triton_fleet.spec.values import DYNAMIC, Document, ModelName, Name

ANY_SIZE = -1
OK = 200
TARGET_SUFFIX = ".tar.gz"


def _model_name(name: object) -> object:
    if isinstance(name, str) and name.endswith(TARGET_SUFFIX):
        raise ValueError(
            f"write the archive's name, `{name.removesuffix(TARGET_SUFFIX)}`: its target follows from it"
        )
    return name


ArchiveName = Annotated[Name, BeforeValidator(_model_name)]
"""An archive of `models`, not the TargetModel that it is called by."""
TypeName = Annotated[Datatype, Field(strict=False)]


def _literal(value: object) -> object:
    """Texts that reach the check as they are; the values are part of a property in the template."""
    elements = value if isinstance(value, tuple) else flat(value)
    if any(isinstance(element, str) and DYNAMIC in element for element in elements):
        raise ValueError(f"CloudFormation would put a value in place of `{DYNAMIC}`, a secret perhaps")
    return value


TensorName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00]*$"),
    AfterValidator(_literal),
]


def _status(status: int) -> int:
    if status != OK and not (400 <= status <= 500 and status != 429):
        raise ValueError(
            "write 200, or a status with which the model refuses: 400 to 500 except 429, after which clients"
            " retry"
        )
    return status


def _data(data: object) -> object:
    if not isinstance(data, bool | int | float | str | list):
        raise ValueError("write a list of elements, or one that fills the whole shape")
    return _literal(data)


def _no_data(data: object) -> object:
    return None if data is None else _data(data)


_KINDS = ("boolean", "number", "string", "array")
Data = Annotated[object, AfterValidator(_data), WithJsonSchema({"type": _KINDS})]
PerhapsData = Annotated[object, AfterValidator(_no_data), WithJsonSchema({"type": (*_KINDS, "null")})]


class Input(Document):
    """A tensor to send."""

    datatype: TypeName
    """Data type, by its name in Triton's protocol, such as FP32, INT64 or BYTES (text)."""
    shape: tuple[Annotated[int, Field(ge=0, le=2**31 - 1)], ...] = Field(strict=False)
    """Size of each axis, including the batch."""
    data: Data
    """The elements in row-major order, nested or in one list; a single value fills the whole shape. "NaN",
    "Infinity" and "-Infinity" are accepted for floating point."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if isinstance(self.data, list):
            _check_shape(self.data, self.shape)
        _check_elements(self.data, self.datatype)
        return self


class Output(Document):
    """Expectations of an output tensor; those that are not given are not compared."""

    datatype: TypeName | None = None
    """Data type, by its name in Triton's protocol."""
    shape: Annotated[tuple[Annotated[int, Field(ge=-1, le=2**31 - 1)], ...], Field(strict=False)] | None = (
        None
    )
    """Size of each axis, including the batch; -1 for any size."""
    data: PerhapsData = None
    """The expected elements, written as for an input. "NaN" matches only NaN, and an infinity only itself."""
    first: (
        Annotated[
            tuple[bool | int | float | str, ...],
            Field(strict=False, min_length=1),
            AfterValidator(_literal),
        ]
        | None
    ) = None
    """In place of `data`: the first elements in row-major order; the others are not compared."""
    tolerance: Annotated[float, Field(ge=0)] | None = None
    """Maximum absolute difference of each element; required for floating point, 0 unless given for integers.
    BOOL and BYTES are compared exactly."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.data is not None and self.first is not None:
            raise ValueError("`first` replaces `data`: remove one of them")
        key, data = ("data", self.data) if self.first is None else ("first", list(self.first))
        if data is None:
            if self.tolerance is not None:
                raise ValueError("`tolerance` needs `data` or `first`, and there is neither")
            return self
        if self.datatype is None:
            raise ValueError(f"`{key}` needs a `datatype` to be compared")
        if isinstance(self.data, list):
            _check_shape(self.data, self.shape)
        whole = prod(self.shape) if self.shape and ANY_SIZE not in self.shape else None
        if self.first is not None and whole is not None and len(self.first) > whole:
            raise ValueError(f"`first` has {len(self.first)} elements, and `shape` {whole}")
        _check_elements(data, self.datatype, key)
        if self.datatype.is_float and self.tolerance is None:
            raise ValueError(
                f"`{key}` of floating point needs `tolerance`: GPU models compute it differently; write"
                " 0 if it has to be exact"
            )
        if self.tolerance is not None and self.datatype in (Datatype.BOOL, Datatype.BYTES):
            raise ValueError(f"{self.datatype} is compared exactly: leave out `tolerance`")
        return self


class Sample(Document):
    """One call after each deploy; an unexpected answer rolls back the deploy."""

    name: Name
    """Name in messages."""
    target: ArchiveName | None = None
    """Mode `multi-model`: the archive to call, by its name in `models`; a copy by `ARCHIVE-0`."""
    model: ModelName | None = None
    """Mode `shared-container`: the route to call; default: `default_model`."""
    version: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    """Mode `shared-container`: the version to call; default: the newest."""
    inputs: dict[TensorName, Input]
    """The tensors to send, by name."""
    outputs: dict[TensorName, Output] = Field(default_factory=dict)
    """The expected output tensors, by name; the answer may have others too."""
    status: Annotated[int, AfterValidator(_status)] = OK
    """The expected HTTP status; with any other than 200, such as 400, the model has to refuse the call."""

    @model_validator(mode="after")
    def _refused_without_outputs(self) -> Self:
        if self.status != OK and self.outputs:
            raise ValueError(f"an answer of status {self.status} has no outputs: leave out `outputs`")
        return self


def _check_shape(data: list[object], shape: tuple[int, ...] | None) -> None:
    """Check that data fits a shape: one list is elements in row-major order, nested ones have the shape.

    Raises:
        ValueError: it does not fit.
    """
    sizes = _list_shape(data)
    if shape is None:
        return
    if len(sizes) == 1 and len(shape) != 1:
        elements = prod(size for size in shape if size != ANY_SIZE)
        count = sizes[0]
        fits = (count % elements == 0 if elements else count == 0) if ANY_SIZE in shape else count == elements
        if not fits:
            needs = f"{elements} elements" if ANY_SIZE not in shape else f"a multiple of {elements} elements"
            raise ValueError(
                f"the shape {list(shape)} needs {needs}, and `data` has {count}; a single value"
                " fills the whole shape"
            )
        return
    if len(sizes) != len(shape) or any(
        ANY_SIZE != size != actual for size, actual in zip(shape, sizes, strict=True)
    ):
        raise ValueError(f"`data` has the shape {sizes}, and `shape` is {list(shape)}")


def _list_shape(data: list[object]) -> list[int]:
    """The shape of nested lists.

    Raises:
        ValueError: they are ragged.
    """
    lists = [item for item in data if isinstance(item, list)]
    if not lists:
        return [len(data)]
    below = _list_shape(lists[0])
    if len(lists) < len(data) or any(_list_shape(item) != below for item in lists[1:]):
        raise ValueError("`data` is ragged: all lists of one level must have the same length")
    return [len(data), *below]


def _check_elements(data: object, datatype: Datatype, key: str = "data") -> None:
    for element in flat(data):
        if problem := datatype.problem(element):
            text = repr(element) if isinstance(element, str) else str(element)
            raise ValueError(f"`{key}` has {text[:80]}, which {problem}: not {datatype}")


def flat(data: object) -> list[object]:
    """The elements of nested lists in row-major order; of one value, that value."""
    if not isinstance(data, list):
        return [data]
    return [element for item in data for element in flat(item)]
