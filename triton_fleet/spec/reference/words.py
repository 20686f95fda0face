"""Words for the values of a key, from its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import TypeAdapter

from triton_fleet.spec.access import BoundaryArn, GitHubProvider, GitLabProvider, KeyArn, RoleArn
from triton_fleet.spec.engine import Shape
from triton_fleet.spec.instance import InstanceType
from triton_fleet.spec.monitoring import WholeShare
from triton_fleet.spec.policy import Day, Pattern
from triton_fleet.spec.values import Bytes, Digest, Milliseconds, ModelName, Name, Seconds, Share

Schema: TypeAlias = Mapping[str, Any]
BOUNDLESS = 10**9
"""From here on a maximum is that of the number's type, or never reached."""


@dataclass(frozen=True)
class TextForm:
    """Texts of one form: what they are called, how they are written, and the types that read them."""

    word: str
    form: str
    types: tuple[Any, ...]


KINDS = (
    TextForm("duration", "a whole number of seconds, minutes or hours: `600s`, `10m`, `1h`", (Seconds,)),
    TextForm("time", "a whole number of milliseconds or seconds: `200ms`, `2s`", (Milliseconds,)),
    TextForm("size", "a whole number of KiB, MiB or GiB: `512MiB`, `4GiB`", (Bytes,)),
    TextForm("share", "above 0% and up to 100%: `50%`, `0.5%`", (Share, WholeShare)),
    TextForm("day", "year, month and day: `2027-03-31`", (Day,)),
    TextForm("pattern", "a name in which `*` stands for any text: `ml.g5.*`", (Pattern,)),
    TextForm("name", "letters, digits and inner hyphens, at most 63: `model-zoo`", (Name,)),
    TextForm("model name", "letters, digits, `.`, `_` and `-`: `inception_v1`", (ModelName,)),
    TextForm("instance type", "as SageMaker names it: `ml.g5.xlarge`", (InstanceType,)),
    TextForm("digest", "`sha256:` and 64 hexadecimal digits", (Digest,)),
    TextForm("shape", "dimensions of 1 or more, the batch's first: `16x3x224x224`", (Shape,)),
    TextForm(
        "ARN",
        "the Amazon resource name",
        (KeyArn, BoundaryArn, RoleArn, GitHubProvider, GitLabProvider),
    ),
)
_WORDS = {TypeAdapter(type_).json_schema()["pattern"]: kind.word for kind in KINDS for type_ in kind.types}
_PLAIN = {"string": "text", "boolean": "`true` or `false`", "integer": "whole number", "number": "number"}


def resolve_reference(schema: Schema, root: Schema) -> Schema:
    """A schema itself, where a reference into `root` may stand."""
    return root["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def alternatives(schema: Schema) -> list[Schema]:
    """The forms that a value may have, except null."""
    forms = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return [form for form in forms if form.get("type") != "null"]


def values_of(schema: Schema) -> Schema | None:
    """The schema of a free mapping's values; None of anything else, and where they hold anything."""
    for values in (*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")):
        if isinstance(values, Mapping):
            return values
    return None


def words(schema: Schema, root: Schema) -> str:
    """The accepted values, such as "list of names, at most 16"."""
    forms = [resolve_reference(form, root) for form in alternatives(schema)]
    if len(forms) == 1 and forms[0] is not schema:
        return words(forms[0], root)
    if len(forms) > 1:
        return ", or ".join(
            _written_out(form) if "properties" in form else words(form, root) for form in forms
        )
    limits = _limits(schema)
    return f"{_kind(schema, root)}, {limits}" if limits else _kind(schema, root)


def _kind(schema: Schema, root: Schema) -> str:
    if "enum" in schema:
        *first, last = (f"`{value}`" for value in schema["enum"])
        return f"{', '.join(first)} or {last}" if first else last
    if not isinstance(schema["type"], str):
        return "element, or list of elements"
    if schema["type"] == "array":
        many = f"{schema['minItems']} " if schema.get("minItems") == schema.get("maxItems", 0) else ""
        return f"list of {many}{_plural(schema['items'], root)}"
    if schema["type"] == "object":
        values = values_of(schema)
        return "mapping" if values is None else f"mapping to {_plural(values, root)}"
    return _WORDS.get(schema.get("pattern"), _PLAIN[schema["type"]])


def _plural(schema: Schema, root: Schema) -> str:
    forms = [resolve_reference(form, root) for form in alternatives(schema)]
    if len(forms) > 1:
        return "elements"
    kind = _kind(forms[0], root)
    return kind if "enum" in forms[0] or kind.startswith(("list", "mapping to")) else f"{kind}s"


def _limits(schema: Schema) -> str:
    if schema.get("maxItems") is not None and schema["maxItems"] != schema.get("minItems"):
        return f"at most {schema['maxItems']}"
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    maximum = None if maximum is None or maximum >= BOUNDLESS else maximum
    if "exclusiveMinimum" in schema:
        above = f"above {schema['exclusiveMinimum']}"
        return above if maximum is None else f"{above}, up to {maximum}"
    if minimum is None:
        return ""
    return f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"


def _written_out(schema: Schema) -> str:
    return "`{" + ", ".join(f"{key}: …" for key in schema["properties"]) + "}`"
