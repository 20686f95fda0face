"""What `docker run` answers of an image's files: the output of `find`, `ls` and `cat`, which do not run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from fleet_emulator.stand_ins.docker.file_tree import FileTree, Node, NodeKind, TreeError
from fleet_emulator.stand_ins.docker.output import FAILED, REFUSED, DockerError, data, report


def run_program(program: str, arguments: Sequence[str], tree: FileTree) -> int:
    """The exit code of a program in a container of an image.

    Raises:
        DockerError: the stand-in cannot answer for the program, or not with these options.
    """
    name = program.rpartition("/")[2]
    if name not in _PROGRAMS:
        known = ", ".join(sorted(_PROGRAMS))
        raise DockerError(
            f"the stand-in runs nothing, so there is no answer of {program or 'the entrypoint'!r};"
            f" it lists files for --entrypoint {known}",
            code=REFUSED,
        )
    if options := [each for each in arguments if each.startswith("-")]:
        raise DockerError(f"the stand-in has no option {options[0]} of {name}: it takes paths", code=REFUSED)
    codes = [_PROGRAMS[name](path, tree) for path in arguments or (["/"] if name != "cat" else [])]
    return max(codes, default=0)


def _found(path: str, tree: FileTree) -> tuple[str, Node] | None:
    try:
        real = tree.resolve(path)
    except TreeError as error:
        report(f"{path}: {error}")
        return None
    node = tree.get(real)
    if node is None:
        report(f"{path}: No such file or directory in what was assembled; a base image has no content here")
        return None
    return real, node


def _find(path: str, tree: FileTree) -> int:
    if (found := _found(path, tree)) is None:
        return FAILED
    data(path)
    for below, _ in tree.below(found[0]):
        data(f"{path.rstrip('/')}/{below[len(found[0]) :].lstrip('/')}")
    return 0


def _list(path: str, tree: FileTree) -> int:
    if (found := _found(path, tree)) is None:
        return FAILED
    for name in tree.names(found[0]) if found[1].kind is NodeKind.FOLDER else [path]:
        data(name)
    return 0


def _cat(path: str, tree: FileTree) -> int:
    if (found := _found(path, tree)) is None:
        return FAILED
    if found[1].kind is NodeKind.FOLDER:
        report(f"{path}: Is a directory")
        return FAILED
    for chunk in found[1].content.chunks() if found[1].content else ():
        sys.stdout.buffer.write(chunk)
    sys.stdout.flush()
    return 0


_PROGRAMS: Mapping[str, Callable[[str, FileTree], int]] = {"cat": _cat, "find": _find, "ls": _list}
