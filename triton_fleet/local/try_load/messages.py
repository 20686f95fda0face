"""Triton's words about a repository, without the paths and names that only this machine's run has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.local.try_load.preparation import Preparation
from triton_fleet.repository.model_config import CONFIG

_LOADED = re.compile(r"successfully loaded '(?P<model>[^']+)'")
_NOT_READ = re.compile(r'failed to read text proto from (?P<file>[^"\n]+)')
_CONFIG_LINE = re.compile(r"\bline (?P<line>\d+):\d+: ")
_MODEL = re.compile(r"\bmodel '(?P<model>[^']+)'")
_CODE_LINE = re.compile(r"\((?P<file>[^()]+):(?P<line>\d+)\)$")
_UNCOMPILED = re.compile(r"\((?P<file>[^()/]+\.py), line (?P<line>\d+)\)$")
"""The end of Python's SyntaxError, which names no folder."""
_OF_STAND_IN = re.compile(
    r"failed to load: TritonModelException: "
    r"(?P<reason>onnx runtime error 1: Load model from (?P<file>\S+) failed:.*?)(?: \(\S+:\d+\))?$"
)
_PREFIXES = re.compile(
    r"load failed for model '[^']*': |version -?\d+ is at UNAVAILABLE state: "
    r"|failed to load '[^']*', failed to poll from model repository; |creating server: [A-Z][A-Za-z ]+ - "
    r"|(?:Internal|Invalid argument|Not found|Unsupported): "
    # A backend that has no stand-in is missing in the image as well.
    r"| \(the backends of this machine: [^()]*\)"
)


@dataclass(frozen=True, kw_only=True)
class Words:
    """Why it was refused, and the place in the repository that this is about, if it is known.

    `by_stand_in` is whether the stand-in for ONNX Runtime's backend refused it, not Triton.
    """

    reason: str
    file: Path | None = None
    line: int | None = None
    by_stand_in: bool = False


def words(reason: str, log: str, prepared: Preparation) -> Words:
    """The report of Triton on the staged copy, in terms of the user's files.

    Args:
        reason: By the HTTP answer or by the log.
        log: What the server wrote, for the place.
        prepared: The staged copy.
    """
    reason = plain(reason, prepared)
    if match := _OF_STAND_IN.search(reason):
        return Words(reason=match["reason"], file=Path(match["file"]), by_stand_in=True)
    if match := _CODE_LINE.search(reason):
        return Words(reason=reason, file=Path(match["file"]), line=int(match["line"]))
    match = _UNCOMPILED.search(reason)
    if match and (code := _code_file(match["file"], reason, prepared.repository)):
        return Words(reason=reason, file=code, line=int(match["line"]))
    return words_about(_config_of(reason, log, prepared), reason, prepared)


def words_about(file: Path | None, reason: str, prepared: Preparation) -> Words:
    """The report of Triton on a file of the repository; the line where it names one of a configuration."""
    reason = plain(reason, prepared)
    line = _CONFIG_LINE.search(reason) if file else None
    return Words(reason=reason, file=file, line=int(line["line"]) if line else None)


def _config_of(reason: str, log: str, prepared: Preparation) -> Path | None:
    """The configuration that Triton could not read, or that of the model that the reason names."""
    unread = [Path(match["file"].strip()) for match in _NOT_READ.finditer(log)]
    named = [prepared.repository / match["model"] / CONFIG for match in _MODEL.finditer(reason)]
    for file in (*unread, *named):
        if file.is_relative_to(prepared.repository) and file.is_file():
            return file.relative_to(prepared.repository)
    return None


def _code_file(name: str, reason: str, repository: Path) -> Path | None:
    """The only file of a name, in the model that the reason names or else in all; None if there are more."""
    models = {match["model"] for match in _MODEL.finditer(reason)}
    folders = [entry for entry in repository.iterdir() if entry.name in models] or [repository]
    files = [file for folder in folders for file in folder.rglob("*.py") if file.name == name]
    return files[0].relative_to(repository) if len(files) == 1 else None


def plain(reason: str, prepared: Preparation) -> str:
    """Without this machine's folders, and what the HTTP answer puts before the sentence."""
    text = _PREFIXES.sub("", reason)
    for folder in (prepared.registered, prepared.repository):
        text = text.replace(f"{folder}::", "").replace(f"{folder}/", "")
    text = text.replace(f"{prepared.folder}/", "")
    return " ".join(text.split()).rstrip("; ")


def ready(log: str) -> tuple[str, ...]:
    """The models that a log reports as loaded, sorted."""
    models = {match["model"].rpartition("::")[2] for match in _LOADED.finditer(log)}
    return tuple(sorted(models))
