"""Both forms of a model repository in S3: what is read passes through, and is checked like a folder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.stream import UnreadableError
from triton_fleet.spec.source import finding_at
from triton_fleet.store.archive import Checksums, DigestWriter
from triton_fleet.store.sources.s3_object import S3Location, compare_digest
from triton_fleet.store.sources.source import RepositorySource

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class S3Source(RepositorySource):
    """A repository in S3; `expected` is the digest of its tar stream."""

    hint: str
    """The remedy for what cannot be packed."""

    def __init__(
        self, s3: S3Client, location: S3Location, expected: str | None, container: ServingContainer
    ) -> None:
        super().__init__(container)
        self._s3, self._location, self._expected = s3, location, expected
        self._is_read = False

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream and check its entries.

        Raises:
            FindingsError: it does not exist, is not as expected, has forbidden entries, or changes.
            CannotRunError: S3 refuses or does not answer.
        """
        gathered, stream = self._collector(), DigestWriter(sink)
        checksums = self._write(stream, gathered)
        compare_digest(self._location, self._expected, stream.digest)
        self.contents, self._is_read = replace(gathered.contents(), packed=True), True
        return checksums

    def served_models(self) -> tuple[str, ...]:
        """The model directories, sorted; the repository is read, unless `write` has read it.

        Findings are at the place of the spec.

        Raises:
            FindingsError: as `write` does, or the container could not serve it, or a config is too large.
            CannotRunError: S3 refuses or does not answer.
        """
        if not self._is_read:
            self.write(DigestWriter())
        with self._refusals():
            for finding in self.contents.findings:
                if finding.file and finding.file.name == CONFIG:
                    raise UnreadableError(finding.message)
        try:
            return super().served_models()
        except FindingsError as error:
            raise FindingsError(list(map(self._at_spec, error.findings))) from error

    @abstractmethod
    def _write(self, stream: DigestWriter, gathered: Collector) -> Checksums:
        """Write the tar stream; `gathered` gets its entries."""

    def _collector(self) -> Collector:
        return Collector(Path(self._location.url), archive=False, unique=True)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            message = f"{self._location.url} cannot be packed: {error}"
            raise FindingsError([finding_at(self._location.mark, "FL310", message, self.hint)]) from error

    def _at_spec(self, finding: Finding) -> Finding:
        place, mark = Path(self._location.url), self._location.mark
        within = finding.file.relative_to(place).as_posix() if finding.file else "."
        below = "" if within == "." else f" ({within})"
        return replace(
            finding,
            message=f"{self._location.url}{below}: {finding.message}",
            file=mark.file,
            line=mark.line,
            column=mark.column,
        )
