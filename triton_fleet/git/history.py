"""Earlier contents of a fleet's files, as Git has them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.core.digests import short_commit
from triton_fleet.findings import CannotRunError
from triton_fleet.git.files import FULL_HISTORY, is_commit, is_shallow
from triton_fleet.git.work_tree import required_work_tree

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
        for found in self._log("HEAD", "--", *paths).split("\0"):
            if found:
                yield Commit(*found.split("\x1f", 2))

    def commit(self, reference: str) -> Commit:
        """The commit that a branch, a tag or an id names.

        Raises:
            CannotRunError: there is none of that name.
        """
        if not is_commit(self._tree, reference):
            remedy = "name a branch, a tag or a commit, as `git log` shows them"
            problem = f"git knows no commit {reference[:80]!r}"
            raise CannotRunError(problem, FULL_HISTORY if is_shallow(self._tree) else remedy)
        found = self._log("-1", "--end-of-options", reference, "--")
        return Commit(*found.rstrip("\0").split("\x1f", 2))

    def content(self, commit: Commit, file: Path) -> bytes | None:
        """A file's content in a commit; None where the commit does not have it."""
        done = self._tree.run("cat-file", "blob", f"{commit.id}:{self._path(file)}")
        return done.stdout if done.returncode == 0 else None

    @property
    def is_shallow(self) -> bool:
        """Whether the clone lacks a part of its history."""
        return is_shallow(self._tree)

    def _log(self, *arguments: str) -> str:
        done = self._tree.run("log", "-z", "--no-show-signature", f"--format={_FORM}", *arguments)
        return done.stdout.decode("utf-8", "replace")

    def _path(self, file: Path) -> str:
        real = Path(os.path.realpath(file.parent)) / file.name
        return real.relative_to(self._tree.top).as_posix()
