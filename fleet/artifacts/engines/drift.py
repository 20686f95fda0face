"""Engines of a lock held against the ONNX models that they are built from."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.artifacts.engines.onnx import OnnxFile, onnx_of
from fleet.artifacts.sources.spec_sources import no_s3
from fleet.engines.endpoint_engines import spec_engines
from fleet.engines.lock import locked_engine
from fleet.findings import Finding
from fleet.spec.lock import Lock, LockedArchive
from fleet.spec.project import LoadedSpec
from fleet.spec.source import finding_at

CODE = "FL306"


def onnx_changes(loaded: LoadedSpec, lock: Lock, found: Lock, since: str, hint: str) -> Iterator[Finding]:
    """ONNX models that are no longer what the lock says; `found` is what it would say now."""
    for path, index, engine in spec_engines(loaded.spec):
        before, now = (
            locked_engine(loaded.spec, each.archives, index, engine.model) for each in (lock, found)
        )
        if before is None or now is None:
            continue
        source = onnx_of(loaded, path, engine, no_s3)
        if isinstance(source, OnnxFile):
            if before.onnx != now.onnx:
                message = f"the ONNX model of {engine.model!r} changed since {since} was written"
                yield Finding(code=CODE, message=message, file=source.file, hint=hint)
        elif engine.digest not in (None, before.onnx):
            message = (
                f"the lock holds {before.onnx} of the ONNX model of {engine.model!r};"
                f" the spec expects {engine.digest}"
            )
            yield finding_at(loaded.source.mark((*path, "digest")), CODE, message, hint)


def without_engines(lock: Lock) -> Lock:
    """What a lock says of the repositories alone; of the engines, a rule tells what else changed."""
    return lock.model_copy(update={"archives": {name: _own(each) for name, each in lock.archives.items()}})


def _own(archive: LockedArchive) -> LockedArchive:
    if archive.repository is None:
        return archive
    return archive.model_copy(update={"digest": archive.repository, "repository": None, "engines": {}})
