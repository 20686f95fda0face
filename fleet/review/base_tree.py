"""The files of a fleet as the base of a change has them, in a work tree that is always removed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet.findings import CannotRunError
from fleet.selection.git import merge_base, run_git, work_tree

PARTS = ("model_specs", "locks", "environments", "profiles", "policies", "cdk.json", "requirements.txt")
"""What a synthesis reads; model repositories, with their weights, are not among it."""
NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")


@dataclass(frozen=True, kw_only=True)
class BaseTree:
    """Where the base is: its commit, and the fleet's folder in its work tree.

    Attributes:
        place: The top of that work tree.
        top: The top of the work tree that is under review, without links.
    """

    commit: str
    root: Path
    place: Path
    top: Path


@contextmanager
def base_tree(root: Path, reference: str) -> Iterator[BaseTree]:
    """Check out the fleet's own files as they are where HEAD left a reference.

    Args:
        root: The fleet.
        reference: A branch, a tag or a commit.

    Raises:
        CannotRunError: Git is missing, the fleet is in no clone, or the clone lacks such history.
    """
    top = work_tree(root)
    if top is None:
        run_git(root, "--version")
        raise CannotRunError(f"{root} is not in a Git work tree", "run it in a clone of the fleet")
    commit = merge_base(top, reference)
    real = Path(os.path.realpath(top))
    below = Path(os.path.realpath(root)).relative_to(real)
    with TemporaryDirectory(prefix="fleet-report-") as folder:
        place = Path(folder) / "base"
        try:
            _git(
                top, *NO_HOOKS, "worktree", "add", "--quiet", "--detach", "--no-checkout", str(place), commit
            )
            found = BaseTree(commit=commit, root=place / below, place=place, top=real)
            check_out(found, PARTS)
            found.root.mkdir(parents=True, exist_ok=True)
            yield found
        finally:
            run_git(top, "worktree", "remove", "--force", str(place))
            run_git(top, "worktree", "prune")


def check_out(base: BaseTree, parts: Sequence[str]) -> None:
    """Bring those of some files and folders of the fleet that the base has.

    Raises:
        CannotRunError: Git failed.
    """
    below = base.root.relative_to(base.place)
    wanted = [(below / each).as_posix() for each in parts]
    listed = _git(base.place, "ls-tree", "-z", "--name-only", base.commit, "--", *wanted)
    paths = [f":(literal){os.fsdecode(each)}" for each in listed.split(b"\0") if each]
    if paths:
        _git(base.place, *NO_HOOKS, "checkout", "--quiet", base.commit, "--", *paths)


def _git(folder: Path, *command: str) -> bytes:
    done = run_git(folder, *command)
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [
            f"exit {done.returncode}"
        ]
        raise CannotRunError(f"git cannot check the base out: {reason[0]}", "run it in a clone of the fleet")
    return done.stdout
