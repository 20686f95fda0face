"""One of several copies of a model repository in a folder, with other names of its models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from isal import isal_zlib

from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import FindingsError
from triton_fleet.repository.copies import copied_name, renamed_config
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.folder import changed_while_read
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.spec.lock import LockedModel
from triton_fleet.store.archive import Checksums, Entry, crc_text, write_tar
from triton_fleet.store.model_facts import renamed_facts
from triton_fleet.store.sources.folder import FolderSource


class CopySource:
    """Copy number `copy` of a folder: the folder's archive with its models renamed."""

    has_fast_layout = True

    def __init__(self, folder: FolderSource, copy: int) -> None:
        self._folder, self._copy = folder, copy

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream; the checksums are those of the folder's own files, by their own paths.

        Raises:
            FindingsError: the models cannot be renamed, or an entry cannot be packed or changes.
        """
        own: dict[str, str] = {}
        paths_by_name = {self._rename(path): path for path, _ in self._packed_entries}
        checksums = write_tar(self._entries(own), sink)
        files = {paths_by_name[path]: checksum for path, checksum in checksums.files.items()}
        onnx = {paths_by_name[path]: digest for path, digest in checksums.onnx.items()}
        sizes = {paths_by_name[path]: size for path, size in checksums.sizes.items()}
        return replace(checksums, files=files | own, onnx=onnx, sizes=sizes)

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order.

        Raises:
            FindingsError: the models cannot be renamed, or an entry cannot be read.
        """
        return self._entries({})

    def served_models(self) -> tuple[str, ...]:
        """The model directories, by their names in this copy.

        Raises:
            FindingsError: the container could not serve them, or they cannot be renamed.
        """
        return tuple(sorted(self._names.values()))

    def models(self, checksums: Checksums | None = None) -> dict[str, LockedModel]:
        """The facts of the same, with sizes as `write` has packed them.

        Raises:
            FindingsError: as `served_models`.
        """
        models = {
            self._names[name]: renamed_facts(facts, self._copy)
            for name, facts in self._folder.models(checksums).items()
        }
        return dict(sorted(models.items()))

    @property
    def _packed_entries(self) -> list[tuple[str, int | None]]:
        """Files at the root come first, as for a folder; then the models, by their names here."""
        entries = self._folder.contents.packed_entries
        return sorted(entries, key=lambda entry: self._names.get(entry[0].partition("/")[0], ""))

    def _entries(self, own: dict[str, str]) -> Iterator[Entry]:
        for path, size in self._packed_entries:
            yield self._entry(path, size, own)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {model: copied_name(model, self._copy) for model in self._folder.copyable_models}

    def _rename(self, path: str) -> str:
        top, slash, below = path.partition("/")
        return f"{self._names.get(top, top)}{slash}{below}"

    def _entry(self, path: str, size: int | None, own: dict[str, str]) -> Entry:
        own_entry = self._folder.entry(path, size, self._rename(path))
        if own_entry.chunks is None or not (path.count("/") == 1 and path.endswith(f"/{CONFIG}")):
            return own_entry
        content = b"".join(own_entry.chunks())
        own[path] = crc_text(isal_zlib.crc32(content))
        try:
            config_text = renamed_config(content, self._names, self._copy)
        except PbtxtError as error:  # not expected: it was readable before
            raise FindingsError([changed_while_read(self._folder.contents.file(path))]) from error
        return Entry(own_entry.path, len(config_text), lambda: iter((config_text,)))
