"""The raw CloudFormation properties of a spec, however they are spelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triton_fleet.catalog.properties import is_index
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.source import KeyPath

DEEPEST = 32
"""No property is deeper; a path of one key may be as long as a file."""
KEY = len(("cloudformation", "resource", "key"))
"""So long is the path of a key that is a whole path in the template; others stand below one."""


@dataclass(frozen=True)
class RawProperty:
    """A raw property of a resource, or a mapping or list of them.

    Attributes:
        path: Its keys as they stand in the spec, from `cloudformation` on.
        parts: The names and indices on its path in the template.
        value: What is laid over the template.
    """

    path: KeyPath
    parts: tuple[str, ...]
    value: object

    @property
    def name(self) -> str:
        """The path in the template, such as `ProductionVariants.0.InferenceAmiVersion`."""
        return ".".join(self.parts)

    @property
    def general(self) -> str:
        """Its name with `*` for each index."""
        return ".".join("*" if is_index(part) else part for part in self.parts)

    @property
    def takes_out(self) -> bool:
        """Whether it removes a property; CDK passes over an empty value that stands below another key."""
        return self.value is None and len(self.path) == KEY

    def is_item(self, depth: int) -> bool:
        """Whether the part of that depth, from 0, counts the items of a list that the spec writes as one."""
        below_key = depth - (len(self.parts) - len(self.path))
        return below_key >= KEY and isinstance(self.path[below_key], int)


def raw_properties(spec: EndpointSpec, resource: str) -> Iterator[RawProperty]:
    """All raw properties of a resource, each mapping and list before what is in it.

    A spec may write one path with dots, keys inside keys, or lists; CDK divides only the first key at dots.
    The argument of an intrinsic function such as `Ref` is not a property.
    """
    for key, value in spec.cloudformation.get(resource, {}).items():
        parts = path_names(key)
        if len(parts) > DEEPEST:  # no such property: what is below it is none either
            yield RawProperty(("cloudformation", resource, key), parts[: DEEPEST + 1], None)
        else:
            yield from _with_inner(RawProperty(("cloudformation", resource, key), parts, value))


def path_names(path: str) -> tuple[str, ...]:
    """The names of a path as CDK divides it, at periods; a backslash makes the next character part of a name.

    Source: splitOnPeriods in core/lib/cfn-resource.js of aws-cdk-lib, compared by a test.
    """
    names, characters = [""], iter(path)
    for character in characters:
        if character == ".":
            names.append("")
        else:
            names[-1] += next(characters, "\\") if character == "\\" else character
    return tuple(names)


def is_intrinsic(value: object) -> bool:
    """Whether CloudFormation computes the value: a mapping with one key, `Ref` or `Fn::…`."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    (key,) = map(str, value)
    return key == "Ref" or key.startswith("Fn::")


def properties_at(spec: EndpointSpec, resource: str, path: str) -> Iterator[RawProperty]:
    """The raw properties that decide the value at a path, such as `ProductionVariants.*.InstanceType`.

    The outermost at or below it, and what CloudFormation computes in place of it or of what it is in.
    """
    target, paths = path.split("."), set[KeyPath]()
    for raw in raw_properties(spec, resource):
        is_function = [_computes(part) for part in raw.parts]
        names = raw.parts[: is_function.index(True)] if any(is_function) else raw.parts
        place = ["*" if is_index(part) and "*" in target else part for part in names]
        is_computed = any(is_function) or is_intrinsic(raw.value)
        if place[: len(target)] == target or (is_computed and target[: len(place)] == place):
            if raw.path[:-1] not in paths:
                yield raw
            paths.add(raw.path)


def computes(raw: RawProperty) -> bool:
    """Whether CloudFormation computes the property, or what it is in."""
    return is_intrinsic(raw.value) or any(map(_computes, raw.parts))


def _computes(part: str) -> bool:
    return part == "Ref" or part.startswith("Fn::")


def _with_inner(raw: RawProperty) -> Iterator[RawProperty]:
    yield raw
    inner: list[tuple[str | int, object]] = []
    if isinstance(raw.value, Mapping) and not is_intrinsic(raw.value):
        inner = list(raw.value.items())
    elif isinstance(raw.value, list | tuple):
        inner = list(enumerate(raw.value))
    for key, value in inner:
        yield from _with_inner(RawProperty((*raw.path, key), (*raw.parts, str(key)), value))
