"""Fields that a release of Triton does not know yet: it refuses them like any other unknown field."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from fleet.catalog.model_config import fields_since
from fleet.findings import Finding
from fleet.repository.config.message import ParsedConfig
from fleet.repository.text_format.nodes import Field, Message, elements


def newer_fields(config: ParsedConfig, release: str | None) -> Iterator[Finding]:
    """Each field of the text that came after the release; none where the release is not known."""
    if release is None or not any(name in config.content for name in _names_after(release)):
        return
    for message, field in _fields(config.message.DESCRIPTOR, config.tree.root):
        came = fields_since().get(message, {}).get(field.name, "")
        if came > release:
            said = f'Message type "{message}" has no field named "{field.name}".'
            hint = f"Triton has it from {came} on, and the image is {release}: leave it out"
            yield config.finding_at("FL416", said, field.at, hint=hint)


@cache
def _names_after(release: str) -> frozenset[bytes]:
    """The fields that came after a release: a text without these words needs no closer look."""
    known = (entry for fields in fields_since().values() for entry in fields.items())
    return frozenset(name.encode() for name, came in known if came > release)


def _fields(descriptor: Any, message: Message) -> Iterator[tuple[str, Field]]:
    """Every field of a text with the full name of the message that it stands in."""
    for field in elements(message.fields):
        yield descriptor.full_name, field
        known = descriptor.fields_by_name.get(field.name)
        if known is not None and known.message_type is not None and isinstance(field.value, Message):
            yield from _fields(known.message_type, field.value)
