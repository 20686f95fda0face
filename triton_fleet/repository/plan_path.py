"""Where in a model's directory the plan goes that is built for it."""

from __future__ import annotations

from pathlib import PurePosixPath

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.model_config import CONFIG, model_config
from triton_fleet.repository.version_folders import FIRST, is_version

CODE = "FL372"
PLAN = "model.plan"


def taken_path(repository: Contents, path: str) -> Finding:
    """The error for a file where a plan is to be built."""
    message = f"{path!r} exists already, and the spec has an engine to build for it"
    hint = "delete the file, or leave the engine out"
    return Finding(code=CODE, message=message, hint=hint, file=repository.file(path))


def plan_place(repository: Contents, model: str, compute_capability: str) -> str:
    """`VERSION/FILE` below a model's directory, where Triton looks for the plan on such a GPU.

    The version is the model's only one with files, else `1`; the file is that of `cc_model_filenames` for the
    GPU, else `default_model_filename`, else `model.plan`.

    Raises:
        FindingsError: there are several versions, or the file would be in another folder.
    """
    versions = sorted(filter(is_version, repository.folders(model)), key=int)
    if len(versions) > 1:
        message = f"model {model!r} has the versions {', '.join(versions)}, and its engine goes into one"
        hint = "keep one of these folders, with what the plan needs beside it"
        raise FindingsError([Finding(code=CODE, message=message, hint=hint, file=repository.file(model))])
    # A config that cannot be read is reported where the repository is checked.
    config = f"{model}/{CONFIG}"
    parsed = model_config(repository.texts.get(config, b""))
    file = PLAN
    if parsed is not None:
        file = parsed.cc_model_filenames.get(compute_capability) or parsed.default_model_filename or PLAN
    if PurePosixPath(file).name != file:
        message = f"the file of model {model!r} is {file!r}, outside of its version"
        hint = f"leave `default_model_filename` out: the plan is called {PLAN} then"
        raise FindingsError([Finding(code=CODE, message=message, hint=hint, file=repository.file(config))])
    return f"{versions[0] if versions else FIRST}/{file}"
