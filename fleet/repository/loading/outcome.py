"""What a Triton container would make of a model repository."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from fleet.core.look import read_once
from fleet.repository.layout import model_names
from fleet.repository.main_model import main_model
from fleet.repository.python.code import check_python_code


def served_models(
    repository: Path, *, multi_model: bool, built: Collection[str] = (), packed: bool = True
) -> tuple[str, ...]:
    """The model directories of a repository that the container of an endpoint can serve, sorted.

    Engines of the models that are `built` need not exist yet; `packed` is whether this product packs it.

    Raises:
        FindingsError: the layout is not Triton's, a Python model lacks its code, or on a multi-model endpoint
            it is left to chance which model answers.
    """
    return read_once(_served, repository, multi_model, frozenset(built), packed)


def _served(repository: Path, multi_model: bool, built: Collection[str], packed: bool) -> tuple[str, ...]:
    models = model_names(repository, built, packed=packed)
    check_python_code([repository / model for model in models], packed=packed)
    if multi_model:
        main_model(repository, models)
    return tuple(models)
