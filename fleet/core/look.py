"""What is read of the disk once during one look at it: one check asks the same of a folder several times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
A = TypeVarTuple("A")
_found: ContextVar[dict[Hashable, Any] | None] = ContextVar("found", default=None)


@contextmanager
def one_look() -> Iterator[None]:
    """Inside of it, and in this thread, `read_once` keeps what it has read; afterwards all is forgotten."""
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def is_looking() -> bool:
    """Whether what is read now is kept."""
    return _found.get() is not None


def read_once(read: Callable[[*A], T], *arguments: *A) -> T:
    """What a function reads, which callers must not change; during a look it is read once.

    An error is not kept: the next caller reads again.
    """
    found = _found.get()
    if found is None:
        return read(*arguments)
    key = (read, *arguments)
    if key not in found:
        found[key] = read(*arguments)
    result: T = found[key]
    return result
