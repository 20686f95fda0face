"""What a TensorRT engine can be asked for, and by which version on which GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class Option:
    """One value of an engine's option.

    Attributes:
        since: The first TensorRT that knows it; None where all do.
        until: The first TensorRT that no longer does; None where the newest does.
        least_capability: The compute capability that a GPU needs for it; None where all can.
    """

    since: str | None = None
    until: str | None = None
    least_capability: str | None = None


@cache
def engine_option(option: Literal["precision", "compatibility"], value: str) -> Option:
    """What is known of a value, such as precision "bf16".

    Raises:
        KeyError: the catalog does not have it.
    """
    section = {"precision": "precisions", "compatibility": "compatibilities"}[option]
    return Option(**data_file("tensorrt.yaml")[section][value])
