"""The files of a fleet as the base of a change has them, in a temporary folder, and the sizes of some."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from isal import isal_zlib

from triton_fleet.changes.endpoint_change import Revision
from triton_fleet.changes.lock_changes import MANY, MAX_FILES, Sizes, differing_files
from triton_fleet.core.folders import GIT
from triton_fleet.core.formats import format_size
from triton_fleet.findings import CannotRunError
from triton_fleet.git.files import EXECUTABLE_MODE, LINK_MODE, REGULAR_MODE, merge_base
from triton_fleet.git.work_tree import IN_CLONE, WorkTree, first_line, required_work_tree
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.endpoint import in_s3
from triton_fleet.store.archive import crc_text

MAX_BYTES = 1 << 28
"""Of all files that are brought at one time: the product itself has some 10 MB."""
MAX_ARGUMENTS = 500
"""Paths for one process of Git."""
WHOLE_CLONE = "fetch them: `git fetch --refetch --no-filter`, or clone without `--filter`"
_ABSENT_SIZE = b"BAD"
"""How `ls-tree` prints the size of what a partial clone has not fetched."""


@dataclass(frozen=True, kw_only=True)
class BaseTree:
    """Where the base is: its commit, the fleet's folder, and what corresponds to the top of the work tree."""

    commit: str
    root: Path
    place: Path
    tree: WorkTree
    """The fleet's work tree, from whose commits the files come."""


@contextmanager
def base_tree(root: Path, reference: str) -> Iterator[BaseTree]:
    """Write the fleet's own files as they are where HEAD left a reference; the clone stays as it is.

    Args:
        root: The fleet.
        reference: A branch, a tag or a commit.

    Raises:
        CannotRunError: Git is missing, the fleet is in no clone, or the clone lacks such history.
    """
    tree = required_work_tree(root)
    commit = merge_base(tree, reference)
    below = Path(os.path.realpath(root)).relative_to(tree.top)
    with TemporaryDirectory(prefix="fleet-report-") as folder:
        place = Path(os.path.realpath(folder))
        base = BaseTree(commit=commit, root=place / below, place=place, tree=tree)
        base.root.mkdir(parents=True, exist_ok=True)
        check_out(base, SYNTHESIS_INPUTS)
        yield base


def check_out(base: BaseTree, parts: Sequence[str]) -> None:
    """Write those of some files and folders of the fleet that the base has, as they are in the commit.

    Git itself would run hooks and filters for it. Submodules are left out.

    Raises:
        CannotRunError: Git failed, or a commit has what Git would not write either.
    """
    below = base.root.relative_to(base.place)
    entries = _list_files(base, [below / part for part in parts])
    if any(size == _ABSENT_SIZE for _, _, _, size, _ in entries):
        raise CannotRunError("the clone lacks files of the base", WHOLE_CLONE)
    files = [entry for entry in entries if int(entry[0], 8) in {REGULAR_MODE, EXECUTABLE_MODE, LINK_MODE}]
    if (total := sum(int(size) for _, _, _, size, _ in files)) > MAX_BYTES:
        problem = f"the base has {format_size(total)} in {', '.join(parts)}"
        raise CannotRunError(
            f"{problem}, more than {format_size(MAX_BYTES)}", "remove what is not the fleet's"
        )
    contents = _contents(base.tree, [identity for _, _, identity, _, _ in files])
    # Links come last, so that no file is written through one.
    for (mode, *_, name), content in sorted(
        zip(files, contents, strict=True), key=lambda item: int(item[0][0], 8) == LINK_MODE
    ):
        try:
            _write(base.place / _path(name), int(mode, 8), content)
        except (OSError, ValueError) as error:  # too long a name; a target with a zero byte
            reason = getattr(error, "strerror", None) or error
            problem = f"a file of the base cannot be written: {reason}: {os.fsdecode(name)!r}"
            raise CannotRunError(problem, "run `git fsck`, or free disk space") from error


def base_files(base: BaseTree, files: Sequence[Path], limit: int) -> Mapping[Path, bytes]:
    """The content of those of some files below `base.place` that the base has and Git has fetched.

    Args:
        base: The base of the change.
        files: Absolute paths; none is written there.
        limit: Bytes of one file, and of all of them; the largest are left out.
    """
    names, sizes = {*files}, dict[Path, tuple[int, bytes]]()
    for start in range(0, len(files), MAX_ARGUMENTS):
        paths = [file.relative_to(base.place) for file in files[start : start + MAX_ARGUMENTS]]
        for mode, _, identity, size, name in _list_files(base, paths):
            file = base.place / os.fsdecode(name)
            is_file = int(mode, 8) in {REGULAR_MODE, EXECUTABLE_MODE}
            if is_file and size != _ABSENT_SIZE and file in names:
                sizes[file] = int(size), identity
    identities, total = dict[Path, bytes](), 0
    for file, (length, identity) in sorted(sizes.items(), key=lambda item: item[1][0]):
        if (total := total + length) > limit:
            break
        identities[file] = identity
    return dict(zip(identities, _contents(base.tree, [*identities.values()]), strict=True))


def _list_files(base: BaseTree, paths: Sequence[Path]) -> list[tuple[bytes, bytes, bytes, bytes, bytes]]:
    """Mode, type, identity, size and name of the files at and below some paths, from `base.place`."""
    literal = [f":(top,literal){path.as_posix()}" for path in paths]
    output = _git(base.tree, "ls-tree", "-r", "-l", "-z", "--full-tree", base.commit, "--", *literal)
    lines = (entry.partition(b"\t") for entry in output.split(b"\0") if entry)
    entries = ((facts.split(), name) for facts, _, name in lines)
    return [(mode, kind, identity, size, name) for (mode, kind, identity, size), name in entries]


def _write(file: Path, mode: int, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if mode == LINK_MODE:
        file.symlink_to(os.fsdecode(content))
    else:
        file.write_bytes(content)
        file.chmod(0o755 if mode == EXECUTABLE_MODE else 0o644)


def _path(name: bytes) -> PurePosixPath:
    path = PurePosixPath(os.fsdecode(name))
    if path.is_absolute() or {"..", GIT} & {part.lower() for part in path.parts}:
        raise CannotRunError(f"the base has a file {str(path)!r}, which Git does not write", "run `git fsck`")
    return path


def _contents(tree: WorkTree, identities: Sequence[bytes]) -> Iterator[bytes]:
    """The content of each object: `cat-file` prints a line with its size, the content and a line end."""
    output, start = (
        _git(tree, "cat-file", "--batch", stdin=b"".join(identity + b"\n" for identity in identities)),
        0,
    )
    for _ in identities:
        end = output.index(b"\n", start)
        facts = output[start:end].split()
        start = end + 2 + int(facts[2])
        yield output[end + 1 : start - 1]


def _git(tree: WorkTree, *command: str, stdin: bytes = b"") -> bytes:
    process = tree.run(*command, stdin=stdin)
    if process.returncode != 0:
        raise CannotRunError(f"git cannot read the base: {first_line(process)}", IN_CLONE)
    return process.stdout


MAX_READ_BYTES = 1 << 26
"""Of a file that is read to compare it with its checksum; weights that Git keeps may be larger."""
SizesByEndpoint = Mapping[str, Mapping[str, Sizes]]
"""Bytes by endpoint, repository and path."""


@dataclass(frozen=True)
class _LockedFile:
    endpoint: str
    repository: str
    path: str
    checksum: str
    file: Path


def file_sizes(
    base: BaseTree, before: Mapping[str, Revision], after: Mapping[str, Revision], names: Sequence[str]
) -> tuple[SizesByEndpoint, SizesByEndpoint]:
    """The sizes in the base and in the work tree of the files that differ, by the locks of some endpoints.

    A file of another content than the lock recorded is left out: weights that Git does not keep, a pointer to
    them, and what has changed since an environment was promoted.
    """
    files = [*_files(before, before, after, names)]
    contents = base_files(
        base, [file.file for file in files if file.file.is_relative_to(base.place)], MAX_READ_BYTES
    )
    old = _sizes((file, contents.get(file.file)) for file in files)
    top = base.tree.top
    new = _sizes((file, _content(top, file.file)) for file in _files(after, before, after, names))
    return old, new


def _files(
    side: Mapping[str, Revision],
    before: Mapping[str, Revision],
    after: Mapping[str, Revision],
    names: Sequence[str],
) -> Iterator[_LockedFile]:
    """The files of one side whose checksums differ."""
    for name in names:
        old, new, mine = (revisions.get(name) for revisions in (before, after, side))
        if not (old and new and mine and old.lock and new.lock and mine.lock and mine.loaded_spec):
            continue
        for repository, folder in _folders(mine.loaded_spec):
            checksums = (
                mine.lock.repositories[repository].files if repository in mine.lock.repositories else {}
            )
            for path in differing_files(repository, old.lock, new.lock)[:MAX_FILES]:
                if path in checksums and path.isprintable() and not path.endswith(MANY):
                    file = Path(os.path.normpath(folder / path))
                    yield _LockedFile(name, repository, path, checksums[path], file)


def _folders(spec: LoadedSpec) -> Iterator[tuple[str, Path]]:
    """The model repositories that are folders, by name, wherever they are."""
    for index, model in enumerate(spec.spec.models):
        if not in_s3(model):
            yield (
                model.archive,
                spec.source.mark(("models", index, "repository")).file.parent / model.repository,
            )


def _sizes(contents: Iterator[tuple[_LockedFile, bytes | None]]) -> SizesByEndpoint:
    sizes = defaultdict[str, dict[str, dict[str, int]]](lambda: defaultdict(dict))
    for locked_file, content in contents:
        if content is not None and crc_text(isal_zlib.crc32(content)) == locked_file.checksum:
            sizes[locked_file.endpoint][locked_file.repository][locked_file.path] = len(content)
    return sizes


def _content(top: Path, file: Path) -> bytes | None:
    """A file of the work tree; None of a link, of one elsewhere, and of one too large."""
    try:
        real = Path(os.path.realpath(file))
        if real != file or not file.is_relative_to(top) or not file.is_file():
            return None
        return file.read_bytes() if file.stat().st_size <= MAX_READ_BYTES else None
    except OSError:
        return None
