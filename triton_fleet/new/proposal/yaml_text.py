"""A proposed spec as YAML, with its reasons as comments; and a copy of another spec."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TypeGuard

import yaml

from triton_fleet.project.project import LoadedSpec
from triton_fleet.project.reader import is_text
from triton_fleet.spec.source import KeyPath


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key at the top of the spec.

    Attributes:
        value: As the spec's reader has it: text, numbers, lists and mappings.
        reasons: Sentences that stand above it.
        why_items: Of a list: sentences above its items, by their number.
    """

    name: str
    value: object
    reasons: tuple[str, ...] = ()
    why_items: Mapping[int, tuple[str, ...]] | None = None


WIDTH = 110
PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./-]*")
"""Text that needs no quotes, unless it would be read as something else."""


def render_spec(schema: str, head: Sequence[str], keys: Iterable[Key], foot: Sequence[str]) -> str:
    """The file: paragraphs as comments at its head and its foot, and each key below its reasons.

    `schema` is the path by which editors find the JSON Schema from the file's folder.
    """
    lines = [f"# yaml-language-server: $schema={schema}", *_comments(head)]
    for key in keys:
        lines += _comments(key.reasons)
        lines += _key(key)
    return "\n".join([*lines, *_comments(foot), ""])


def scalar(value: object) -> str:
    """A single value; text in quotes where the spec's reader would read it as something else."""
    if isinstance(value, str) and not (PLAIN.fullmatch(value) and is_text(value)):
        return json.dumps(value, ensure_ascii=False)
    return str(value) if isinstance(value, str) else json.dumps(value)


def _key(key: Key) -> Iterator[str]:
    if not _is_block(key.value):
        yield f"{key.name}: {_flow(key.value)}"
        return
    yield f"{key.name}:"
    for number, item in enumerate(key.value):
        yield from _comments((key.why_items or {}).get(number, ()), "  ")
        yield from _item(item, "  ")


def _item(item: Mapping[str, object], indent: str) -> Iterator[str]:
    """One mapping of a list: in a line of its own, or in several where it holds a list of mappings."""
    line = f"{indent}- {_flow(item)}"
    if len(line) <= WIDTH and not any(map(_is_block, item.values())):
        yield line
        return
    dash = "- "
    for name, value in item.items():
        if _is_block(value):
            yield f"{indent}{dash}{name}:"
            for inner in value:
                yield from _item(inner, f"{indent}    ")
        else:
            yield f"{indent}{dash}{name}: {_flow(value)}"
        dash = "  "


def _is_block(value: object) -> TypeGuard[list[dict[str, object]]]:
    """Whether it is written as a list of mappings, each from a line of its own on."""
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(name)}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value)


def _comments(sentences: Sequence[str], indent: str = "") -> Iterator[str]:
    """Each sentence from a line of its own on; one that begins with `- ` is an item of a list."""
    for sentence in sentences:
        later = f"{indent}#   " if sentence.startswith("- ") else f"{indent}# "
        text = " ".join(sentence.split())
        yield from wrap(
            text,
            WIDTH,
            initial_indent=f"{indent}# ",
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )


def copied_spec(original: LoadedSpec, name: str) -> str:
    """The text of a spec with a new endpoint's name; comments, order and repositories stay.

    An archive that is called as its endpoint gets the new name as well, and so does what names the archive.

    Args:
        original: The other endpoint.
        name: The new endpoint's.
    """
    text = original.source.file.read_text(encoding="utf-8-sig")
    targets = _targets(original, name)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for path, node in sorted(_scalars(root, ()), key=lambda entry: -entry[1].start_mark.index):
        if (new := _rename_value(path, node.value, original.spec.endpoint, name, targets)) is not None:
            text = text[: node.start_mark.index] + scalar(new) + text[node.end_mark.index :]
    return text


def _targets(original: LoadedSpec, name: str) -> Mapping[str, str]:
    """The new names of archives, by the old ones; those of copies one by one."""
    targets = dict[str, str]()
    for index, archive in enumerate(original.spec.models):
        if archive.archive == original.spec.endpoint:
            new = archive.model_copy(update={"archive": name})
            pairs = zip(archive.packed_archives(index), new.packed_archives(index), strict=True)
            targets |= {old.name: copy.name for old, copy in pairs}
    return targets


def _rename_value(path: KeyPath, value: str, old: str, name: str, targets: Mapping[str, str]) -> str | None:
    """The new value in place of one; None where it stays."""
    match path:
        case ("endpoint",):
            return name
        case ("models", int(), "archive") if value == old:
            return name
        case ("warm", int()) | ("samples", int(), "target"):
            return targets.get(value)
        case _:
            return None


def _scalars(node: yaml.Node | None, path: KeyPath) -> Iterator[tuple[KeyPath, yaml.ScalarNode]]:
    """The single values of a document, with where they stand."""
    match node:
        case yaml.ScalarNode():
            yield path, node
        case yaml.MappingNode():
            for key, value in node.value:
                yield from _scalars(value, (*path, key.value))
        case yaml.SequenceNode():
            for index, value in enumerate(node.value):
                yield from _scalars(value, (*path, index))
