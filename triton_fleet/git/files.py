"""Files of a fleet in Git: changed, in a branch, ignored, and their earlier contents."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.core.formats import short_commit
from triton_fleet.findings import CannotRunError
from triton_fleet.git.work_tree import IN_CLONE, WorkTree, first_line, required_work_tree, work_tree

MAX_REFERENCE = 512
"""Characters of a reference; Git's own limit is that of a file name."""
MAX_PATH_BYTES = 4096
"""The length of a path; a longer one is not looked for. Linux has the same limit."""
REGULAR_MODE, EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE = 0o100644, 0o100755, 0o120000, 0o160000
"""Modes of a file that Git records. Source: git-fast-import(1), "filemodify"."""
SHA1_DIGITS = 40
"""Of an id; a repository with longer ones uses SHA-256. Source: git-init(1), `--object-format`."""
CHUNK_BYTES = 1 << 20
FULL_HISTORY = "fetch the history: `git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout"
_LETTERS, _SIGNS = b'"\\abtnvfr', b'"\\\a\b\t\n\v\f\r'
_ESCAPE = re.compile(rb'\\([0-3][0-7]{2}|["\\abtnvfr])')
"""An escape that `core.quotePath` writes for a byte; source: quote.c of Git."""


def changed_files(folder: Path, reference: str) -> list[Path]:
    """The files that differ from where HEAD left a reference, sorted; they may be deleted.

    Raises:
        CannotRunError: Git is missing, the folder is not in a work tree, or it has no such history.
    """
    return sorted(changed_modes(folder, reference))


def changed_modes(folder: Path, reference: str) -> dict[Path, tuple[int, int]]:
    """The files that differ from where HEAD left a reference, with Git's mode of each before and now.

    The mode is 0 where the file does not exist. Commits, the index, the work tree and files that Git does not
    ignore count alike. A file that was renamed counts with both of its names, and a submodule as one file.

    Raises:
        CannotRunError: Git is missing, the folder is not in a work tree, or it has no such history.
    """
    tree = required_work_tree(folder)
    return _differences(tree, merge_base(tree, reference))


def uncommitted_files(tree: WorkTree) -> tuple[str | None, list[Path]]:
    """The id of HEAD, None before the first commit, and the files that differ from it, sorted.

    Files that Git ignores do not count; those of the index and of submodules do.

    Raises:
        CannotRunError: Git cannot read the work tree.
    """
    commit = merge_base(tree, "HEAD") if is_commit(tree, "HEAD") else None
    empty = tree.run("hash-object", "-t", "tree", "--stdin").stdout.decode("ascii").strip()
    return commit, sorted(_differences(tree, commit or empty))


def tracked_files(tree: WorkTree) -> dict[Path, bool]:
    """The files of the index, each with whether it differs from it and `git diff` is set up not to see that.

    That is what `git update-index` does with `--assume-unchanged` and `--skip-worktree`; a sparse checkout is
    made with the latter. A submodule with such a flag counts as differing.

    Raises:
        CannotRunError: Git cannot read the work tree.
    """
    files = dict[Path, bool]()
    for flag, _, blob, file in _index(tree):
        files[file] = (flag.islower() or flag == b"S") and not _has_content(file, blob)
    return files


def _index(tree: WorkTree) -> Iterator[tuple[bytes, int, str, Path]]:
    """The entries of the index: letter of `ls-files -v`, mode, id of the content, and file."""
    for entry in _entries(tree, "ls-files", "-z", "-v", "--stage"):
        facts, _, name = entry.partition(b"\t")
        flag, mode, blob, _ = facts.split(b" ")
        yield flag, int(mode, 8), blob.decode("ascii"), tree.top / os.fsdecode(name)


def _has_content(file: Path, blob: str) -> bool:
    """Whether the content of a file, as it is on the disk, has an id of Git; a link has not."""
    if file.is_symlink() or not file.is_file():
        return False
    algorithm = "sha1" if len(blob) == SHA1_DIGITS else "sha256"
    digest = hashlib.new(algorithm, b"blob %d\0" % file.stat().st_size, usedforsecurity=False)
    with file.open("rb") as content:
        while chunk := content.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest() == blob


def _differences(tree: WorkTree, commit: str) -> dict[Path, tuple[int, int]]:
    """Files that differ from a commit; Git does not enter submodules, whose settings it would believe."""
    options = (
        "--raw",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
    )
    entries = iter(_entries(tree, "diff", *options, commit, "--"))
    modes = dict[Path, tuple[int, int]]()
    for facts, name in zip(entries, entries, strict=True):
        before, after, *_ = facts.removeprefix(b":").split(b" ")
        modes[tree.top / os.fsdecode(name)] = int(before, 8), int(after, 8)
    for file in _files(tree, "ls-files", "-z", "--others", "--exclude-standard"):
        modes.setdefault(file, (0, _mode(file)))
    for _, mode, _, file in _index(tree):
        if mode == SUBMODULE_MODE and _is_changed(file):
            modes.setdefault(file, (SUBMODULE_MODE, SUBMODULE_MODE))
    return modes


def _is_changed(submodule: Path) -> bool:
    """Whether the work tree of a submodule differs from its own last commit."""
    tree = work_tree(submodule)
    is_own = tree is not None and tree.top == submodule and is_commit(tree, "HEAD")
    return tree is not None and is_own and bool(_differences(tree, "HEAD"))


def is_in_a_branch(tree: WorkTree, file: Path) -> bool:
    """Whether HEAD, its first parent, the last commit of a branch or what was fetched last has a file."""
    if not file.is_relative_to(tree.top) or len(os.fsencode(file)) > MAX_PATH_BYTES:
        return False
    name = file.relative_to(tree.top).as_posix()
    branches = tree.run("for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes").stdout
    # FETCH_HEAD is what `git fetch REMOTE BRANCH` leaves, which is on no branch here.
    commits = ["HEAD", "HEAD^", "FETCH_HEAD", *dict.fromkeys(branches.decode("ascii").split())]
    questions = "".join(f"{commit}:{name}\n" for commit in commits)
    kinds = tree.run("cat-file", "--batch-check=%(objecttype)", stdin=os.fsencode(questions)).stdout
    return b"blob" in kinds.split(b"\n")


def ignored_files(folder: Path, paths: Sequence[str]) -> set[str]:
    """Those of the paths below a folder that Git ignores, whether or not they exist; none without Git."""
    try:
        if (tree := work_tree(folder)) is None:
            return set()
        below = f"{Path(os.path.realpath(folder)).relative_to(tree.top).as_posix()}/"
        names = b"\0".join(os.fsencode(below + path) for path in paths)
        answer = tree.run("check-ignore", "-z", "--stdin", stdin=names)
    except CannotRunError:
        return set()
    return {os.fsdecode(name).removeprefix(below) for name in answer.stdout.split(b"\0") if name}


def is_shallow(tree: WorkTree) -> bool:
    """Whether the clone lacks a part of its history."""
    return tree.run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"


def unquote(path: str) -> str:
    """A path without the quotes and escapes that Git prints around signs beyond ASCII; others as they are."""
    if len(path) < 3 or not path[0] == path[-1] == '"':
        return path
    raw = _ESCAPE.sub(lambda match: _sign(match[1]), os.fsencode(path[1:-1]))
    return os.fsdecode(raw)


def _sign(escape: bytes) -> bytes:
    if escape.isdigit():
        return bytes([int(escape, 8)])
    return _SIGNS[_LETTERS.index(escape) :][:1]


def merge_base(tree: WorkTree, reference: str) -> str:
    """The id of the commit where HEAD left a reference.

    Raises:
        CannotRunError: there is no such reference, or no such history.
    """
    if not is_commit(tree, reference):
        problem = f"git knows no commit {reference[:MAX_REFERENCE]!r}"
        if is_commit(tree, f"origin/{reference}"):
            raise CannotRunError(problem, f"write origin/{reference}")
        remedy = "name a branch, a tag or a commit; `git fetch` gets new ones"
        raise CannotRunError(problem, FULL_HISTORY if is_shallow(tree) else remedy)
    answer = tree.run("merge-base", "HEAD", reference)
    if answer.returncode != 0:
        problem = f"HEAD and {reference} have no commit in common"
        raise CannotRunError(
            problem, FULL_HISTORY if is_shallow(tree) else "name a branch that shares history with HEAD"
        )
    return answer.stdout.decode("ascii").strip()


def is_commit(tree: WorkTree, reference: str) -> bool:
    """Whether it is one commit; what begins with a hyphen would be an option to other commands."""
    if reference.startswith("-") or len(reference) > MAX_REFERENCE or not reference.isprintable():
        return False
    answer = tree.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    return answer.returncode == 0


def contains(folder: Path, commit: str) -> bool:
    """Whether HEAD of the clone that a folder is in contains a commit; False if Git does not know."""
    try:
        tree = work_tree(folder)
        return (
            tree is not None
            and is_commit(tree, commit)
            and tree.run("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0
        )
    except CannotRunError:
        return False


def _files(tree: WorkTree, *command: str) -> Iterator[Path]:
    yield from (tree.top / os.fsdecode(name) for name in _entries(tree, *command))


def _entries(tree: WorkTree, *command: str) -> list[bytes]:
    answer = tree.run(*command)
    if answer.returncode != 0:
        raise CannotRunError(f"`git {command[0]}` failed: {first_line(answer)}", IN_CLONE)
    return [entry for entry in answer.stdout.split(b"\0") if entry]


def _mode(file: Path) -> int:
    """The mode that Git would give a file; one that vanished meanwhile counts as a plain one."""
    try:
        mode = file.lstat().st_mode
    except OSError:
        return REGULAR_MODE
    if stat.S_ISDIR(mode):  # Git lists a folder that is a repository of its own as one file
        return SUBMODULE_MODE
    return LINK_MODE if stat.S_ISLNK(mode) else EXECUTABLE_MODE if mode & stat.S_IXUSR else REGULAR_MODE


_FORM = "%H%x1f%cs%x1f%s"


@dataclass(frozen=True)
class Commit:
    """A commit: its id in full, the day of its committer in ISO 8601, and its subject."""

    id: str
    day: str
    subject: str

    def __str__(self) -> str:
        """The short id, the day and the subject."""
        return f"{short_commit(self.id)} of {self.day}, {self.subject!r}"


class History:
    """The commits of the clone that a fleet is in."""

    def __init__(self, root: Path) -> None:
        """Find the clone.

        Raises:
            CannotRunError: Git is missing, or the fleet is in no clone.
        """
        self._tree = required_work_tree(root)

    def commits(self, files: Sequence[Path]) -> Iterator[Commit]:
        """The commits before and at HEAD that changed one of the files, the newest first."""
        paths = [f":(top,literal){self._path(file)}" for file in files]
        for line in self._log("HEAD", "--", *paths).split("\0"):
            if line:
                yield Commit(*line.split("\x1f", 2))

    def commit(self, reference: str) -> Commit:
        """The commit that a branch, a tag or an id names.

        Raises:
            CannotRunError: there is none of that name.
        """
        if not is_commit(self._tree, reference):
            remedy = "name a branch, a tag or a commit, as `git log` shows them"
            problem = f"git knows no commit {reference[:80]!r}"
            raise CannotRunError(problem, FULL_HISTORY if is_shallow(self._tree) else remedy)
        line = self._log("-1", "--end-of-options", reference, "--")
        return Commit(*line.rstrip("\0").split("\x1f", 2))

    def content(self, commit: Commit, file: Path) -> bytes | None:
        """A file's content in a commit; None where the commit does not have it."""
        answer = self._tree.run("cat-file", "blob", f"{commit.id}:{self._path(file)}")
        return answer.stdout if answer.returncode == 0 else None

    @property
    def is_shallow(self) -> bool:
        """Whether the clone lacks a part of its history."""
        return is_shallow(self._tree)

    def _log(self, *arguments: str) -> str:
        answer = self._tree.run("log", "-z", "--no-show-signature", f"--format={_FORM}", *arguments)
        return answer.stdout.decode("utf-8", "replace")

    def _path(self, file: Path) -> str:
        real = Path(os.path.realpath(file.parent)) / file.name
        return real.relative_to(self._tree.top).as_posix()
