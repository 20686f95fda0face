"""Which model the container's start script loads from a repository, and when it refuses to start.

Source: docker/sagemaker/serve of triton-inference-server/server, r25.04; the errors are in its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fleet_emulator.hosting import HostingError
from triton_fleet.repository.model_config import CONFIG

DEFAULT_MODEL = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"
INFERENCE_TYPE = "SAGEMAKER_TRITON_INFERENCE_TYPE"
MULTI_MODEL = "SAGEMAKER_MULTI_MODEL"
INFERENCE_TYPES = ("infer", "generate", "generate_stream")


def is_multi_model(environment: Mapping[str, str]) -> bool:
    """Whether models are loaded later, one repository each; the script compares with the lower-case word."""
    return environment.get(MULTI_MODEL) == "true"


def default_model(repository: Path, environment: Mapping[str, str]) -> str:
    """The directory that single-model mode loads and that /invocations asks.

    Raises:
        HostingError: the container would not start with this repository and environment.
    """
    if (repository / CONFIG).is_file():
        raise HostingError(
            "Incorrect directory structure. Model directory needs to contain the top level folder"
            " (config.pbtxt is at the root of the archive)"
        )
    inference_type = environment.get(INFERENCE_TYPE)
    if inference_type and inference_type not in INFERENCE_TYPES:
        choices = ", ".join(INFERENCE_TYPES)
        raise HostingError(f"Invalid {INFERENCE_TYPE} '{inference_type}'. Must be one of: {choices}")
    if name := environment.get(DEFAULT_MODEL):
        if not (repository / name).is_dir():
            raise HostingError(f"Directory with provided {DEFAULT_MODEL} {name} does not exist")
        return name
    return _only_directory(repository)


def _only_directory(repository: Path) -> str:
    # `find -type d`, as the script does it: hidden directories count, links to directories do not.
    paths = repository.iterdir() if repository.is_dir() else ()
    names = sorted(path.name for path in paths if path.is_dir() and not path.is_symlink())
    if not names:
        raise HostingError("No model found in model repository")
    if len(names) > 1:
        raise HostingError(
            "More than 1 model directory found in model repository. Either provide a single directory or set"
            f" {DEFAULT_MODEL} to run the ensemble backend."
            f" Directories found in model repository: {' '.join(names)}"
        )
    return names[0]
