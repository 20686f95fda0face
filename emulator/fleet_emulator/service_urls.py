"""Where moto finds the API calls of a service."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ServiceUrls:
    """The URLs of a service with their handlers; moto reads both fields as those of its modules `urls`."""

    url_bases: Sequence[str]
    url_paths: Mapping[str, Callable[..., Any]]
