"""Why a Triton did not start, in one sentence from the hundreds of lines of its log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from triton_fleet.local.triton.exit_cause import OUT_OF_MEMORY

_MESSAGE = re.compile(r'^[EW]\d{4} \S+ \d+ \S+\] "(?P<text>.*?)"?\s*$', re.MULTILINE)
_FAILED = re.compile(
    r"failed to load '(?P<model>[^']+)' version \d+: (?:Internal|Invalid argument): (?P<why>.*)", re.DOTALL
)
_UNKNOWN = re.compile(r"failed to poll model '(?P<model>[^']+)': (?P<why>.*)", re.DOTALL)
_UNREADABLE = re.compile(r"Poll failed for model directory '(?P<model>[^']+)': (?P<why>.*)", re.DOTALL)
_SYNTAX = re.compile(r"Error parsing text-format inference\.ModelConfig: (?P<why>.*)")
_NO_STUB = re.compile(r"Failed to preinitialize Python stub: (?P<why>.*)")
_FATAL = re.compile(r"^error: (?P<why>.*)", re.MULTILINE)
_LOADING = re.compile(r'"loading: (?P<model>\S+):\d+"')
_LOADED = re.compile(r"successfully loaded '(?P<model>[^']+)'")
_ENDED = re.compile(r"Stub process '[^']*' is not healthy")
_NO_MEMORY = re.compile(r"MemoryError|[Oo]ut of memory|bad_alloc")
_PLACE = re.compile(r"^\s+(?P<file>/\S+)\((?P<line>\d+)\): ", re.MULTILINE)
# What a Triton built with CUDA logs on every machine without.
_NO_GPU = re.compile(r"CudaDriverHelper|CUDA driver version is insufficient")


def explain(log: str, repository: Path, backends: Sequence[str]) -> str:
    """Triton's own reason, with the model's name; empty when the log has none.

    Args:
        log: What the server wrote since it was started.
        repository: The model repository; its path is left out of the answer.
        backends: The backends that this machine has, named when another one is asked for.
    """
    messages = [match["text"].replace("\\n", "\n") for match in _MESSAGE.finditer(log)]
    syntax = [match["why"] for match in _SYNTAX.finditer(log)]
    reasons = []
    for message in messages:
        if match := _FAILED.search(message):
            reasons.append(f"model '{match['model']}' failed to load: {_shorten(match['why'], repository)}")
        elif match := _UNKNOWN.search(message):
            reasons.append(f"model '{match['model']}': {match['why']}")
        elif match := _UNREADABLE.search(message):
            why = f"line {syntax.pop(0)}" if syntax else match["why"]
            reasons.append(f"the config.pbtxt of model '{match['model']}' cannot be read: {why}")
    reasons += [match["why"] for match in _NO_STUB.finditer(log)]
    if not reasons:
        reasons = [match["why"] for match in _FATAL.finditer(log)]
    if not reasons and "Usage: tritonserver" in log:
        reasons = _bad_options(log)
    if not reasons:
        reasons = [message for message in messages if message and not _NO_GPU.search(message)]
    text = "; ".join(dict.fromkeys(reason.strip().rstrip(";") for reason in reasons))
    text = text.replace(f"{repository}::", "").replace(f"{repository}/", "")
    if "unable to find backend library" in text:
        text += f" (the backends of this machine: {', '.join(backends)})"
    return f"{text}{_lack_of_memory(text)}"


def _lack_of_memory(text: str) -> str:
    if _ENDED.search(text):
        return (
            " (its process crashed, or was killed, for example by the kernel when memory ran out:"
            f" {OUT_OF_MEMORY})"
        )
    return f" (out of memory: {OUT_OF_MEMORY})" if _NO_MEMORY.search(text) else ""


def still_loading(log: str, repository: Path) -> list[str]:
    """The models whose loading began and has not ended."""
    loading = {match["model"] for match in _LOADING.finditer(log)}
    ended = {match["model"] for match in (*_LOADED.finditer(log), *_FAILED.finditer(log))}
    return sorted(model.replace(f"{repository}::", "") for model in loading - ended)


def is_loaded(log: str, model: str) -> bool:
    """Whether a model was loaded, by the name that it is registered under."""
    return any(match["model"] == model for match in _LOADED.finditer(log))


def _shorten(why: str, repository: Path) -> str:
    """A Python error without its stack, but with the line of the model's own code if it is in it."""
    error, _, stack = why.partition("\n\nAt:\n")
    places = (f"{match['file']}:{match['line']}" for match in _PLACE.finditer(stack))
    own = next((place for place in places if place.startswith(f"{repository}/")), "")
    return f"{' '.join(error.split())} ({own})" if own else " ".join(error.split())


def _bad_options(log: str) -> list[str]:
    lines = [line for line in log.splitlines() if line.strip()]
    for line in lines:
        if "unrecognized option" in line:
            return [line.partition(": ")[2]]
    return [" ".join(line for line in lines[-2:] if not line.startswith("\t"))]
