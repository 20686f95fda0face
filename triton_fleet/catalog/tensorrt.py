"""What a TensorRT engine can be asked for, how trtexec spells it, and by which version on which GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.versions import numbers


@dataclass(frozen=True, kw_only=True)
class Option:
    """One value of an engine's option.

    Attributes:
        flag: What trtexec calls it; empty for what it does unasked.
        since: The first TensorRT that knows it; None where all do.
        until: The first TensorRT that no longer does; None where the newest does.
        least_capability: The compute capability that a GPU needs for it; None where all can.
        price: What it costs, in words; empty where nothing.
    """

    flag: str = ""
    since: str | None = None
    until: str | None = None
    least_capability: str | None = None
    price: str = ""

    def known_to(self, tensorrt: str) -> bool:
        """Whether a version of TensorRT has it."""
        late_enough = self.since is None or numbers(tensorrt) >= numbers(self.since)
        return late_enough and (self.until is None or numbers(tensorrt) < numbers(self.until))


@cache
def engine_option(option: Literal["precision", "compatibility"], value: str) -> Option:
    """What is known of a value, such as precision "bf16".

    Raises:
        KeyError: the catalog does not have it.
    """
    section = {"precision": "precisions", "compatibility": "compatibilities"}[option]
    return Option(**data_file("tensorrt.yaml")[section][value])


def option_spelling(name: str, tensorrt: str, value: str = "") -> str:
    """An option as trtexec of a version writes it: `--memPoolSize=workspace:1024`.

    Raises:
        KeyError: the catalog does not have it.
    """
    forms = (Option(**each) for each in data_file("tensorrt.yaml")["spellings"][name])
    return next(form.flag for form in forms if form.known_to(tensorrt)).format(value)
