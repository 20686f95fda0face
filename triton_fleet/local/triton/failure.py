"""How a Triton or a process of one of its models ended, in words.

The kernel's OOM killer sends SIGKILL and writes to the kernel's log alone: the process that started Triton
gets no notice. So a SIGKILL that the local fleet did not send is explained as the OOM killer's.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

OUT_OF_MEMORY = (
    "give this machine more memory, end other programs, or deploy fewer or smaller models; `dmesg` names what"
    " the kernel has ended"
)
"""The remedy."""
_EXIT_CODE = 49
"""Of the fields after the name in /proc/PID/stat; source: proc_pid_stat(5), field 52."""


def described_end(code: int) -> str:
    """A process's end as the end of a sentence that begins with its name.

    Args:
        code: Its exit code; that of a signal is negative, as subprocess has it.
    """
    if code >= 0:
        return f"ended with exit code {code}"
    if -code == signal.SIGKILL:
        return f"was ended by SIGKILL, probably by the kernel, which was out of memory ({OUT_OF_MEMORY})"
    signals = {Signal.value for Signal in signal.Signals}
    return f"was ended by {signal.Signals(-code).name if -code in signals else f'signal {-code}'}"


def ended_models(server: int) -> Mapping[int, str]:
    """How processes of models ended that a tritonserver has not taken notice of, by their pids."""
    models: dict[int, str] = {}
    try:
        children = psutil.Process(server).children()
    except psutil.Error:
        return models
    for child in children:
        try:
            if child.status() == psutil.STATUS_ZOMBIE:
                models[child.pid] = described_end(_exit_code(child.pid))
        except (psutil.Error, OSError):
            continue  # Triton has taken notice meanwhile
    return models


def _exit_code(zombie: int) -> int:
    status = int(Path(f"/proc/{zombie}/stat").read_text().rpartition(") ")[2].split()[_EXIT_CODE])
    return -(status & 0x7F) if status & 0x7F else status >> 8


_MESSAGE = re.compile(r'^[EW]\d{4} \S+ \d+ \S+\] "(?P<text>.*?)"?\s*$', re.MULTILINE)
_LOAD_FAILURE = re.compile(
    r"failed to load '(?P<model>[^']+)' version \d+: (?:Internal|Invalid argument): (?P<why>.*)", re.DOTALL
)
_UNKNOWN = re.compile(r"failed to poll model '(?P<model>[^']+)': (?P<why>.*)", re.DOTALL)
_UNREADABLE = re.compile(r"Poll failed for model directory '(?P<model>[^']+)': (?P<why>.*)", re.DOTALL)
_SYNTAX = re.compile(r"Error parsing text-format inference\.ModelConfig: (?P<why>.*)")
_NO_STUB = re.compile(r"Failed to preinitialize Python stub: (?P<why>.*)")
_FATAL = re.compile(r"^error: (?P<why>.*)", re.MULTILINE)
_LOADING = re.compile(r'"loading: (?P<model>\S+):\d+"')
LOADED_MODEL = re.compile(r"successfully loaded '(?P<model>[^']+)'")
_STUB_END = re.compile(r"Stub process '[^']*' is not healthy")
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
        if match := _LOAD_FAILURE.search(message):
            reasons.append(f"model '{match['model']}' failed to load: {_shorten(match['why'], repository)}")
        elif match := _UNKNOWN.search(message):
            reasons.append(f"model '{match['model']}': {match['why']}")
        elif match := _UNREADABLE.search(message):
            syntax_reason = f"line {syntax.pop(0)}" if syntax else match["why"]
            reasons.append(f"the config.pbtxt of model '{match['model']}' cannot be read: {syntax_reason}")
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
    if _STUB_END.search(text):
        return (
            " (its process crashed, or was killed, for example by the kernel when memory ran out:"
            f" {OUT_OF_MEMORY})"
        )
    return f" (out of memory: {OUT_OF_MEMORY})" if _NO_MEMORY.search(text) else ""


def still_loading(log: str, repository: Path) -> list[str]:
    """The models whose loading began and has not ended."""
    loading = {match["model"] for match in _LOADING.finditer(log)}
    models = {match["model"] for match in (*LOADED_MODEL.finditer(log), *_LOAD_FAILURE.finditer(log))}
    return sorted(model.replace(f"{repository}::", "") for model in loading - models)


def is_loaded(log: str, model: str) -> bool:
    """Whether a model was loaded, by the name that it is registered under."""
    return any(match["model"] == model for match in LOADED_MODEL.finditer(log))


def _shorten(reason: str, repository: Path) -> str:
    """A Python error without its stack, but with the line of the model's own code if it is in it."""
    error, _, stack = reason.partition("\n\nAt:\n")
    places = (f"{match['file']}:{match['line']}" for match in _PLACE.finditer(stack))
    own = next((place for place in places if place.startswith(f"{repository}/")), "")
    return f"{' '.join(error.split())} ({own})" if own else " ".join(error.split())


def _bad_options(log: str) -> list[str]:
    lines = [line for line in log.splitlines() if line.strip()]
    for line in lines:
        if "unrecognized option" in line:
            return [line.partition(": ")[2]]
    return [" ".join(line for line in lines[-2:] if not line.startswith("\t"))]
