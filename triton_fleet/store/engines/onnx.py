"""The ONNX model that an engine is built from: in a file beside the spec, or in S3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.contents import OnnxHeader
from triton_fleet.repository.file_formats import IS_POINTER
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.stream import ChunkStream, FileStream
from triton_fleet.spec.endpoint import S3, onnx_in_s3
from triton_fleet.spec.engine import Engine
from triton_fleet.spec.source import KeyPath, Mark, cannot_run_at, finding_at
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.sources.folder import read_chunks
from triton_fleet.store.sources.s3_object import (
    S3Location,
    compare_digest,
    object_chunks,
    s3_errors_as_findings,
)
from triton_fleet.store.sources.spec_sources import Connect, spec_path

NO_FILE, UNFIT = "FL370", "FL371"


@dataclass(frozen=True, kw_only=True)
class Onnx:
    """The content of an ONNX model: its digest, its size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True, kw_only=True)
class OnnxFile:
    """A file, and the place of the spec that names it."""

    file: Path
    mark: Mark

    def require(self) -> int:
        """The file's size in bytes.

        Raises:
            FindingsError: it does not exist.
        """
        try:
            if self.file.is_file():
                return self.file.stat().st_size
            problem = f"{self.file} {'is not a file' if self.file.exists() else 'does not exist'}"
        except (OSError, RuntimeError) as error:  # too long a name, or a cycle of links
            problem = f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
        hint = (
            f"a path is relative to {self.mark.file.parent}; if a script creates the file, run the script"
            " first"
        )
        raise FindingsError([finding_at(self.mark, NO_FILE, problem, hint)])

    def require_fit(self) -> None:
        """Check that an engine can be built from it; its weights are not read.

        Raises:
            FindingsError: it does not exist, or no engine can be built from it.
        """
        size = self.require()
        with suppress(OSError), self.file.open("rb", buffering=0) as content:  # reported when it is digested
            _refuse(read_header(FileStream(content, size), size), self._unfit)

    def chunks(self) -> Iterator[bytes]:
        """The file's bytes.

        Raises:
            FindingsError: it does not exist, cannot be read, or changes while it is read.
        """
        return read_chunks(self.file, self.require())

    def measure(self) -> Onnx:
        """Read the file.

        Raises:
            FindingsError: it cannot be read, or no engine can be built from it.
        """
        return _measure(self.require(), self.chunks(), self._unfit)

    def _unfit(self, problem: str, hint: str) -> Finding:
        return Finding(code=UNFIT, message=problem, hint=hint, file=self.file)


@dataclass(frozen=True, kw_only=True)
class OnnxObject:
    """An object of S3; `spec_digest` is its digest in the spec."""

    location: S3Location
    spec_digest: str | None
    s3: Connect

    def measure(self) -> Onnx:
        """Read the object.

        Raises:
            FindingsError: it does not exist or not as expected, or no engine can be built from it.
            CannotRunError: S3 refuses or does not answer.
        """
        location = self.location
        with cannot_run_at(location.mark):
            s3 = self.s3()
        with s3_errors_as_findings(location):
            head = s3.head_object(Bucket=location.bucket, Key=location.key)
        size, etag = head["ContentLength"], head["ETag"]
        onnx = _measure(size, object_chunks(s3, location, etag, size), self._unfit)
        compare_digest(self.location, self.spec_digest, onnx.digest)
        return onnx

    def _unfit(self, problem: str, hint: str) -> Finding:
        return finding_at(self.location.mark, UNFIT, f"{self.location.url}: {problem}", hint)


def onnx_of(loaded_spec: LoadedSpec, path: KeyPath, engine: Engine, s3: Connect) -> OnnxFile | OnnxObject:
    """The ONNX model of the spec's engine at `path`.

    Raises:
        FindingsError: its file is outside of the tree that is reviewed with the spec.
    """
    mark = loaded_spec.source.mark((*path, "onnx"))
    if not onnx_in_s3(engine):
        file = mark.file.parent / engine.onnx
        with suppress(OSError, RuntimeError):  # reported when it is opened
            file = spec_path(mark, engine.onnx)
        return OnnxFile(file=file, mark=mark)
    bucket, _, key = engine.onnx.removeprefix(S3).partition("/")
    location = S3Location(bucket=bucket, key=key, mark=mark, said_by="onnx")
    return OnnxObject(location=location, spec_digest=engine.digest, s3=s3)


def _measure(size: int, chunks: Iterator[bytes], unfit: Callable[[str, str], Finding]) -> Onnx:
    digest = DigestWriter()
    stream = ChunkStream(chunks, digest.write)
    header = read_header(stream, size)
    for _ in stream.pieces():
        pass  # the rest is needed for the digest
    _refuse(header, unfit)
    return Onnx(digest=digest.digest, size=digest.size)


def _refuse(header: OnnxHeader, unfit: Callable[[str, str], Finding]) -> None:
    if header.problem and header.certain:
        hint = "" if header.problem == IS_POINTER else "export the model again, as ONNX"
        raise FindingsError([unfit(header.problem, hint)])
    if header.external:
        problem = f"the ONNX model has weights in other files, such as {header.external[0]!r}"
        hint = "an engine is built from one file: save it with `save_as_external_data=False`"
        raise FindingsError([unfit(problem, hint)])
