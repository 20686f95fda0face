"""Where a new spec is written: in a folder below model_specs/, or beside the spec that it copies."""

from __future__ import annotations

import os
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import require_known
from triton_fleet.project.spec_files import spec_files
from triton_fleet.spec.source import FOLDER, SPECS


def spec_of(root: Path, endpoint: str) -> Path:
    """The spec of an endpoint.

    Raises:
        FindingsError: there is none.
    """
    files = spec_files(root).by_endpoint
    return files[require_known(endpoint, list(files), "endpoint")]


def spec_folder(root: Path, folder: str) -> Path:
    """A folder below model_specs/, which need not exist; "" for model_specs/ itself.

    Raises:
        FindingsError: it is elsewhere, or no spec in it would be read.
    """
    parts = Path(os.path.normpath(folder)).parts
    problem, hint = "", f"name a folder below {SPECS}/, such as `--folder search`"
    if parts[:1] == (SPECS,):
        problem, hint = f"it is relative to {SPECS}/", f"leave {SPECS}/ out, as in `--folder search`"
    elif Path(folder).is_absolute() or ".." in parts or not folder.isprintable():
        problem = f"it is not a folder below {SPECS}/"
    elif FOLDER in parts:
        problem, hint = f"{FOLDER} is the name of a folder's file", "choose another name"
    elif any(part.startswith(".") for part in parts):
        problem, hint = "no spec in a hidden folder is read", "choose a name without a dot at its beginning"
    place = root / SPECS
    for part in () if problem else parts:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            what = "a link, and no spec in it is read" if place.is_symlink() else "a file"
            problem, hint = f"{place.relative_to(root)} is {what}", "name another folder"
            break
    if problem:
        message = f'`--folder` is "{folder}": {problem}'
        raise FindingsError([Finding(code="FL112", message=message, hint=hint)])
    return place
