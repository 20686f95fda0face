"""The engines in a lock: the ONNX models from which they are built, and their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from triton_fleet.builds.engines.artifacts import archive_digest, locked_engine, packed_name
from triton_fleet.builds.engines.endpoint_engines import EndpointEngine, planned_engines, spec_engines
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.plan import plan_place
from triton_fleet.spec.endpoint import PackedArchive, in_s3, onnx_in_s3
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.lock import Lock, LockedArchive, LockedEngine
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at
from triton_fleet.store.engines.onnx import Onnx, OnnxFile, onnx_of
from triton_fleet.store.sources.spec_sources import Connect, SpecRepositories, no_s3

UNKNOWN_MODEL = "FL293"
Engines: TypeAlias = "Mapping[int, Mapping[str, LockedEngine]]"
"""By the entry of the spec's `models`, then by the model's name in the repository."""


def archive_engines(
    loaded_spec: LoadedSpec, environment: Environment, image: LockedImage | None
) -> list[EndpointEngine]:
    """The engines that are packed into archives; a repository in S3 is packed unchanged.

    `image` is what the lock records of an image of the spec's own, in which they may be built.
    """
    if not any(archive.engines for archive in loaded_spec.spec.models):
        return []
    lock = None if image is None else Lock(endpoint=loaded_spec.spec.endpoint, archives={}, image=image)
    context = EndpointContext(loaded_spec=loaded_spec, environment=environment, lock=lock)
    return [
        planned_engine
        for planned_engine in planned_engines(context)
        if not in_s3(loaded_spec.spec.models[planned_engine.index])
    ]


def measured_engines(
    repositories: SpecRepositories,
    environment: Environment,
    s3: Connect,
    earlier_lock: Lock | None,
    *,
    image: LockedImage | None,
    offline: bool,
) -> Engines:
    """The engines of the spec's archives, from the current ONNX models.

    An object in S3 is read only if its content in `earlier_lock` is not what the spec expects; with `offline`
    the engines in `earlier_lock` are used, and others are left out.

    Raises:
        FindingsError: an ONNX model is missing, not as expected, or not usable for an engine.
        CannotRunError: S3 is needed and cannot be read.
    """
    locked_by_archive: dict[int, dict[str, LockedEngine]] = {}
    loaded_spec = repositories.loaded_spec
    engines = archive_engines(loaded_spec, environment, image)
    archives = earlier_lock.archives if earlier_lock is not None else {}

    def measure(engine: EndpointEngine) -> Onnx | None:
        require_place(repositories, engine.index, engine.model, engine.compute_capability)
        earlier = locked_engine(loaded_spec.spec, archives, engine.index, engine.model)
        if onnx_in_s3(engine.engine):
            if earlier is not None and (offline or earlier.onnx == engine.engine.digest):
                return Onnx(digest=earlier.onnx, size=earlier.size)
            if offline:
                return None
        return onnx_of(loaded_spec, engine.path, engine.engine, s3).measure()

    for engine, onnx in zip(engines, all_of(engines, measure), strict=True):
        if onnx is not None:
            entry = LockedEngine(key=engine.build(onnx.digest).key, onnx=onnx.digest, size=onnx.size)
            locked_by_archive.setdefault(engine.index, {})[engine.model] = entry
    return locked_by_archive


def require_models(repositories: SpecRepositories) -> None:
    """Check that each engine's model is in its repository.

    A rule also finds this, but it needs a lock, which cannot be written while a mistyped name leaves another
    model without its engine.

    Raises:
        FindingsError: models are missing, or a repository is.
    """
    findings, loaded_spec = list[Finding](), repositories.loaded_spec
    for path, index, engine in spec_engines(loaded_spec.spec):
        if in_s3(loaded_spec.spec.models[index]):
            continue
        models = repositories.contents(index).folders()
        if engine.model not in models:
            message = f"the repository has no model {engine.model!r} for this engine"
            mark = loaded_spec.source.mark((*path, "model"))
            findings.append(finding_at(mark, UNKNOWN_MODEL, message, did_you_mean(engine.model, models)))
    if findings:
        raise FindingsError(findings)


def require_place(repositories: SpecRepositories, index: int, model: str, compute_capability: str) -> None:
    """Check that an engine has a place in its repository; missing models are ignored.

    Raises:
        FindingsError: the engine has no place.
    """
    contents = repositories.contents(index)
    if model in contents.folders():
        plan_place(contents, model, compute_capability)


def with_engines(archive: LockedArchive, source: PackedArchive, engines: Engines) -> LockedArchive:
    """A locked archive with the engines of its entry, by the names of this copy."""
    own = {
        packed_name(model, source.copy): engine
        for model, engine in sorted(engines.get(source.index, {}).items())
    }
    if not own:
        return archive
    digest = archive_digest(archive.digest, {model: engine.key for model, engine in own.items()})
    return archive.model_copy(update={"digest": digest, "repository": archive.digest, "engines": own})


CODE = "FL306"


def onnx_changes(loaded_spec: LoadedSpec, lock: Lock, new_lock: Lock, hint: str) -> Iterator[Finding]:
    """ONNX models that differ from the lock; `new_lock` is what a new lock would have."""
    for path, index, engine in spec_engines(loaded_spec.spec):
        before, after = (
            locked_engine(loaded_spec.spec, version.archives, index, engine.model)
            for version in (lock, new_lock)
        )
        if before is None or after is None:
            continue
        source = onnx_of(loaded_spec, path, engine, no_s3)
        if isinstance(source, OnnxFile):
            if before.onnx != after.onnx:
                message = f"the ONNX model of {engine.model!r} changed since it was locked"
                yield Finding(code=CODE, message=message, file=source.file, hint=hint)
        elif engine.digest not in (None, before.onnx):
            message = (
                f"the lock has {before.onnx} for the ONNX model of {engine.model!r};"
                f" the spec expects {engine.digest}"
            )
            yield finding_at(loaded_spec.source.mark((*path, "digest")), CODE, message, hint)


def without_engines(lock: Lock) -> Lock:
    """The lock as it would be without engines: a rule finds changes of those."""
    return lock.model_copy(
        update={"archives": {name: _own(archive) for name, archive in lock.archives.items()}}
    )


def _own(archive: LockedArchive) -> LockedArchive:
    if archive.repository is None:
        return archive
    return archive.model_copy(update={"digest": archive.repository, "repository": None, "engines": {}})
