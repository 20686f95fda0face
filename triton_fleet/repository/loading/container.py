"""The container for which a repository is checked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ServingContainer:
    """How the container of an endpoint would take a repository.

    Attributes:
        multi_model: Whether it is one archive of several, loaded by name when it is called.
        loads_all: Whether it loads every directory, as a shared container does.
        release: The Triton release, such as "25.04"; None where it is not known.
        default_model: The directory that a single container loads, if one is named.
        further: Directories that it is set to load as well.
        own_image: Whether its image is not the release's.
        built: Models whose TensorRT engine is built later: the repository lacks it on purpose.
    """

    multi_model: bool = False
    loads_all: bool = False
    release: str | None = None
    default_model: str | None = None
    further: frozenset[str] = frozenset()
    built: frozenset[str] = frozenset()
    own_image: bool = False
