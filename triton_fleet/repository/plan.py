"""A TensorRT plan: where in a model's directory it goes, and which TensorRT built it, by its first bytes.

Source: NVIDIA/TensorRT, samples/common/sampleEngines.cpp, printPlanVersion, in v10.0.0 to v11.1 alike: how
`trtexec --getPlanVersionOnly` shows it without loading the plan. First comes a tag of four bytes, then the
number of the format, 32 bits, little-endian; in format 0 bytes 24 to 27 are major, minor, patch and build.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.entry_path import FIRST, is_version
from triton_fleet.repository.model_config import CONFIG, model_config

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
    config_message = model_config(repository.texts.get(config, b""))
    file = PLAN
    if config_message is not None:
        file = (
            config_message.cc_model_filenames.get(compute_capability)
            or config_message.default_model_filename
            or PLAN
        )
    if PurePosixPath(file).name != file:
        message = f"the file of model {model!r} is {file!r}, outside of its version"
        hint = f"leave `default_model_filename` out: the plan is called {PLAN} then"
        raise FindingsError([Finding(code=CODE, message=message, hint=hint, file=repository.file(config))])
    return f"{versions[0] if versions else FIRST}/{file}"


HEADER = 28
"""The bytes of a plan that contain its version."""
FORMAT_0 = b"ftrt" + bytes(4)
VERSION = slice(24, HEADER)


def plan_version(head: bytes) -> str:
    """The version as four numbers, `10.9.0.34`, by the first 28 bytes or more; "" if it is not known."""
    if len(head) < HEADER or not head.startswith(FORMAT_0):
        return ""
    return ".".join(map(str, head[VERSION]))
