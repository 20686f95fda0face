"""The lines of a Dockerfile as instructions: directives, comments, continued lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from triton_fleet.builds.images.instruction import Escape, Instruction, has_heredoc, parse_instruction
from triton_fleet.findings import Finding
from triton_fleet.spec.source import MAX_FINDINGS

MAX_WORD_CHARACTERS = 40
"""The most characters of a wrong word that are compared with known ones."""
MAX_SHOWN_CHARACTERS = 120
"""The most characters of a text that a message repeats."""
DIRECTIVES = frozenset(["check", "escape", "syntax"])
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f]")
"""Python takes some of them for white space, and BuildKit none."""
_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(\S.*)")


@dataclass(frozen=True)
class Directive:
    """A comment at the top that sets something."""

    value: str
    line: int


def quote(text: str) -> str:
    """A text as a message repeats it: in quotes, with visible control characters, not longer than a line."""
    more = "..." if len(text) > MAX_SHOWN_CHARACTERS else ""
    return repr(text[:MAX_SHOWN_CHARACTERS] + more)


@dataclass
class LineNotes:
    """The findings of a file, as many as are reported."""

    file: Path
    findings: list[Finding] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether no more are taken."""
        return len(self.findings) >= MAX_FINDINGS

    def add(self, code: str, message: str, line: int | None, hint: str = "") -> None:
        """An error at a line."""
        if not self.full:
            self.findings.append(Finding(code=code, message=message, file=self.file, line=line, hint=hint))


class InstructionLines:
    """The lines of a Dockerfile, read once from the first to the last."""

    def __init__(self, text: str, notes: LineNotes) -> None:
        self._lines = text.split("\n")
        self._at = 0
        self._notes = notes
        self.escape: Escape = "\\"
        self.directives: dict[str, Directive] = {}
        self._check_characters()
        self._read_directives()

    def instructions(self) -> Iterator[Instruction]:
        """The instructions, in their order, up to a here-document: what follows one may be its text."""
        while self._at < len(self._lines):
            start = self._at + 1
            text = self._logical_line()
            if not text.strip():
                continue
            instruction = parse_instruction(text, start, self.escape)
            if has_heredoc(instruction, self.escape):
                message = f"{instruction.keyword} has a here-document, which is not read"
                hint = (
                    "COPY a file of the build context in its place, or join the commands of a RUN with `&&`"
                )
                self._notes.add("FL921", message, start, hint)
                return
            yield instruction

    def _check_characters(self) -> None:
        for number, line in enumerate(self._lines, 1):
            if match := _CONTROL.search(line):
                message = f"the line contains the control character U+{ord(match[0]):04X}"
                self._notes.add("FL921", message, number, "remove it: builders do not agree on what it means")

    def _read_directives(self) -> None:
        """The comments at the top that set something; another comment or an empty line ends them.

        Source: moby/buildkit, frontend/dockerfile/parser/directives.go: below `#!`, `syntax` alone counts.
        """
        below_shebang = self._lines[0].startswith("#!")
        for number, line in enumerate(self._lines[below_shebang:], 1 + below_shebang):
            match = _DIRECTIVE.match(line.strip())
            name = match[1].lower() if match else ""
            if match is None or name not in DIRECTIVES:
                return
            if below_shebang and name != "syntax":
                continue
            if name in self.directives:
                self._notes.add("FL921", f"the directive `{name}` is given twice", number, "keep one of them")
            value = match[2].strip()
            self.directives[name] = Directive(value, number)
            if name == "escape" and value == "`":
                self.escape = "`"
            elif name == "escape" and value != "\\":
                message = f"the directive `escape` is {quote(value)}"
                self._notes.add("FL921", message, number, "write a backslash or a backtick")

    def _logical_line(self) -> str:
        """The next line with those that continue it; "" for a comment or an empty line."""
        parts = list[str]()
        while self._at < len(self._lines):
            line = self._lines[self._at].removesuffix("\r")
            self._at += 1
            if line.lstrip().startswith("#") or (parts and not line.strip()):
                if not parts:
                    return ""
                continue
            text = line.rstrip(" \t")
            if not text.endswith(self.escape) or text.endswith(self.escape * 2):
                parts.append(line)
                break
            parts.append(text[:-1])
        return "".join(parts)
