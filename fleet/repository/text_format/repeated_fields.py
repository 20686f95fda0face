"""All occurrences of a repeated field as the one list that they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from fleet.repository.text_format.nodes import Field, Items
from fleet.repository.text_format.tokens import Comment


@dataclass
class RepeatedField:
    """A list, however it is spelled, with every item and every comment in their order.

    Comments stand above it, at its opening bracket, above its closing bracket, and beside that.
    """

    above: Sequence[Comment]
    opening: Comment | None = None
    items: list[Field] = field(default_factory=list)
    closing: Sequence[Comment] = ()
    beside: Comment | None = None

    @property
    def has_comments(self) -> bool:
        """Whether there are any between the brackets."""
        return bool(self.opening or self.closing or any(each.above or each.beside for each in self.items))


def merge_occurrences(occurrences: Sequence[Field]) -> RepeatedField:
    """The list that one occurrence or several make."""
    whole = RepeatedField(occurrences[0].above)
    parts = [replace(occurrences[0], above=()), *occurrences[1:]]
    if isinstance(parts[0].value, Items):
        whole.opening = parts[0].value.beside
        parts[0].value = replace(parts[0].value, beside=None)
    if isinstance(parts[-1].value, Items) or len(parts) == 1:
        whole.beside = parts[-1].beside
        parts[-1] = replace(parts[-1], beside=None)
    waiting: list[Comment] = []
    for piece in chain.from_iterable(map(_pieces, parts)):
        if isinstance(piece, Comment):
            waiting.append(piece)
        else:
            whole.items.append(replace(piece, above=[*waiting, *piece.above]))
            waiting = []
    whole.closing = waiting
    return whole


def those(comment: Comment | None) -> Sequence[Comment]:
    """No comment or one."""
    return (comment,) if comment else ()


def _pieces(part: Field) -> Iterator[Comment | Field]:
    """Items, and the comments between them."""
    if isinstance(part.value, Items):
        yield from part.above
        yield from those(part.value.beside)
        yield from part.value.items
        yield from part.value.closing
        yield from those(part.beside)
    else:
        yield part
