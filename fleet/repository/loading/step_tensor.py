"""A tensor as one of the models sees it that pass it on.

Source: triton-inference-server/core, r26.06, src/ensemble_scheduler/ensemble_utils.cc,
ValidateTensorConsistency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ANY = -1


@dataclass(frozen=True)
class SeenTensor:
    """What a model says of a tensor; `dims` are without the batch, which it has if `batching`."""

    model: str
    data_type: str
    dims: tuple[int, ...]
    batching: bool

    @property
    def full(self) -> tuple[int, ...]:
        """The shape with the batch."""
        return (ANY, *self.dims) if self.batching else self.dims


def consistent(one: SeenTensor, other: SeenTensor) -> bool:
    """Whether the shapes fit, without the batch or with it; what varies is Triton's to see at each call."""
    return _fit(one.dims, other.dims) or _fit(one.full, other.full)


def shown(tensor: SeenTensor) -> str:
    """The full shape as Triton writes it."""
    return f"[{','.join(map(str, tensor.full))}]"


def _fit(one: Sequence[int], other: Sequence[int]) -> bool:
    return len(one) == len(other) and all(
        ANY in pair or pair[0] == pair[1] for pair in zip(one, other, strict=True)
    )
