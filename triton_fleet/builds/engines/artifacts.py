"""An engine in a lock and in the artifact bucket: its key, its place in an archive, its objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache

from triton_fleet.core.formats import canonical_digest
from triton_fleet.repository.copies import copied_name
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.lock import LockedArchive, LockedEngine
from triton_fleet.spec.values import hexadecimal

LockedArchives = Mapping[str, LockedArchive]
"""A lock's archives, by name."""


def locked_engines(
    spec: EndpointSpec, archives: LockedArchives, index: int, model: str
) -> Iterator[tuple[str, LockedEngine | None]]:
    """The locked archives of one entry of `models`, each with its entry for a model's engine."""
    for archive in spec.models[index].packed_archives(index):
        if archive.name in archives:
            yield archive.name, archives[archive.name].engines.get(packed_name(model, archive.copy))


def locked_engine(
    spec: EndpointSpec, archives: LockedArchives, index: int, model: str
) -> LockedEngine | None:
    """The lock's entry for an engine: all copies of a repository share it."""
    return next(
        (engine for _, engine in locked_engines(spec, archives, index, model) if engine is not None), None
    )


def packed_name(model: str, copy: int | None) -> str:
    """Name of a model in an archive, which may be one of several copies."""
    return model if copy is None else copied_name(model, copy)


def archive_digest(repository: str, keys: Mapping[str, str]) -> str:
    """`sha256:` and the digest of a repository's own tar stream and the keys of its engines, by model."""
    lines = [repository, *(f"{model} {key}" for model, key in sorted(keys.items())), ""]
    text = "\n".join(lines)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@dataclass(frozen=True, kw_only=True)
class EngineBuild:
    """One plan before it is built: two builds of one key give plans that stand for each other.

    Attributes:
        onnx: The digest of the ONNX model, `sha256:...`.
        arguments: trtexec's, all but those that name files: `--fp16`, `--minShapes=ids:1x128`.
        gpu: The GPU that builds and serves it, as the catalog names it: `A10G`.
        compute_capability: That of the GPU, `8.6`.
        image: The container image that builds and serves it, `sagemaker-tritonserver:25.04-py3`: without
            registry and region, so that it can be promoted; with `@sha256:...` where the digest is known.
    """

    onnx: str
    arguments: tuple[str, ...]
    gpu: str
    compute_capability: str
    image: str

    @property
    def key(self) -> str:
        """`sha256:` and the digest of all of it."""
        return _key(self)


@cache
def _key(build: EngineBuild) -> str:
    """Thousands of copies may share one."""
    return canonical_digest(asdict(build))


ENGINES = "engines/"
"""The prefix of all of it."""
ONNX = f"{ENGINES}onnx/"
"""The prefix of ONNX models, which only publishers and builds that start jobs read."""
PLANS = f"{ENGINES}plans/"
"""The prefix of what was built, and of the requests to builds."""
SCRIPTS = f"{ENGINES}scripts/"
"""The prefix of build scripts."""
JOBS = f"{ENGINES}jobs/"
"""The prefix of the inputs and outputs of jobs that run, each below its own name."""
PLAN, MANIFEST, REQUEST, FAILURE = "model.plan", "manifest.json", "request.json", "failure.json"


def onnx_key(digest: str) -> str:
    """The ONNX model of a digest."""
    return f"{ONNX}{hexadecimal(digest)}.onnx"


def script_key(digest: str) -> str:
    """The build script of a digest: a zip file that Python runs."""
    return f"{SCRIPTS}{hexadecimal(digest)}.zip"


def built_key(key: str, name: str) -> str:
    """One of an engine's files: REQUEST, PLAN, then MANIFEST, which shows that it is whole; or FAILURE."""
    return f"{PLANS}{hexadecimal(key)}/{name}"


def lease_key(key: str) -> str:
    """Who builds an engine now."""
    return f"{ENGINES}leases/{hexadecimal(key)}.json"
