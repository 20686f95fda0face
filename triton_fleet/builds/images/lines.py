"""The lines of a Dockerfile as instructions: directives, comments, continued lines, here-documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from triton_fleet.builds.images.instruction import KEYWORDS, Escape, Heredoc, Instruction, parse_instruction
from triton_fleet.findings import Finding
from triton_fleet.spec.source import MAX_FINDINGS

MAX_WORD_CHARACTERS = 40
"""The most characters of a wrong word that are compared with known ones."""
MAX_SHOWN_CHARACTERS = 120
"""The most characters of a text that a message repeats."""
DIRECTIVES = frozenset(["check", "escape", "syntax"])
_DELIMITER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1f]")
"""Python takes some of them for white space, and BuildKit none."""
_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(\S.*)")


@dataclass(frozen=True)
class Directive:
    """A comment at the top that sets something."""

    value: str
    line: int


def shown(text: str) -> str:
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
        """The instructions, in their order."""
        while self._at < len(self._lines):
            start = self._at + 1
            text = self._logical_line()
            if not text.strip():
                continue
            instruction = parse_instruction(text, start, self.escape)
            if instruction.heredocs:
                self._check_heredocs(instruction)
                read = tuple(self._heredoc(heredoc, start) for heredoc in instruction.heredocs)
                instruction = replace(instruction, heredocs=read)
            yield instruction

    def _check_heredocs(self, instruction: Instruction) -> None:
        """Refuse here-documents whose lines other builders, or other versions, read as instructions."""
        first = (instruction.trigger or instruction).arguments[:1]
        if first and first[0].startswith("["):
            message = "the text begins like a JSON array, so Docker may read no here-document"
            self._notes.add("FL921", message, instruction.line, "do not begin the instruction with a bracket")
        for heredoc in instruction.heredocs:
            if not _DELIMITER.fullmatch(heredoc.delimiter) or heredoc.delimiter.upper() in KEYWORDS:
                message = f"the here-document has the delimiter {shown(heredoc.delimiter)}"
                self._notes.add("FL921", message, instruction.line, "use a word of letters, such as EOF")

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
                message = f"the directive `escape` is {shown(value)}"
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
            ended = line.rstrip(" \t")
            if not ended.endswith(self.escape) or ended.endswith(self.escape * 2):
                parts.append(line)
                break
            parts.append(ended[:-1])
        return "".join(parts)

    def _heredoc(self, heredoc: Heredoc, line: int) -> Heredoc:
        text, is_ended = list[str](), False
        while self._at < len(self._lines) and not is_ended:
            current = self._lines[self._at].removesuffix("\r")
            self._at += 1
            is_ended = (current.lstrip("\t") if heredoc.strips_tabs else current) == heredoc.delimiter
            text += [] if is_ended else [f"{current}\n"]
        if not is_ended:
            delimiter = shown(heredoc.delimiter)
            hint = f"end it with a line that holds {delimiter} alone"
            self._notes.add("FL921", f"the here-document {delimiter} has no end", line, hint)
        return replace(heredoc, text="".join(text))
