"""The constraints of botocore's own model of SageMaker on a value: its shape, its bounds, its enums.

boto3 has checked types and lower bounds of its own requests; nothing has checked a template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from botocore.model import ListShape, ServiceModel, Shape, StringShape, StructureShape
from botocore.session import Session
from botocore.validate import ParamValidator
from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.utils import arn_formatter

_READ: Mapping[str, Callable[[str], object]] = {
    "integer": int,
    "float": float,
    "boolean": {"true": True, "false": False}.__getitem__,
}
"""How text becomes a value of a type."""


@cache
def service_model() -> ServiceModel:
    """SageMaker as this version of botocore knows it."""
    return Session().get_service_model("sagemaker")


def require_shape(name: str, value: Any, path: str) -> None:
    """Refuse a value that is not of the shape; `path` is its place in the request.

    Raises:
        ValidationError: enums and upper bounds are worded as by AWS, everything else as by botocore.
    """
    shape = service_model().shape_for(name)
    report = ParamValidator().validate(value, shape)
    if report.has_errors():
        raise ValidationError(f"1 validation error detected: {path}: {report.generate_report()}")
    for place, held, constraint in _violations(shape, value, path):
        raise ValidationError(
            f"1 validation error detected: Value '{held}' at '{place}' failed to satisfy constraint: "
            f"{constraint}"
        )


def as_shape(name: str, value: Any) -> Any:
    """A template's value as the API takes it: CloudFormation reads numbers and `true` from text."""
    return _as_shape(service_model().shape_for(name), value)


def _as_shape(shape: Shape, value: Any) -> Any:
    if isinstance(shape, StructureShape) and isinstance(value, dict):
        known = shape.members
        return {key: _as_shape(known[key], each) if key in known else each for key, each in value.items()}
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [_as_shape(shape.member, each) for each in value]
    read = _READ.get(shape.type_name)
    if read is None or not isinstance(value, str):
        return value
    try:
        return read(value)
    except (KeyError, ValueError):
        return value


def _violations(shape: Shape, value: Any, path: str) -> Iterator[tuple[str, Any, str]]:
    if isinstance(shape, StructureShape):
        for name in value:
            below = f"{path}.{name[0].lower()}{name[1:]}".removeprefix(".")
            yield from _violations(shape.members[name], value[name], below)
    elif isinstance(shape, ListShape):
        if len(value) > shape.metadata.get("max", len(value)):
            most = shape.metadata["max"]
            yield path, len(value), f"Member must have length less than or equal to {most}"
        for number, each in enumerate(value, 1):
            yield from _violations(shape.member, each, f"{path}.{number}.member")
    elif isinstance(shape, StringShape):
        if len(value) > shape.metadata.get("max", len(value)):
            most = shape.metadata["max"]
            yield path, value, f"Member must have length less than or equal to {most}"
        if shape.enum and value not in shape.enum:
            yield path, value, f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
    elif shape.type_name == "integer" and value > shape.metadata.get("max", value):
        yield path, value, f"Member must have value less than or equal to {shape.metadata['max']}"


V = TypeVar("V")


class Names(dict[str, V]):
    """Resources by their names, found in any case; values know how their names were spelled."""

    def __getitem__(self, name: str) -> V:
        return super().__getitem__(name.lower())

    def __setitem__(self, name: str, value: V) -> None:
        super().__setitem__(name.lower(), value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def get(self, name: str, default: Any = None) -> Any:
        """The resource, or the default."""
        return super().get(name.lower(), default)

    def pop(self, name: str, *default: Any) -> Any:
        """Remove the resource."""
        return super().pop(name.lower(), *default)


def arn_of(kind: str, name: str, account: str, region: str) -> str:
    """The ARN of a model, an endpoint configuration or an endpoint, with its name in lower case."""
    return arn_formatter(kind, name.lower(), account, region)
