"""The occurrences of one field in a message, by number and, of a map, by key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from fleet.repository.text_format.nodes import Field, Message, Scalar, elements


class Occurrences:
    """All fields of one name in one message, at least one; `at` is where the first stands."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.at = fields[0].at
        self._elements = list(elements(fields))

    def chosen(self, step: int | str) -> Field | None:
        """The one of this number or key; None if there is none."""
        if isinstance(step, str):
            return self._entries.get(step)
        return self._elements[step] if 0 <= step < len(self._elements) else None

    @property
    def first(self) -> Field | None:
        """None if all that stands there is an empty list."""
        return self.chosen(0)

    @cached_property
    def _entries(self) -> dict[str, Field]:
        """By key; what protobuf takes of several with one key is the last."""
        return {key: each for each in self._elements if (key := _key(each)) is not None}


def by_name(message: Message) -> dict[str, Occurrences]:
    """The fields of a message."""
    fields: dict[str, list[Field]] = {}
    for each in message.fields:
        fields.setdefault(each.name, []).append(each)
    return {name: Occurrences(of_name) for name, of_name in fields.items()}


def _key(entry: Field) -> str | None:
    fields = entry.value.fields if isinstance(entry.value, Message) else ()
    for each in fields:
        if each.name == "key" and isinstance(each.value, Scalar):
            return each.value.text if each.value.is_string else _number(each.value.text)
    return None


def _number(word: str) -> str:
    try:
        return str(int(word, 0))
    except ValueError:
        return word
