"""A sample of the spec: what is sent, and what has to come back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Self

from .datatypes import packed

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
                name=each["name"],
                target=each.get("target"),
                model=each.get("model"),
                version=each.get("version"),
                inputs=each["inputs"],
                outputs=each.get("outputs", {}),
                status=each.get("status", OK),
            )
            for each in json.loads(text)
        ]

    def __str__(self) -> str:
        of = f" of {self.target or self.model}" if self.target or self.model else ""
        return f"sample {self.name}{of}"

    @property
    def attributes(self) -> str:
        """What the router of a shared container reads; empty for its default and the newest version."""
        named = {"model": self.model, "version": self.version}
        return ";".join(f"{key}={value}" for key, value in named.items() if value is not None)

    def request(self) -> tuple[bytes, str]:
        """The body that asks for all outputs as binary data, which has NaN and every data type; its type."""
        tensors = [_packed_input(each) for each in self.inputs.values()]
        described = [
            {
                "name": name,
                "shape": each["shape"],
                "datatype": each["datatype"],
                "parameters": {"binary_data_size": len(tensor)},
            }
            for (name, each), tensor in zip(self.inputs.items(), tensors, strict=True)
        ]
        header = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}}).encode()
        return b"".join((header, *tensors)), f"{BINARY}{len(header)}"


def flat(data: Any) -> list[Any]:
    """The elements of nested lists in row-major order; of one value, that value."""
    if not isinstance(data, list):
        return [data]
    return [element for each in data for element in flat(each)]


def _packed_input(tensor: Mapping[str, Any]) -> bytes:
    data = tensor["data"]
    if isinstance(data, list):
        return packed(tensor["datatype"], flat(data))
    return packed(tensor["datatype"], [data]) * prod(map(int, tensor["shape"]))
