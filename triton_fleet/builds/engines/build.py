"""What one TensorRT plan is made from, and the key that follows from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache

from triton_fleet.core.digests import canonical_digest


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
