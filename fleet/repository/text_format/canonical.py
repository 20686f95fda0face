"""The canonical form of a config.pbtxt: one text for each message, whatever spelling it comes in.

Fields stand in the order in which Triton's schema declares them, and repeated ones and maps in their own;
nothing that is written is left out, neither values that are the default anyway nor comments. A comment stays
with the field that it stands above or beside. At the top of the file stays what a blank line parts from the
first field, or what speaks of a licence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleet.repository.text_format.layout import Layout
from fleet.repository.text_format.tokens import Comment, PbtxtError
from fleet.repository.text_format.tree import Tree, parse
from fleet.repository.text_format.verdict import parse_config

LICENCE = re.compile(r"copyright|licen[cs]e|spdx-", re.IGNORECASE)


def canonical(content: bytes) -> str:
    """The file in canonical form, with a newline at its end; empty if it says nothing.

    Raises:
        PbtxtError: protobuf refuses the file, or it is not in UTF-8, which Triton would take.
    """
    descriptor = parse_config(content).DESCRIPTOR
    _check_utf_8(content)
    tree = parse(content)
    layout = Layout()
    if header := _header(tree):
        layout.comments(header, 0)
        layout.blank()
        first = tree.root.fields[0]
        first.above = first.above[len(header) :]
    layout.message(tree.root, descriptor, 0)
    _part_licence(layout.lines)
    return "".join(f"{line}\n" for line in layout.lines)


def _check_utf_8(content: bytes) -> None:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PbtxtError(line, f"byte 0x{content[error.start]:02x} is not UTF-8") from error


def _header(tree: Tree) -> Sequence[Comment]:
    """What stands above the first field and is not about it."""
    if not tree.root.fields:
        return ()
    first = tree.root.fields[0]
    above = [each for each in first.above if each.end <= first.at]
    if not above or tree.content.count(b"\n", above[-1].end, first.at) > 1:
        return above
    start = max(number for number, each in enumerate(above) if each.is_parted or number == 0)
    return above if any(LICENCE.search(each.text) for each in above[start:]) else above[:start]


def _part_licence(lines: list[str]) -> None:
    """A licence may have come to the top with the field that it stood above."""
    field = next((number for number, line in enumerate(lines) if line and not line.startswith("#")), 0)
    for line in reversed(lines[:field]):
        if not line:
            break
        if LICENCE.search(line):
            lines.insert(field, "")
            break
