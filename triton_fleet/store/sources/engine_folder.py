"""A model repository in a folder with the TensorRT plans that were built for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge

from triton_fleet.core.tar_writer import Sink, write_end
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.entry_path import packing_key
from triton_fleet.store.archive import Checksums, DigestWriter, Entry, EntrySource, write_entry
from triton_fleet.store.upload.errors import ContentChangedError

ROOM = 4096
"""The most bytes of the headers of a plan and its folder, with the padding of its last block."""


@dataclass(frozen=True, kw_only=True)
class BuiltPlan:
    """A plan of so many bytes; `chunks` yields them."""

    size: int
    chunks: Callable[[], Iterator[bytes]]


class BuiltSource:
    """A repository with plans by their paths in it.

    `repository` is the digest of its tar stream without them.
    """

    def __init__(self, source: EntrySource, plans: Mapping[str, BuiltPlan], repository: str) -> None:
        self._source, self._plans, self._repository = source, plans, repository

    @staticmethod
    def max_size(size: int, plans: Mapping[str, BuiltPlan]) -> int:
        """The most bytes of the tar stream, if it has `size` without the plans."""
        return size + sum(plan.size + ROOM for plan in plans.values()) + ROOM * 3

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream; the repository is read once for it and for its own digest.

        Raises:
            ContentChangedError: without the plans it differs from the expected content.
            FindingsError: a file is at a plan's path, or an entry cannot be packed.
        """
        own, checksums = DigestWriter(), Checksums()
        size, both = 0, _Both(own, sink)
        for entry, is_own in self._all():
            size += write_entry(entry, both if is_own else sink, checksums)
        own_size = own.size
        write_end(own_size, own)
        write_end(size, sink)
        if own.digest != self._repository:
            raise ContentChangedError(own.digest)
        return checksums

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order; the repository's own digest is not checked.

        Raises:
            FindingsError: as for `write`.
        """
        return (entry for entry, _ in self._all())

    def _all(self) -> Iterator[tuple[Entry, bool]]:
        """Own entries and the plans, in order, and whether each is an own one."""
        own = ((entry, True) for entry in self._source.entries())
        plans = ((entry, False) for entry in self._plan_entries())
        paths = set[str]()
        for entry, is_own in merge(own, plans, key=_place):  # for one path the own entry comes first
            if entry.path in paths:
                if entry.chunks is None and not is_own:
                    continue
                message = f"{entry.path!r} already exists, but an engine is built for it"
                hint = "delete the file, or leave the engine out"
                raise FindingsError([Finding(code="FL372", message=message, hint=hint)])
            paths.add(entry.path)
            yield entry, is_own

    def _plan_entries(self) -> list[Entry]:
        plans = [Entry(path, plan.size, plan.chunks) for path, plan in self._plans.items()]
        folders = [Entry(path.rpartition("/")[0]) for path in self._plans]
        return sorted([*folders, *plans], key=lambda entry: _place((entry, False)))


class _Both:
    def __init__(self, first: Sink, second: Sink) -> None:
        self._first, self._second = first, second

    def write(self, data: bytes) -> None:
        self._first.write(data)
        self._second.write(data)


def _place(entry: tuple[Entry, bool]) -> tuple[tuple[bool, str], ...]:
    return packing_key(entry[0].path, is_folder=entry[0].chunks is None)
