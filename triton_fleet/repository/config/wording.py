"""Protobuf's message for a text that it refuses, in the words of the C++ parser that Triton has.

Source: protobuf, src/google/protobuf/text_format.cc and io/tokenizer.cc, and
python/google/protobuf/text_format.py.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

TEMPLATE = re.compile(r"\$\{|\{\{|\{%|<%|_#[A-Z]")
NO_FIELD = re.compile(r'Message type "(?P<message>[\w.]+)" has no field named "(?P<field>[^"]*)"')
NO_VALUE = re.compile(
    r'Enum type "(?P<enum>[\w.]+)" has no value (?:named (?P<name>\S+?)|with number (?P<number>\S+?))\.?$'
)
EXPECTED = re.compile(r'Expected ("[^"]*"(?: or "[^"]*")?)\.')
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
    if expected := EXPECTED.fullmatch(message):
        message = _expectation(expected[1], token[0] if token else "", field[1] if field else "")
    if found := NO_FIELD.search(message):
        known = _fields(found["message"])
        near = get_close_matches(found["field"], known, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(sorted(known))}"
        return f"{found[0]}.", hint if known else ""
    if found := NO_VALUE.search(message):
        value, values = found["name"] or found["number"], _values(found["enum"])
        near = get_close_matches(value, values, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"write one of {', '.join(values)}"
        if value.startswith('"'):
            return f"Expected integer or identifier, got: {value}", "leave the quotation marks out"
        name = field[1] if field else found["enum"]
        return f'Unknown enumeration value of "{value}" for field "{name}".', _of_template(line) or hint
    for pattern, words in WORDS:
        if pattern.search(message):
            message = pattern.sub(words, message)
            break
    return message, _of_template(line) or next(
        (hint for start, hint in HINTS.items() if message.startswith(start)), ""
    )


def _expectation(what: str, token: str, field: str) -> str:
    if what == '"true" or "false"':
        if token.startswith('"'):
            return f"Expected identifier, got: {token}"
        return f'Invalid value for boolean field "{field}". Value: "{token}".'
    return f'Expected {what}, found "{token}".' if token else "Expected identifier, got: "


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
