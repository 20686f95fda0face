"""A proposed spec as YAML, with its reasons as comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TypeGuard

from triton_fleet.new.proposal.key import Key
from triton_fleet.project.reader import plain_value

WIDTH = 110
PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./-]*")
"""Text that needs no quotes, unless it would be read as something else."""


def render_spec(schema: str, head: Sequence[str], keys: Iterable[Key], foot: Sequence[str]) -> str:
    """The file: paragraphs as comments at its head and its foot, and each key below its reasons.

    `schema` is the path by which editors find the JSON Schema from the file's folder.
    """
    lines = [f"# yaml-language-server: $schema={schema}", *_comments(head)]
    for key in keys:
        lines += _comments(key.why)
        lines += _key(key)
    return "\n".join([*lines, *_comments(foot), ""])


def scalar(value: object) -> str:
    """A single value; text in quotes where the spec's reader would read it as something else."""
    if isinstance(value, str) and not (PLAIN.fullmatch(value) and _is_text(value)):
        return json.dumps(value, ensure_ascii=False)
    return str(value) if isinstance(value, str) else json.dumps(value)


def _is_text(value: str) -> bool:
    try:
        return plain_value(value) == value
    except ValueError:
        return False


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
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(name)}: {_flow(each)}" for name, each in value.items()) + "}"
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
