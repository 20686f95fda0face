"""Which of the files beside it was meant where the one that a backend looks for is missing."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import splitext

from fleet.catalog.backends import Backend, ModelFile
from fleet.repository.contents import Entry, Kind


def meant_file(facts: Backend, there: Mapping[str, Entry], wanted: ModelFile) -> str:
    """A hint: what to write or rename where one entry alone looks like what was meant."""
    for each in facts.files:
        if each.parameter and each.name in there and each.name != wanted.name:
            (key, value), *_ = each.parameter.items()
            return f'{each.name} is that of `{key}` "{value}": write that, or put {wanted.name} there'
    kinds = {"file": (Kind.FILE,), "folder": (Kind.FOLDER,), "either": (Kind.FILE, Kind.FOLDER)}[wanted.kind]
    ending = splitext(wanted.name)[1]
    like = [name for name, entry in there.items() if splitext(name)[1] == ending and entry.kind in kinds]
    if len(like) == 1:
        return f'write `default_model_filename: "{like[0]}"`, or rename it to {wanted.name}'
    what = "the folder" if wanted.kind == "folder" else "the model"
    return f"put {what} there as {wanted.name}, or name it with `default_model_filename`"
