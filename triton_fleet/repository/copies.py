"""A model repository under other names, so that copies of it can be served together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.python.code import model_names_in
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import Text, parse, strings

NAME, STEP = ("name",), ("ensemble_scheduling", "step", "model_name")


def copied_name(model: str, copy: int) -> str:
    """Name of a model in copy number `copy`; no two models and copies share a name."""
    return f"{model}_{copy}"


def renamed_config(content: bytes, models: Collection[str], copy: int) -> bytes:
    """A config.pbtxt with the names of these models as the copy has them, and nothing else changed.

    Raises:
        PbtxtError: it is not in protobuf's text format.
    """
    result, rest = bytearray(), 0
    for text in _names(content):
        if text.value in models:
            result += content[rest : text.end]
            # An end that is added to the last literal is right whatever quotes and escapes it is written in.
            result += f"_{copy}".encode()
            rest = text.end
    return bytes(result + content[rest:])


def check_copyable(repository: Contents, models: Sequence[str]) -> None:
    """See that renaming the models renames all that refers to them.

    Raises:
        FindingsError: a config cannot be read or names its model otherwise than its directory, or the code of
            a Python model names another model.
    """
    findings: list[Finding] = []
    for model in models:
        if repository.is_file(repository.path(model, CONFIG)):
            findings += _config_findings(repository, model)
    neighbours = {model: set(models) - {model} for model in models}
    for path, size in repository.packed_entries:
        model = path.partition("/")[0]
        if path.endswith(".py") and size is not None and model in neighbours:
            file = repository.file(path)
            names = model_names_in(file, neighbours[model], repository.texts.get(path))
            findings += [_in_code(file, line, name) for line, name in names]
    if findings:
        raise FindingsError(findings)


def _names(content: bytes) -> list[Text]:
    # An empty name counts as none: Triton takes the directory's.
    return [text for text in strings(content) if text.path in (NAME, STEP) and text.value]


def _config_findings(repository: Contents, model: str) -> list[Finding]:
    path = repository.path(model, CONFIG)
    config, content = repository.file(path), repository.texts.get(path)
    if content is None:
        message = "the file is too large to be read, so its model cannot be copied"
        return [Finding(code="FL413", message=message, file=config)]
    try:
        tree = parse(content)
        names = [text.value for text in _names(content) if text.path == NAME]
    except PbtxtError as error:
        message = f"this is not protobuf's text format: {error}"
        hint = "`copies` rewrites the names in it, so it has to be read"
        return [Finding(code="FL413", message=message, file=config, line=error.line, hint=hint)]
    line, column = tree.line("name"), tree.column("name")
    mismatches = (name_mismatch(name, model) for name in names if name != model)
    return [
        Finding(code="FL411", message=message, file=config, line=line, column=column, hint=hint)
        for message, hint in mismatches
    ]


def name_mismatch(name: str, directory: str) -> tuple[str, str]:
    """The message and the hint about a model with another name than its directory, in Triton's words."""
    message = (
        f"unexpected directory name '{directory}' for model '{name}', directory name must equal model name"
    )
    return message, f'write `name: "{directory}"`, or leave it out: Triton takes the directory\'s name'


def _in_code(file: Path, line: int, name: str) -> Finding:
    message = f"the code names the model {name!r}, which has another name in each copy"
    hint = "take the name from the request or from `parameters` in config.pbtxt, or leave out `copies`"
    return Finding(code="FL412", message=message, file=file, line=line, hint=hint)
