"""A config.pbtxt as Triton reads it: protobuf's text format against the message ModelConfig.

A refusal has the words of the C++ parser that Triton has. Sources: triton-inference-server/core, r26.06,
src/model_repository_manager/model_repository_manager.cc, InitializeModelInfo; protobuf,
src/google/protobuf/text_format.cc and io/tokenizer.cc, and python/google/protobuf/text_format.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.model_config import CONFIG, parse_config
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import Tree, parse

CODE = "FL415"
ANY_SIZE = -1
"""The size of a dimension that varies."""
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
    is_completed: bool | None = None

    @property
    def name(self) -> str:
        """The model's name in Triton: its own, else its directory's."""
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
        """A finding at a field, or at the nearest one around it that stands in the text.

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
        enum_value = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number.get(value)
        return enum_value.name if enum_value else str(value)


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


TEMPLATE = re.compile(r"\$\{|\{\{|\{%|<%|_#[A-Z]")
NO_FIELD = re.compile(r'Message type "(?P<message>[\w.]+)" has no field named "(?P<field>[^"]*)"')
NO_VALUE = re.compile(
    r'Enum type "(?P<enum>[\w.]+)" has no value (?:named (?P<name>\S+?)|with number (?P<number>\S+?))\.?$'
)
EXPECTATION = re.compile(r'Expected ("[^"]*"(?: or "[^"]*")?)\.')
FAR = 200
"""Characters before a value in which its field is looked for: the search takes the square of them."""
FIELD = re.compile(r"(\w+)\s*:\s*(?:\[[^\[\]{}]*)?$")
TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|[\w.+-]+|.")
WORDS = (
    (re.compile(r"Expected identifier or number, got (.*?)\.?$"), r"Expected identifier, got: \1"),
    (
        re.compile(r"Couldn't parse integer: 0[0-9]+$"),
        "Numbers starting with leading zero must be in octal.",
    ),
    (re.compile(r"Couldn't parse integer: (.*)$"), r"Expected integer, got: \1"),
    (re.compile(r"Couldn't parse float: (.*)$"), r"Expected double, got: \1"),
    (re.compile(r"Value out of range: -[0-9]{1,9}$"), "Expected integer, got: -"),
    (re.compile(r"Value out of range: (.*)$"), r"Integer out of range (\1)."),
    (
        re.compile(r"String missing ending quote: .*$", re.DOTALL),
        "String literals cannot cross line boundaries.",
    ),
    (re.compile(r"Expected string but found: '(.*)'$", re.DOTALL), r"Expected string, got: \1"),
    (
        re.compile(r'Message type "[\w.]+" should not have multiple "(\w+)" fields\.'),
        r'Non-repeated field "\1" is specified multiple times.',
    ),
    (
        re.compile(
            r'Field "([\w.]+)" is specified along with field "([\w.]+)", another member of oneof "(\w+)" .*$'
        ),
        r'Field "\1" is specified along with field "\2", another member of oneof "\3".',
    ),
)
"""The Python parser's message, and the C++ parser's instead."""
HINTS = {
    "Expected integer": "write a whole number",
    "Numbers starting": "leave the zero out",
    "Invalid value for boolean": "write `true` or `false`",
    'Expected identifier, got: "': "write `true` or `false`, without quotation marks",
    'Expected "': "see whether a sign is missing before it",
    "Expected string": "put it in double quotes",
    "Integer out of range": "write a number of the field's size",
    "Non-repeated field": "leave one of the two out",
    "Field ": "leave one of the two out",
    "String literals": "close the quotation mark",
}


def wording(message: str, line: str, column: int | None) -> tuple[str, str]:
    """The message and a hint for what protobuf's Python parser reports of a place in a line of the text."""
    at = (column or 1) - 1
    token = TOKEN.match(line, at)
    field = FIELD.search(line[max(at - FAR, 0) : at])
    if expectation := EXPECTATION.fullmatch(message):
        message = _expectation(expectation[1], token[0] if token else "", field[1] if field else "")
    if field_match := NO_FIELD.search(message):
        fields = _fields(field_match["message"])
        near = get_close_matches(field_match["field"], fields, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(sorted(fields))}"
        return f"{field_match[0]}.", hint if fields else ""
    if field_match := NO_VALUE.search(message):
        value, values = field_match["name"] or field_match["number"], _values(field_match["enum"])
        near = get_close_matches(value, values, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"write one of {', '.join(values)}"
        if value.startswith('"'):
            return f"Expected integer or identifier, got: {value}", "leave the quotation marks out"
        name = field[1] if field else field_match["enum"]
        return f'Unknown enumeration value of "{value}" for field "{name}".', _of_template(line) or hint
    for pattern, words in WORDS:
        if pattern.search(message):
            message = pattern.sub(words, message)
            break
    return message, _of_template(line) or next(
        (hint for start, hint in HINTS.items() if message.startswith(start)), ""
    )


def _expectation(alternatives: str, token: str, field: str) -> str:
    if alternatives == '"true" or "false"':
        if token.startswith('"'):
            return f"Expected identifier, got: {token}"
        return f'Invalid value for boolean field "{field}". Value: "{token}".'
    return f'Expected {alternatives}, found "{token}".' if token else "Expected identifier, got: "


def _of_template(line: str) -> str:
    template = TEMPLATE.search(line)
    return "this is a template: fill in its placeholders, then check the result" if template else ""


def _fields(message: str) -> list[str]:
    from google.protobuf import descriptor_pool

    try:
        return list(descriptor_pool.Default().FindMessageTypeByName(message).fields_by_name)
    except KeyError:
        return []


def _values(enum: str) -> list[str]:
    from google.protobuf import descriptor_pool

    return [value.name for value in descriptor_pool.Default().FindEnumTypeByName(enum).values]
