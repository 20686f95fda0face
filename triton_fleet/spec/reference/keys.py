"""The keys of a file, one section for each mapping, from the JSON Schema that editors use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from triton_fleet.spec.reference.words import Schema, alternatives, resolve_reference, values_of, words

ANY_NAME = "NAME"
"""The name in a path for any key of a free mapping."""
_DEFAULT = re.compile(r"(?:; d|(?:^| )D)efault: (.+?)(?:\.(?: |$)|$)")
"""The words in which a description gives the default of its key."""


@dataclass(frozen=True)
class Key:
    """One key: what it takes, its default (None: it is required), its description."""

    path: str
    name: str
    takes: str
    default: str | None
    description: str
    has_section: bool


@dataclass(frozen=True)
class Section:
    """A mapping by its path, such as `scaling.schedules[]`; the file itself has an empty one."""

    path: str
    description: str
    keys: tuple[Key, ...]


def sections(schema: Schema) -> tuple[Section, ...]:
    """The file itself, then each mapping below it, in the order of the keys."""
    return tuple(_sections(schema, "", schema.get("description", ""), schema))


def anchor(path: str) -> str:
    """The end of a link to a key or a section: `scaling.schedules.at`."""
    return path.replace("[]", "").replace(f".{ANY_NAME}", "")


def default_text(description: str) -> str | None:
    """The default of a key, in the words of its description."""
    follows = _DEFAULT.search(" ".join(description.split()))
    return follows[1] if follows else None


def _sections(mapping: Schema, path: str, description: str, root: Schema) -> Iterator[Section]:
    keys, below = [], []
    for name, schema in mapping["properties"].items():
        own = f"{path}.{name}" if path else name
        inner = _mapping_in(schema, root)
        if inner is not None:
            below.append((inner[0], own + inner[1], _about(schema, inner[0])))
        keys.append(_key(own, name, schema, mapping, root))
    yield Section(path, description, tuple(keys))
    for section in below:
        yield from _sections(*section, root)


def _key(path: str, name: str, schema: Schema, mapping: Schema, root: Schema) -> Key:
    inner = _mapping_in(schema, root)
    text = " ".join(schema.get("description", "").split())
    follows = _DEFAULT.search(text)
    if follows:
        start, end = follows.span()
        text = " ".join(f"{text[:start].rstrip('.')}. {text[end:]}".split()).lstrip(". ")
    if inner and not text:
        text = " ".join(inner[0].get("description", "").split())
    is_required = name in mapping.get("required", ())
    default = None if is_required else follows[1] if follows else _default(schema, inner is not None)
    return Key(path, name, words(schema, root), default, text, inner is not None)


def _about(schema: Schema, inner: Schema) -> str:
    """The beginning of a section: of the key's own sentence and its type's, the one that the table lacks."""
    return inner.get("description", "") if schema.get("description") else ""


def _mapping_in(schema: Schema, root: Schema) -> tuple[Schema, str] | None:
    """The mapping that a key holds, and what its path has behind the key's; None where it holds none."""
    forms = [resolve_reference(form, root) for form in alternatives(schema)]
    if len(forms) != 1:
        return None
    if "properties" in forms[0]:
        return forms[0], ""
    values = values_of(forms[0])
    inner, suffix = (forms[0]["items"], "[]") if "items" in forms[0] else (values, f".{ANY_NAME}")
    mapping = None if inner is None else _mapping_in(inner, root)
    return None if mapping is None else (mapping[0], suffix + mapping[1])


def _default(schema: Schema, is_mapping: bool) -> str:
    value = schema.get("default")
    if value is None or value in ([], {}):
        return "none"
    if is_mapping:
        return "those of its keys"
    return f"`{_flow(value)}`"


def _flow(value: Any) -> str:
    """A default on one line, as a spec would have it, without what is null in it."""
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if item is not None}
    text = yaml.safe_dump([value], default_flow_style=True, width=10_000, sort_keys=False)
    return text.strip().removeprefix("[").removesuffix("]")
