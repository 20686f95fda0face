"""Where in a model's directory the plan goes that is built for it."""

from __future__ import annotations

from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.repository.layout import versions_of
from fleet.repository.model_config import CONFIG, model_config
from fleet.repository.version_folders import FIRST

CODE = "FL372"
PLAN = "model.plan"


def plan_place(model: Path, compute_capability: str) -> str:
    """`VERSION/FILE` below a model's directory, where Triton looks for the plan on such a GPU.

    The version is the model's only one with files, else `1`; the file is that of `cc_model_filenames` for the
    GPU, else `default_model_filename`, else `model.plan`.

    Raises:
        FindingsError: there are several versions, or the file would be in another folder.
    """
    versions = sorted(versions_of(model), key=int)
    if len(versions) > 1:
        message = f"model {model.name!r} has the versions {', '.join(versions)}, and its engine goes into one"
        hint = "keep one of these folders, with what the plan needs beside it"
        raise FindingsError([Finding(code=CODE, message=message, hint=hint, file=model)])
    file = _file(model / CONFIG, compute_capability)
    if Path(file).name != file:
        message = f"the file of model {model.name!r} is {file!r}, outside of its version"
        hint = f"leave `default_model_filename` out: the plan is called {PLAN} then"
        raise FindingsError([Finding(code=CODE, message=message, hint=hint, file=model / CONFIG)])
    return f"{versions[0] if versions else FIRST}/{file}"


def _file(config: Path, compute_capability: str) -> str:
    """The file's name; a config that cannot be read is reported where the repository is checked."""
    message = model_config(config.read_bytes()) if config.is_file() else None
    if message is None:
        return PLAN
    return message.cc_model_filenames.get(compute_capability) or message.default_model_filename or PLAN
