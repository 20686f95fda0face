"""What Git knows of a fleet's files: which changed since a commit, were deleted, or are ignored."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fleet.findings import CannotRunError

MAX_REFERENCE = 512
"""Characters of a reference; Git's own limit is that of a file name."""
MAX_PATH_BYTES = 4096
"""The length of a path; a longer one is not looked for. Linux has the same limit."""
REGULAR_MODE, EXECUTABLE_MODE, LINK_MODE, SUBMODULE_MODE = 0o100644, 0o100755, 0o120000, 0o160000
"""What Git records of a file's mode. Source: git-fast-import(1), "filemodify"."""
FULL_HISTORY = "fetch the history: `git fetch --unshallow`, or `fetch-depth: 0` of actions/checkout"
_ENVIRONMENT = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
"""Messages that can be passed on, an index that is not written, and no questions."""
_OF_A_HOOK = frozenset({"GIT_COMMON_DIR", "GIT_DIR", "GIT_PREFIX", "GIT_WORK_TREE"})
"""What a hook of a linked worktree gets, and Git would believe more than the folder that it is run in.

The index stays: it is where `git commit FILE` has what it commits.
"""
_NO_WORK_TREE = (b"not a git repository", b"must be run in a work tree")
"""How Git reports a folder that is in no work tree; after any other failure it may be in one."""
_LETTERS, _SIGNS = b'"\\abtnvfr', b'"\\\a\b\t\n\v\f\r'
_ESCAPE = re.compile(rb'\\([0-3][0-7]{2}|["\\abtnvfr])')
"""What `core.quotePath` writes for a byte; source: quote.c of Git."""


def work_tree(folder: Path) -> Path | None:
    """The top of the Git work tree that a folder is in; None without one, and without Git.

    Raises:
        CannotRunError: Git refuses to answer, as it does where the clone belongs to another user.
    """
    try:
        done = run_git(folder, "rev-parse", "--show-toplevel")
    except CannotRunError:
        return None
    if done.returncode == 0:
        return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))
    if any(text in done.stderr for text in _NO_WORK_TREE):
        return None
    raise _cannot_read(folder, done)


def changed_files(folder: Path, reference: str) -> list[Path]:
    """The files that differ from where HEAD left a reference, sorted; they may be deleted.

    Raises:
        CannotRunError: Git is missing, the folder is not in a work tree, or it has no such history.
    """
    return sorted(changed_modes(folder, reference))


def changed_modes(folder: Path, reference: str) -> dict[Path, tuple[int, int]]:
    """The files that differ from where HEAD left a reference, with Git's mode of each before and now.

    The mode is 0 where the file does not exist. Commits, the index, the work tree and files that Git does not
    ignore count alike. A file that was renamed counts with both of its names.

    Raises:
        CannotRunError: Git is missing, the folder is not in a work tree, or it has no such history.
    """
    top = work_tree(folder)
    if top is None:
        raise _cannot_read(folder, run_git(folder, "rev-parse", "--show-toplevel"))
    base = merge_base(top, reference)
    options = ("--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
    entries = iter(_answer(top, "diff", *options, base, "--"))
    found = dict[Path, tuple[int, int]]()
    for modes, name in zip(entries, entries, strict=True):
        before, after, *_ = modes.removeprefix(":").split(" ")
        found[top / name] = int(before, 8), int(after, 8)
    for name in _answer(top, "ls-files", "-z", "--others", "--exclude-standard"):
        found.setdefault(top / name, (0, _mode(top / name)))
    return found


def deleted_files(top: Path, path: Path) -> list[Path]:
    """The files at or below a path that does not exist, in the last commit of this clone that has any.

    A link and a submodule are files; nothing for what was never in a commit.
    """
    if not path.is_relative_to(top) or len(os.fsencode(path)) > MAX_PATH_BYTES:
        return []
    literal = f":(top,literal){path.relative_to(top)}"
    # FETCH_HEAD is what `git fetch REMOTE BRANCH` leaves, which is on no branch here.
    last = ("--max-count=1", "--parents", "--ignore-missing", "--all", "FETCH_HEAD", "--", literal)
    commits = run_git(top, "rev-list", *last).stdout.decode("ascii").split()
    for commit in ("HEAD", *commits) if commits else ():  # the last one may have deleted it
        done = run_git(top, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", literal)
        if done.returncode == 0 and done.stdout:
            return [top / os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
    return [path] if commits else []


def ignored_files(folder: Path, paths: Sequence[str]) -> set[str]:
    """Those of the paths below a folder that Git ignores, whether or not they exist; none without Git."""
    names = b"\0".join(os.fsencode(path) for path in paths)
    try:
        done = run_git(folder, "check-ignore", "-z", "--stdin", given=names)
    except CannotRunError:
        return set()
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def is_shallow(top: Path) -> bool:
    """Whether the clone lacks a part of its history."""
    return run_git(top, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"


def unquoted(path: str) -> str:
    """A path without the quotes and escapes that Git prints around signs beyond ASCII; others as they are."""
    if len(path) < 3 or not path[0] == path[-1] == '"':
        return path
    raw = _ESCAPE.sub(lambda found: _sign(found[1]), os.fsencode(path[1:-1]))
    return os.fsdecode(raw)


def _sign(escape: bytes) -> bytes:
    if escape.isdigit():
        return bytes([int(escape, 8)])
    return _SIGNS[_LETTERS.index(escape) :][:1]


def merge_base(top: Path, reference: str) -> str:
    """The id of the commit where HEAD left a reference.

    Raises:
        CannotRunError: there is no such reference, or no such history.
    """
    if not is_commit(top, reference):
        problem = f"git knows no commit {reference[:MAX_REFERENCE]!r}"
        if is_commit(top, f"origin/{reference}"):
            raise CannotRunError(problem, f"write origin/{reference}")
        remedy = "name a branch, a tag or a commit; `git fetch` gets new ones"
        raise CannotRunError(problem, FULL_HISTORY if is_shallow(top) else remedy)
    done = run_git(top, "merge-base", "HEAD", reference)
    if done.returncode != 0:
        problem = f"HEAD and {reference} have no commit in common"
        raise CannotRunError(
            problem, FULL_HISTORY if is_shallow(top) else "name a branch that shares history with HEAD"
        )
    return done.stdout.decode("ascii").strip()


def is_commit(top: Path, reference: str) -> bool:
    """Whether it is one commit; what begins with a hyphen would be an option to other commands."""
    if reference.startswith("-") or len(reference) > MAX_REFERENCE or not reference.isprintable():
        return False
    done = run_git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    return done.returncode == 0


def _answer(top: Path, *command: str) -> list[str]:
    done = run_git(top, *command)
    if done.returncode != 0:
        raise CannotRunError(f"`git {command[0]}` failed: {_problem(done)}", "run it in a clone of the fleet")
    return [os.fsdecode(part) for part in done.stdout.split(b"\0") if part]


def _mode(file: Path) -> int:
    """The mode that Git would give a file; one that vanished meanwhile counts as a plain one."""
    try:
        mode = file.lstat().st_mode
    except OSError:
        return REGULAR_MODE
    if stat.S_ISDIR(mode):  # Git lists a folder that is a repository of its own as one file
        return SUBMODULE_MODE
    return LINK_MODE if stat.S_ISLNK(mode) else EXECUTABLE_MODE if mode & stat.S_IXUSR else REGULAR_MODE


def run_git(folder: Path, *command: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run Git in a folder with something on its standard input; its exit code is left to the caller.

    Raises:
        CannotRunError: Git is not installed.
    """
    inherited = {key: value for key, value in os.environ.items() if key not in _OF_A_HOOK}
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *command],
            capture_output=True,
            input=given,
            env={**inherited, **_ENVIRONMENT},
            check=False,
        )
    except FileNotFoundError as error:
        raise CannotRunError("git is not installed", "install it, or name the endpoints") from error


def _cannot_read(folder: Path, done: subprocess.CompletedProcess[bytes]) -> CannotRunError:
    """Git's refusal, with the command that it proposes itself."""
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    command = next((line.strip() for line in lines if line.startswith("\tgit ")), "")
    remedy = f"run `{command}`" if command else "run it in a clone of the fleet"
    return CannotRunError(f"git cannot read {folder}: {_problem(done)}", remedy)


def _problem(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"it ended with {done.returncode}"
