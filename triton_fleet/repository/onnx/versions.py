"""Models that are newer than the ONNX Runtime of a Triton release reads, in its own words.

Source: onnxruntime, core/graph/model.cc, Model::Model, and core/graph/model_load_utils.h,
ValidateOpsetForDomain; the wording is the same from 1.11 to 1.31.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from triton_fleet.catalog.images import releases
from triton_fleet.catalog.releases import OnnxRuntime, onnx_runtime
from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import OnnxHeader

CODE = "FL477"
ONNX = "ai.onnx"
"""The domain of ONNX's own operators; a file may leave it empty."""


def version_problem(header: OnnxHeader, release: str) -> str:
    """Why the ONNX Runtime of a release, such as "24.09", does not read a model.

    Empty where it does, and where its version is not known.
    """
    ort = onnx_runtime(release)
    if ort is None:
        return ""
    if header.ir_version > ort.ir_version:
        return (
            f"Unsupported model IR version: {header.ir_version}, max supported IR version: {ort.ir_version}"
        )
    for domain, version in header.opsets:
        limit = ort.opsets.get(domain or ONNX)
        if limit is not None and version > limit:
            return (
                "ONNX Runtime only *guarantees* support for models stamped with official released onnx opset"
                f" versions. Opset {version} is under development and support for this is limited. The"
                " operator schemas and or other functionality may change before next ONNX release and in"
                " this case ONNX Runtime will not guarantee backward compatibility. Current official support"
                f" for domain {domain or ONNX} is till opset {limit}."
            )
    return ""


def version_findings(
    config: ParsedConfig, header: OnnxHeader, file: Path, release: str | None
) -> Iterator[Finding]:
    """A graph that is too new for the release; nothing where no release is named."""
    ort = onnx_runtime(release) if release is not None else None
    if ort is None or not (problem := version_problem(header, str(release))):
        return
    runtime = f"ONNX Runtime {ort.version} of Triton {release}"
    message = f"unable to load model '{config.name}': {problem} ({runtime})"
    yield Finding(code=CODE, message=message, file=file, hint=_remedy(header, ort))


def _remedy(header: OnnxHeader, ort: OnnxRuntime) -> str:
    export = f"export the model with IR version {ort.ir_version} and opset {ort.opsets[ONNX]}"
    newer = [
        release for release in releases() if onnx_runtime(release) and not version_problem(header, release)
    ]
    return f"{export}, or use Triton {newer[0]} or newer" if newer else export
