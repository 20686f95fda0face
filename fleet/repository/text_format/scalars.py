"""How a scalar of a known type is spelled in the canonical form."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

from google.protobuf import text_encoding, text_format, wrappers_pb2
from google.protobuf.descriptor import FieldDescriptor

from fleet.repository.text_format.nodes import Scalar
from fleet.repository.text_format.tokens import unescape

ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
ESCAPES = frozenset(b"abfnrtv\\'\"01234567xuU")
"""Those that every reader of protobuf's takes for the same."""
INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (True, False),
    FieldDescriptor.CPPTYPE_INT64: (True, True),
    FieldDescriptor.CPPTYPE_UINT32: (False, False),
    FieldDescriptor.CPPTYPE_UINT64: (False, True),
}
"""Whether each has a sign, and whether it has 64 bits."""


def scalar_spelling(field: Any, scalar: Scalar) -> str:
    """The canonical spelling of a value that protobuf takes for the field of this descriptor."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _string(scalar)
    if field.cpp_type in INTEGERS:
        return str(text_format.ParseInteger(scalar.text, *INTEGERS[field.cpp_type]))
    printed = StringIO()
    text_format.PrintFieldValue(field, _value(field, scalar.text), printed)
    return printed.getvalue()


def _value(field: Any, word: str) -> object:
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return text_format.ParseBool(word)
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return text_format.ParseEnum(field, word)
    number = text_format.ParseFloat(word)
    # Two spellings of what a field of 32 bits cannot tell apart are one value.
    return wrappers_pb2.FloatValue(value=number).value if field.type == FieldDescriptor.TYPE_FLOAT else number


def _string(scalar: Scalar) -> str:
    others = any(match[1][0] not in ESCAPES for each in scalar.literals for match in ESCAPE.finditer(each))
    if others or not _is_utf_8(b"".join(unescape(each[1:-1]) for each in scalar.literals)):
        # Python's reader and Triton's make different things of other escapes, and of what is no text: nothing
        # but these very literals means the same to both.
        return " ".join(literal.decode() for literal in scalar.literals)
    value = b"".join(text_encoding.CUnescape(literal[1:-1].decode()) for literal in scalar.literals)
    # protobuf escapes both kinds of quotation marks, whichever a string stands in.
    escaped = text_encoding.CEscape(value, as_utf8=True).replace("\\'", "'")
    return f'"{escaped}"'


def _is_utf_8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
