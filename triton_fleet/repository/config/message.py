"""A config.pbtxt as Triton reads it: protobuf's text format against the message ModelConfig.

Source: triton-inference-server/core, r26.06, src/model_repository_manager/model_repository_manager.cc,
InitializeModelInfo; protobuf, src/google/protobuf/text_format.cc.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.config.wording import wording
from triton_fleet.repository.model_config import CONFIG, parse_config
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import Tree, parse

CODE = "FL415"
Position: TypeAlias = tuple[str | int, ...]
"""Where a field stands: names of fields; after a repeated one its number, from 0, after a map its key."""


@dataclass(frozen=True, kw_only=True)
class ParsedConfig:
    """One model's configuration, and where its fields stand.

    Attributes:
        file: As the user names it.
        message: The `inference.ModelConfig`.
        content: What was parsed.
        directory: The model's directory; "" where the file is checked without its folder.
        completed: Whether the backend completes inputs and outputs from the model in the directory; None if
            that is not known.
    """

    file: Path
    message: Any
    content: bytes
    directory: str = ""
    completed: bool | None = None

    @property
    def name(self) -> str:
        """What Triton calls the model: its own name, else its directory's."""
        fallback = self.file.parent.name if self.file.name == CONFIG else self.file.stem
        return str(self.message.name) or self.directory or fallback

    @cached_property
    def tree(self) -> Tree:
        """The text with its places."""
        return parse(self.content)

    def finding(
        self,
        code: str,
        message: str,
        *path: str | int,
        hint: str = "",
        severity: Severity = Severity.ERROR,
    ) -> Finding:
        """What is wrong at a field, or at the nearest one around it that stands in the text.

        Args:
            code: The stable code, FLnnn.
            message: In Triton's words where it has any.
            path: Names of fields; after a repeated one its number, from 0, after a map its key.
            hint: What to write instead.
            severity: A warning where the model would be loaded all the same.
        """
        return Finding(
            code=code,
            message=message,
            file=self.file,
            line=self.tree.line(*path),
            column=self.tree.column(*path),
            hint=hint,
            severity=severity,
        )

    def finding_at(self, code: str, message: str, at: int, *, hint: str = "") -> Finding:
        """An error at an offset of the text, in bytes."""
        line, column = self.tree.line_of(at), self.tree.column_of(at)
        return Finding(code=code, message=message, file=self.file, line=line, column=column, hint=hint)

    def enum(self, message: Any, field: str) -> str:
        """The name of an enum field's value, or its number where it has none."""
        value = getattr(message, field)
        known = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number.get(value)
        return known.name if known else str(value)


def parsed_config(content: bytes, file: Path, directory: str = "") -> ParsedConfig:
    """Parse the text of a config.pbtxt.

    Raises:
        FindingsError: Triton's schema does not take it.
    """
    try:
        config = parse_config(content)
    except PbtxtError as error:
        raise FindingsError([_refusal(error, content, file)]) from error
    return ParsedConfig(file=file, message=config, content=content, directory=directory)


def _refusal(error: PbtxtError, content: bytes, file: Path) -> Finding:
    lines = content.decode(errors="replace").split("\n")
    line = lines[error.line - 1] if error.line <= len(lines) else ""
    message, hint = wording(str(error), line, error.column)
    return Finding(code=CODE, message=message, file=file, line=error.line, column=error.column, hint=hint)
