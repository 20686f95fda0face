"""However a message is spelled, its canonical form is the same, means the same and keeps all comments."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from google.protobuf import text_encoding, text_format
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st
from tritonclient.grpc import model_config_pb2

from fleet.repository.text_format.canonical import canonical
from fleet.repository.text_format.tokens import PbtxtError, Tokens
from fleet.repository.text_format.tree import parse
from fleet.repository.text_format.verdict import parse_config

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
CHARACTERS = "ab \t\n\r\x00\x1f\x7f'\"\\#{}[]<>:;,?/é\x85\u2028\ufeff😀"
BRACKETS = (("{", "}"), ("<", ">"))
FRAGMENTS = (
    *"{}[]<>:;,#\"'\\-+.0123456789aeExX\n \t\r\u00a0٣",
    " # c\n",
    "\\d",
    "\\x4",
    "\\u00e9",
    "\\377",
    "name",
    "[]",
)


def is_map(field: Any) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def some_scalar(random: Random, field: Any) -> Any:
    """A value of a field's type, often an extreme one."""
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            return "".join(random.choices(CHARACTERS, k=random.randrange(6)))
        case FieldDescriptor.CPPTYPE_BOOL:
            return random.random() < 0.5
        case FieldDescriptor.CPPTYPE_ENUM:
            return random.choice([*field.enum_type.values_by_number, 99, -(2**31)])
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            number = random.choice([0.1, -0.0, 1e-40, 16777217.0, math.inf, -math.inf, random.random()])
            is_float = field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT
            return struct.unpack("f", struct.pack("f", number))[0] if is_float else number
    bits = 32 if field.cpp_type in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32) else 64
    is_signed = field.cpp_type in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64)
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
    return random.choice([least, most, 0, 1, random.randint(least, most)])


def fill(random: Random, message: Any, chance: float = 0.2) -> Any:
    """Set some fields of a message, to any depth."""
    for field in message.DESCRIPTOR.fields:
        if random.random() > chance:
            continue
        value = getattr(message, field.name)
        if is_map(field):
            key, of = field.message_type.fields
            for _ in range(random.randrange(3)):
                if of.message_type:
                    fill(random, value[some_scalar(random, key)], 0.5)
                else:
                    value[some_scalar(random, key)] = some_scalar(random, of)
        elif field.message_type and field.is_repeated:
            for _ in range(random.randrange(3)):
                fill(random, value.add(), 0.5)
        elif field.message_type:
            value.SetInParent()
            fill(random, value, 0.5)
        elif field.is_repeated:
            value.extend(some_scalar(random, field) for _ in range(random.randrange(4)))
        else:
            setattr(message, field.name, some_scalar(random, field))
    return message


def some_config(random: Random) -> Any:
    return fill(random, model_config_pb2.ModelConfig())  # type: ignore[attr-defined]


class Speller:
    """Writes a message in one of its many spellings; entries of maps come in the order of their keys."""

    def __init__(self, random: Random, *, comments: bool) -> None:
        self._random, self._comments, self._count = random, comments, 0

    def config(self, message: Any) -> str:
        return self._gap() + self._fields(message) + self._gap()

    def _fields(self, message: Any) -> str:
        parts = [list(self._occurrences(message, field)) for field in message.DESCRIPTOR.fields]
        turns = [number for number, part in enumerate(parts) for _ in part]
        self._random.shuffle(turns)
        return "".join(parts[turn].pop(0) for turn in turns)

    def _occurrences(self, message: Any, field: Any) -> Iterator[str]:
        """A field as often as it is set, or several of a list at once."""
        value = getattr(message, field.name)
        if not field.is_repeated:
            is_set = message.HasField(field.name) if field.has_presence else value != field.default_value
            values = [value] if is_set or (value == 0 and math.copysign(1, value) < 0) else []
        elif is_map(field):
            values = [(key, value[key]) for key in sorted(value)]
        else:
            values = list(value)
        while values:
            size = self._random.randint(1, len(values)) if field.is_repeated else 0
            if size and self._random.random() < 0.5:
                items = f",{self._gap()}".join(self._value(field, each) for each in values[:size])
                said = f"[{self._gap()}{items}]"
            else:
                size, said = 1, self._value(field, values[0])
            values = values[size:]
            colon = self._random.choice(["", ":"]) if field.message_type else ":"
            separator = self._random.choice(["", ",", ";"])
            yield f"{field.name}{self._gap()}{colon}{self._gap()}{said}{separator}{self._gap()}"
        if field.is_repeated and self._random.random() < 0.1 and value:
            yield f"{field.name}:{self._gap()}[{self._gap()}]{self._gap()}"

    def _value(self, field: Any, value: Any) -> str:
        return (
            self._message(field, value) if field.message_type else self._scalar(field, value)
        ) + self._gap()

    def _message(self, field: Any, value: Any) -> str:
        opening, closing = self._random.choice(BRACKETS)
        if not is_map(field):
            return f"{opening}{self._gap()}{self._fields(value)}{closing}"
        key, of = field.message_type.fields
        said = [f"key:{self._gap()}{self._value(key, value[0])}", f"value:{self._value(of, value[1])}"]
        self._random.shuffle(said)
        return f"{opening}{self._gap()}{said[0]}{said[1]}{closing}"

    def _scalar(self, field: Any, value: Any) -> str:
        match field.cpp_type:
            case FieldDescriptor.CPPTYPE_STRING:
                return self._string(value)
            case FieldDescriptor.CPPTYPE_BOOL:
                return self._random.choice(
                    ["true", "t", "True", "1"] if value else ["false", "f", "False", "0"]
                )
            case FieldDescriptor.CPPTYPE_ENUM:
                known = field.enum_type.values_by_number.get(value)
                return str(self._random.choice([value, hex(value), known.name if known else value]))
            case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
                return repr(value) + self._random.choice(["", "f" if math.isfinite(value) else ""])
        spellings = [str(value), hex(value), f"{'-' if value < 0 else ''}0{abs(value):o}"]
        return str(self._random.choice(spellings))

    def _string(self, value: str) -> str:
        """One literal, or two that are adjacent."""
        at = self._random.randint(0, len(value))
        parts = [value] if self._random.random() < 0.7 else [value[:at], value[at:]]
        literals = []
        for part in parts:
            quote = self._random.choice("'\"")
            said = text_encoding.CEscape(part.encode(), as_utf8=self._random.random() < 0.5)
            literals.append(f"{quote}{said}{quote}{self._gap()}")
        return "".join(literals)

    def _gap(self) -> str:
        gap = self._random.choice([" ", "\n", "\n\n", "\t\r\n", " "])
        if not self._comments or self._random.random() < 0.8:
            return gap
        self._count += 1
        comment = f"# {self._random.choice(['c', 'licence'])} {self._count} é"
        return (
            gap
            + comment
            + self._random.choice(["\n", " \r\n", "\n\n"])
            + self._random.choice(["", self._gap()])
        )


def comments_of(text: str) -> Counter[str]:
    return Counter(comment.text for each in Tokens(text.encode()).comments.values() for comment in each)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SEEDS)
def test_two_spellings_of_a_message_become_the_same_text_and_mean_what_they_did(seed: int) -> None:
    random = Random(seed)
    message = some_config(random)
    first, second = (Speller(random, comments=False).config(message).encode() for _ in range(2))
    text = canonical(first)
    assert parse_config(text.encode()) == message
    assert canonical(second) == text
    assert canonical(text.encode()) == text


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SEEDS)
def test_whichever_way_protobuf_prints_a_message_it_becomes_the_same_text(seed: int) -> None:
    message = some_config(Random(seed))
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"as_one_line": True},
        {"pointy_brackets": True},
        {"use_short_repeated_primitives": True},
    )
    texts = {canonical(text_format.MessageToString(message, **way).encode()) for way in ways}
    assert len(texts) == 1
    assert parse_config(texts.pop().encode()) == message


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SEEDS)
def test_comments_are_kept_wherever_they_stand_and_are_canonical_the_second_time(seed: int) -> None:
    random = Random(seed)
    message = some_config(random)
    written = Speller(random, comments=True).config(message)
    text = canonical(written.encode())
    assert parse_config(text.encode()) == message
    assert comments_of(text) == comments_of(written)
    assert canonical(text.encode()) == text


def mutated(random: Random, text: str) -> str:
    """A few characters are gone, new, or there twice."""
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(text) + 1)
        end = start + random.choice([0, 0, 1, 2, 9])
        new = random.choice([random.choice(FRAGMENTS), "", text[start:end] * 2])
        text = text[:start] + new + text[end:]
    return text


@settings(max_examples=400, deadline=None, derandomize=True)
@given(SEEDS)
def test_what_protobuf_accepts_is_read_and_becomes_canonical_and_the_rest_is_refused(seed: int) -> None:
    random = Random(seed)
    content = mutated(random, Speller(random, comments=True).config(some_config(random))).encode()
    try:
        message = parse_config(content)
    except PbtxtError as refused:
        assert 1 <= refused.line <= content.count(b"\n") + 1
        return
    text = canonical(content)
    assert parse_config(text.encode()) == message
    assert canonical(text.encode()) == text
    assert parse(content).content == content
