"""Which ONNX models each release of Triton reads: by the version of ONNX Runtime in its images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class OnnxRuntime:
    """The ONNX Runtime of a Triton release, and the newest models that it reads.

    Attributes:
        version: Such as "1.19.2".
        ir_version: The highest version of ONNX's file format.
        opsets: The highest version of each operator set, by its domain, such as "ai.onnx".
    """

    version: str
    ir_version: int
    opsets: Mapping[str, int]


@cache
def onnx_runtime(release: str) -> OnnxRuntime | None:
    """The ONNX Runtime of a Triton release, such as "24.09"; None where it is not known."""
    facts = data_file("onnxruntime.yaml")
    version: str | None = facts["releases"].get(release)
    if version is None:
        return None
    limits: Mapping[str, Any] = facts["reads"][version.rpartition(".")[0]]
    return OnnxRuntime(version=version, ir_version=limits["ir"], opsets=limits["opsets"])
