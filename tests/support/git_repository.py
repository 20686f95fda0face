"""A Git repository around a fleet, whose commits have no author's settings and sign nothing."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

PLAIN = {
    "user.name": "test",
    "user.email": "test@example.com",
    "commit.gpgsign": "false",
    "init.defaultBranch": "main",
}


@dataclass(frozen=True)
class GitRepository:
    """A work tree; it begins with what is in the folder, committed on `main`."""

    top: Path

    @classmethod
    def around(cls, top: Path) -> GitRepository:
        repository = cls(top)
        repository.git("init", "--quiet")
        repository.commit()
        return repository

    def git(self, *command: str) -> str:
        settings = [word for key, value in PLAIN.items() for word in ("-c", f"{key}={value}")]
        process = subprocess.run(
            ["git", *settings, *command], cwd=self.top, check=True, capture_output=True, text=True
        )
        return process.stdout

    def commit(self) -> None:
        """Everything that there is."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")

    def branch(self, name: str = "work") -> None:
        self.git("checkout", "--quiet", "-b", name)

    def diff(self, reference: str = "main") -> list[str]:
        """The output of `git diff --name-only`, a line each."""
        return self.git("diff", "--name-only", reference).splitlines()
