"""How much memory the models of a Triton take, by the processes that it runs for them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import psutil


def memory_by_folder(pid: int, root: Path) -> Counter[str]:
    """Bytes by the name of the folder below `root` whose files a process of Triton's was started with.

    Measured is the proportional set size. On this machine every backend runs in processes of its own; an
    ensemble has none.
    """
    taken: Counter[str] = Counter()
    try:
        processes = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return taken
    for process in processes:
        try:
            folder = _folder(process.cmdline(), root)
            if folder is not None:
                taken[folder] += process.memory_full_info().pss
        except psutil.Error:
            continue  # it ended meanwhile
    return taken


def _folder(command: list[str], root: Path) -> str | None:
    for argument in command[1:]:
        if argument.startswith(f"{root}/"):
            return Path(argument).relative_to(root).parts[0]
    return None
