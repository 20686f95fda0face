"""The commands that the documentation shows: in blocks, which a user types, and in sentences, which name them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from tests.support.fleet_folder import ROOT

SHELL_LANGUAGES = ("", "sh", "bash")
"""Languages of blocks that hold commands alone; an indented block is one without a language."""
PROGRAMS = ("aws", "cdk", "fleet", "make", "npx", "pytest", "python")
"""What a command in a sentence begins with."""
FENCE = re.compile(r"```(\S*)")
HERE_DOCUMENT = re.compile(r"<<'(\w+)'$")
STEP = re.compile(r"\s*- run: (.*)")
COMMAND_IN_TEXT = re.compile(rf"`((?:{'|'.join(PROGRAMS)})\s[^`]+)`")


@dataclass(frozen=True)
class DocumentedCommand:
    """A command and where it stands; `shown` is the output below it, None where none is shown.

    `text` has the lines of a here-document, if it reads one; `section` is the heading of level 2 above it.
    """

    page: str
    line: int
    text: str
    output: str | None = None
    section: str = ""

    @property
    def bare(self) -> str:
        """The command without its comment, and without the here-document that it reads."""
        return re.sub(r"\s+# .*", "", self.text.partition("\n")[0])

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: `{self.bare}`"


@dataclass(frozen=True)
class Block:
    """The lines of a fenced or indented block; `line` is the first one's number in the page."""

    section: str
    language: str
    line: int
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """A Markdown file's commands."""

    name: str
    commands: list[DocumentedCommand]
    mentions: list[DocumentedCommand]


def read_pages() -> list[Page]:
    """README.md, what contributors read, and the pages of docs/ and of examples/."""
    patterns = ("README.md", "CONTRIBUTING.md", "tests/README.md", "docs/**/*.md", "examples/*/README.md")
    files = [file for pattern in patterns for file in sorted(ROOT.glob(pattern))]
    return [read_page(file.relative_to(ROOT).as_posix(), file.read_text()) for file in files]


def read_page(name: str, text: str) -> Page:
    blocks, prose = split_blocks(text)
    named_values = [
        DocumentedCommand(
            name, prose.count("\n", 0, match.start()) + 1, " ".join(match[1].replace("\\|", "|").split())
        )
        for match in COMMAND_IN_TEXT.finditer(prose)
    ]
    commands = [
        replace(command, section=block.section) for block in blocks for command in command_lines(name, block)
    ]
    return Page(name, commands, named_values)


def split_blocks(text: str) -> tuple[list[Block], str]:
    """The blocks, and the text with an empty line for each of theirs."""
    blocks: list[Block] = []
    prose: list[str] = []
    is_fenced = indented_begins = False
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        begins = not is_fenced and line.startswith("    ") and (indented_begins or not prose or not prose[-1])
        if fence := FENCE.match(line):
            is_fenced = not is_fenced
            if is_fenced:
                blocks.append(Block(section, fence[1], number + 1))
        elif is_fenced:
            blocks[-1].lines.append(line)
        elif begins:
            if not indented_begins:
                blocks.append(Block(section, "", number))
            blocks[-1].lines.append(line.removeprefix("    "))
        elif line.startswith("## "):
            section = line.removeprefix("## ")
        indented_begins = begins
        prose.append("" if fence or is_fenced or begins else line)
    return blocks, "\n".join(prose)


def command_lines(page: str, block: Block) -> Iterator[DocumentedCommand]:
    lines = list(enumerate(block.lines, block.line))
    if block.language == "console":
        yield from _with_output(page, lines)
    elif block.language in SHELL_LANGUAGES:
        yield from join_lines(page, lines)
    elif block.language == "yaml":
        steps = [(number, step[1]) for number, line in lines if (step := STEP.match(line))]
        yield from join_lines(page, steps)


def join_lines(page: str, lines: list[tuple[int, str]]) -> Iterator[DocumentedCommand]:
    """One command for each line, or for several that a backslash joins; a here-document is its command's."""
    first, held_text = 0, ""
    remaining_rows = iter(lines)
    for number, line in remaining_rows:
        if document := HERE_DOCUMENT.search(line):
            read = [text for _, text in takewhile(lambda entry: entry[1] != document[1], remaining_rows)]
            yield DocumentedCommand(page, number, "\n".join([line, *read, document[1]]))
            continue
        first, held_text = (first, f"{held_text} {line.strip()}") if held_text else (number, line.strip())
        if held_text.endswith("\\"):
            held_text = held_text[:-1].rstrip()
        elif held_text:
            yield DocumentedCommand(page, first, held_text)
            held_text = ""


def _with_output(page: str, lines: list[tuple[int, str]]) -> Iterator[DocumentedCommand]:
    starts = [index for index, (_, line) in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        commands = 1
        while lines[start + commands - 1][1].endswith("\\"):
            commands += 1
        rows = [(number, line.removeprefix("$ ")) for number, line in lines[start : start + commands]]
        (command,) = join_lines(page, rows)
        text = "\n".join(line for _, line in lines[start + commands : end])
        yield DocumentedCommand(page, command.line, command.text, text)
