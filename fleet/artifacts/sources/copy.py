"""One of several copies of a model repository in a folder, with other names of its models."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from isal import isal_zlib

from fleet.artifacts.archive import Checksums, Entry, crc_text, write_tar
from fleet.artifacts.sources.folder import changed_while_read, file_entry
from fleet.core.tar_writer import Sink
from fleet.findings import FindingsError
from fleet.repository.copies import check_copyable, copied_name, renamed_config
from fleet.repository.kept_files import is_config
from fleet.repository.layout import RepositoryEntry, entries, model_names
from fleet.repository.loading.outcome import served_models
from fleet.repository.text_format.tokens import PbtxtError
from fleet.spec.endpoint import Mode


class CopySource:
    """Copy number `copy` of a folder: the folder's archive with its models renamed.

    `built` are models, by their names in the folder, that get their engine later.
    """

    def __init__(self, folder: Path, copy: int, built: Collection[str] = ()) -> None:
        self.folder, self._copy, self._built = folder, copy, built

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream; the checksums are those of the folder's own files, by their own paths.

        What is kept for the facts of models is of the copy, by its names.

        Raises:
            FindingsError: the models cannot be renamed, or an entry cannot be packed or changes.
        """
        own: dict[str, str] = {}
        paths_here = {self._rename(path): path for path, _ in self._found}
        written = write_tar(self._entries(own), sink)
        files = {paths_here[path]: checksum for path, checksum in written.files.items()}
        onnx = {paths_here[path]: digest for path, digest in written.onnx.items()}
        return replace(written, files=files | own, onnx=onnx)

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order.

        Raises:
            FindingsError: the models cannot be renamed, or an entry cannot be read.
        """
        return self._entries({})

    def models(self, mode: Mode) -> tuple[str, ...]:
        """The model directories, by their names in this copy.

        Raises:
            FindingsError: the container could not serve them, or they cannot be renamed.
        """
        served_models(self.folder, multi_model=mode is Mode.MULTI_MODEL, built=self._built)
        return tuple(sorted(self._names.values()))

    @property
    def _found(self) -> list[RepositoryEntry]:
        """Files at the root come first, as for a folder; then the models, by their names here."""
        return sorted(entries(self.folder), key=lambda each: self._names.get(each.path.partition("/")[0], ""))

    def _entries(self, own: dict[str, str]) -> Iterator[Entry]:
        for path, size in self._found:
            yield self._entry(path, size, own)

    @cached_property
    def _names(self) -> dict[str, str]:
        models = model_names(self.folder, self._built)
        check_copyable(self.folder, models)
        return {model: copied_name(model, self._copy) for model in models}

    def _rename(self, path: str) -> str:
        top, slash, below = path.partition("/")
        return f"{self._names.get(top, top)}{slash}{below}"

    def _entry(self, path: str, size: int | None, own: dict[str, str]) -> Entry:
        own_entry = file_entry(self.folder / path, self._rename(path), size)
        if own_entry.chunks is None or not is_config(path):
            return own_entry
        content = b"".join(own_entry.chunks())
        own[path] = crc_text(isal_zlib.crc32(content))
        try:
            renamed = renamed_config(content, self._names, self._copy)
        except PbtxtError as error:  # not expected: it was readable before
            raise FindingsError([changed_while_read(self.folder / path)]) from error
        return Entry(own_entry.path, len(renamed), lambda: iter((renamed,)))
