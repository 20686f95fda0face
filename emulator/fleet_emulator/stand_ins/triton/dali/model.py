"""A model directory of Triton's DALI backend, loaded by the stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet_emulator.stand_ins.triton.dali.arguments import UnknownToStandInError
from fleet_emulator.stand_ins.triton.dali.config_match import mismatches
from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.pipeline_file import MAX_SIZE, NoPipelineError, read_pipeline

PIPELINE = "model.dali"


class NotServedError(Exception):
    """Why the model cannot be served on this machine, with its name."""


def load(version: Path, config: Mapping[str, Any]) -> Graph:
    """The pipeline in a version directory, which the configuration fits.

    Args:
        version: The directory.
        config: The ModelConfig as Triton gives it to Python models.

    Raises:
        NotServedError: there is none, it does more than the stand-in knows, or the configuration differs.
    """
    file = config.get("default_model_filename") or PIPELINE
    model = f"model '{config['name']}'"
    try:
        with (version / file).open("rb") as opened:
            graph = Graph(read_pipeline(opened.read(MAX_SIZE + 1)))
    except (OSError, NoPipelineError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise NotServedError(
            f"{model}, {file}: {reason}; the stand-in for DALI on this machine takes what DALI's"
            " Pipeline.serialize has written, and no dali.py"
        ) from None
    except UnknownToStandInError as error:
        raise NotServedError(f"{model}, {file}: the stand-in for DALI does not know {error}") from None
    for problem in mismatches(config, graph):
        raise NotServedError(f"{model}, {problem}")
    return graph
