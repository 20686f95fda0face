"""A sample of the spec: a call, and the answer that it must get."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Self

from .datatypes import pack

BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
"""A JSON header of so many bytes, with the tensors behind it; source: Triton's src/sagemaker_server.cc."""
OK = 200


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One call; `inputs` and `outputs` are by name, as the spec has them."""

    name: str
    target: str | None
    model: str | None
    version: int | None
    inputs: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, Mapping[str, Any]]
    status: int

    @classmethod
    def all_of(cls, text: str) -> list[Self]:
        """The samples of the property `Samples`."""
        return [
            cls(
                name=sample["name"],
                target=sample.get("target"),
                model=sample.get("model"),
                version=sample.get("version"),
                inputs=sample["inputs"],
                outputs=sample.get("outputs", {}),
                status=sample.get("status", OK),
            )
            for sample in json.loads(text)
        ]

    def __str__(self) -> str:
        suffix = f" of {self.target or self.model}" if self.target or self.model else ""
        return f"sample {self.name}{suffix}"

    @property
    def attributes(self) -> str:
        """Attributes for the router of a shared container; empty for its default and the newest version."""
        parameters = {"model": self.model, "version": self.version}
        return ";".join(f"{key}={value}" for key, value in parameters.items() if value is not None)

    def request(self) -> tuple[bytes, str]:
        """The body that asks for all outputs as binary data, which has NaN and every data type; its type."""
        bodies = [_pack_input(tensor) for tensor in self.inputs.values()]
        headers = [
            {
                "name": name,
                "shape": tensor["shape"],
                "datatype": tensor["datatype"],
                "parameters": {"binary_data_size": len(data)},
            }
            for (name, tensor), data in zip(self.inputs.items(), bodies, strict=True)
        ]
        header = json.dumps({"inputs": headers, "parameters": {"binary_data_output": True}}).encode()
        return b"".join((header, *bodies)), f"{BINARY}{len(header)}"


def flatten(data: Any) -> list[Any]:
    """The elements of nested lists in row-major order; of one value, that value."""
    if not isinstance(data, list):
        return [data]
    return [element for part in data for element in flatten(part)]


def _pack_input(tensor: Mapping[str, Any]) -> bytes:
    data = tensor["data"]
    if isinstance(data, list):
        return pack(tensor["datatype"], flatten(data))
    return pack(tensor["datatype"], [data]) * prod(map(int, tensor["shape"]))
