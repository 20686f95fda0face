"""Git on a work tree of others: it reads files and commits, and runs nothing that these or their .git hold.

Git takes a folder with HEAD, objects/ and refs/ for a repository and believes its `config`, which names
programs: a file system monitor, hooks, filters, diff drivers. So its folder is never left to Git to find, and
in the place of a clone's own `config` Git reads one that is written here (docs/decisions/0038).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.core.folders import git_tops
from triton_fleet.findings import CannotRunError

IN_CLONE = "run it in a clone of the fleet"
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
}
"""Messages that can be passed on, an index that is not written, no questions, and no calls of a remote."""
_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",
    "submodule.recurse=false",
)
"""Settings that overrule those of the user and the machine."""
_OF_A_HOOK = frozenset({"GIT_COMMON_DIR", "GIT_DIR", "GIT_PREFIX", "GIT_WORK_TREE"})
"""Variables of a hook that Git would believe more than the folder that it is run in.

The index stays: it is where `git commit FILE` has what it commits.
"""
_NOT_A_REPOSITORY = b"not a git repository"
"""How Git reports that no repository exists; after any other failure one may."""
_COMMON = ("objects", "refs", "packed-refs", "reftable", "info", "logs", "shallow")
"""Files that linked worktrees share and Git reads; not `config`, `hooks`. Source: gitrepository-layout(5)."""
_OWN_SCOPES = frozenset({b"local", b"worktree"})
_READ_KEYS = re.compile(
    r"core\.(repositoryformatversion|filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|trustctime|checkstat"
    r"|sparsecheckout|sparsecheckoutcone|excludesfile)|index\.sparse|extensions\.(objectformat|refstorage)"
    r"|branch\..*\.(remote|merge)|remote\..*\.fetch"
)
"""Settings of a clone that Git needs to read it; none names a program, or another file of settings."""


@dataclass(frozen=True)
class WorkTree:
    """A work tree and what Git needs to read it.

    Attributes:
        top: Its top, links followed.
        folder: Git's folder of it, with HEAD and the index.
        settings: The text of the configuration with which Git reads it.
    """

    top: Path
    folder: Path
    settings: str

    def run(self, *command: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run Git at the top with something on its standard input; its exit code is left to the caller.

        Raises:
            CannotRunError: Git is not installed.
        """
        with self._common() as common:
            variables = {"GIT_DIR": self.folder, "GIT_COMMON_DIR": common, "GIT_WORK_TREE": self.top}
            return _run(self.top, command, {key: str(path) for key, path in variables.items()}, stdin)

    @contextmanager
    def _common(self) -> Iterator[Path]:
        """A folder for GIT_COMMON_DIR: the clone's objects and references, without its settings and hooks."""
        origin = common_folder(self.folder)
        with tempfile.TemporaryDirectory(prefix="fleet-git-") as folder:
            common = Path(folder)
            for name in _COMMON:
                if os.path.lexists(origin / name):
                    (common / name).symlink_to(origin / name)
            (common / "config").write_text(self.settings, "utf-8", "surrogateescape")
            yield common


def work_tree(folder: Path) -> WorkTree | None:
    """The Git work tree that a folder is in; None without one, and without Git.

    Raises:
        CannotRunError: Git refuses to answer, as it does where the clone belongs to another user.
    """
    for top in git_tops(folder):
        try:
            answer = _ask(top, "rev-parse", "--is-inside-work-tree", "--absolute-git-dir")
        except CannotRunError:
            return None
        inside, _, folder_name = answer.stdout.partition(b"\n")
        if answer.returncode == 0 and inside == b"true":
            return WorkTree(top, Path(os.fsdecode(folder_name.removesuffix(b"\n"))), _settings(top))
        if answer.returncode != 0 and _NOT_A_REPOSITORY not in answer.stderr:
            raise _cannot_read(folder, answer)
    return None


def required_work_tree(folder: Path) -> WorkTree:
    """The Git work tree that a folder is in.

    Raises:
        CannotRunError: it is in none, Git is not installed, or refuses to answer.
    """
    if tree := work_tree(folder):
        return tree
    if shutil.which("git") is None:
        raise CannotRunError("git is not installed", "install it, or name the endpoints")
    raise CannotRunError(f"{folder} is not in a Git work tree", IN_CLONE)


def common_folder(folder: Path) -> Path:
    """Where a clone's objects are, from Git's folder of one worktree; source: gitrepository-layout(5)."""
    try:
        target = (folder / "commondir").read_bytes().rstrip(b"\n")
    except OSError:
        return folder
    return folder / os.fsdecode(target)


def first_line(process: subprocess.CompletedProcess[bytes]) -> str:
    """The first line of a failure."""
    lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("fatal: ") if lines else f"it ended with {process.returncode}"


def _ask(top: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    """Run one of the commands that need no index, and so run nothing, on the `.git` of a folder alone."""
    return _run(top, command, {"GIT_CEILING_DIRECTORIES": str(top.parent)}, b"")


def _settings(top: Path) -> str:
    answer = _ask(top, "config", "--no-includes", "--null", "--show-scope", "--list")
    if answer.returncode != 0:
        raise _cannot_read(top, answer)
    *words, _ = answer.stdout.split(b"\0")
    pairs = zip(words[::2], words[1::2], strict=True)
    settings = [os.fsdecode(pair) for scope, pair in pairs if scope in _OWN_SCOPES]
    return "".join(
        _setting(*setting.partition("\n"))
        for setting in settings
        if _READ_KEYS.fullmatch(setting.partition("\n")[0])
    )


def _setting(key: str, separator: str, value: str) -> str:
    """A section with one key, in the form of git-config(1); a key alone is true."""
    section, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    head = f'{section} "{_escape(name)}"' if name else section
    return f"[{head}]\n\t{last}" + (f' = "{_escape(value)}"\n' if separator else "\n")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _run(
    folder: Path, command: tuple[str, ...], variables: Mapping[str, str], stdin: bytes
) -> subprocess.CompletedProcess[bytes]:
    variables_of_caller = {key: value for key, value in os.environ.items() if key not in _OF_A_HOOK}
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    try:
        return subprocess.run(
            ["git", "-C", str(folder), "--no-pager", *settings, *command],
            capture_output=True,
            input=stdin,
            env={**variables_of_caller, **_ENVIRONMENT, **variables},
            check=False,
        )
    except FileNotFoundError as error:
        raise CannotRunError("git is not installed", "install it, or name the endpoints") from error


def _cannot_read(folder: Path, process: subprocess.CompletedProcess[bytes]) -> CannotRunError:
    """Git's refusal, with the command that it proposes itself."""
    lines = process.stderr.decode("utf-8", "replace").splitlines()
    command = next((line.strip() for line in lines if line.startswith("\tgit ")), "")
    remedy = f"run `{command}`" if command else IN_CLONE
    return CannotRunError(f"git cannot read {folder}: {first_line(process)}", remedy)
