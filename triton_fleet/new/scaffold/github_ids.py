"""The ids of a repository on GitHub, from the user's `gh`; without it or its answer they stay unknown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile

from triton_fleet.findings import CannotRunError
from triton_fleet.spec.github_repository import GitHubRepository, ids_command
from triton_fleet.spec.values import Mistake

MAX_SECONDS = 20
"""For each of two requests."""
MAX_BYTES = 1 << 20
"""An answer has some kilobytes."""
_QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GH_DEBUG": "", "DEBUG": ""}
"""Source: https://cli.github.com/manual/gh_help_environment."""


@dataclass(frozen=True, kw_only=True)
class RepositorySubject:
    """A repository, and what is known of the subjects of its tokens.

    Attributes:
        repository: With its ids, or without where they are unknown.
        former: The form without ids, where tokens may still have that.
        doubt: Why it is unknown which form tokens have; empty if it is known.
    """

    repository: GitHubRepository
    former: str | None = None
    doubt: str = ""


def repository_subject(repository: GitHubRepository, *, seconds: float = MAX_SECONDS) -> RepositorySubject:
    """A repository with its ids, and whether its tokens have them.

    Args:
        repository: Its names.
        seconds: The limit of each request.

    Raises:
        CannotRunError: `gh` is missing, is not logged in, or gives no ids of this repository.
    """
    with_ids = _with_ids(_answer(f"repos/{repository.names}", seconds), repository)
    try:
        subject = _answer(f"repos/{with_ids.names}/actions/oidc/customization/sub", seconds)
    except CannotRunError as error:
        return RepositorySubject(repository=with_ids, former=with_ids.names, doubt=error.problem)
    if subject.get("use_default") is False:
        doubt = f"the subjects of {with_ids.names} are customised, which `access` does not support"
        return RepositorySubject(repository=with_ids, doubt=doubt)
    match subject.get("sub_claim_prefix"):
        case str(prefix) if prefix == f"repo:{with_ids}":
            return RepositorySubject(repository=with_ids)
        case str(prefix) if prefix == f"repo:{with_ids.names}":
            return RepositorySubject(repository=with_ids, former=with_ids.names)
    doubt = f"GitHub does not report how the subjects of {with_ids.names} begin"
    return RepositorySubject(repository=with_ids, former=with_ids.names, doubt=doubt)


def _with_ids(answer: Mapping[str, object], named_repository: GitHubRepository) -> GitHubRepository:
    """The repository of an answer, spelled as GitHub spells it; an answer about another one is refused."""
    match answer:
        case {"name": str(name), "id": int(id), "owner": {"login": str(owner), "id": int(owner_id)}}:
            try:
                ids = GitHubRepository.parse(f"{owner}@{owner_id}/{name}@{id}")
            except Mistake:
                pass
            else:
                if ids.names.lower() == named_repository.names.lower():
                    return ids
                problem = f"GitHub calls {named_repository.names} {ids.names}"
                raise CannotRunError(problem, f"--github {ids.names}")
    raise CannotRunError(
        f"the answer about {named_repository.names} has no ids", ids_command(named_repository.names)
    )


def _answer(path: str, seconds: float) -> Mapping[str, object]:
    """The answer of GitHub to one reading request, as the user who is logged in to `gh`.

    It runs in the root directory, so that no folder and no clone matters to it.

    Raises:
        CannotRunError: there is no answer, or it is not a JSON object.
    """
    program = shutil.which("gh")
    if program is None:
        raise CannotRunError("gh, GitHub's command line, is not installed", "https://cli.github.com")
    by_hand = f"run `gh api {path}` to see why"
    command = [program, "api", "--hostname", "github.com", "--method", "GET", path]
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        try:
            process = subprocess.run(
                command,
                cwd="/",
                env={**os.environ, **_QUIET},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                timeout=seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotRunError(f"`gh api {path}` did not answer: {error}", by_hand) from error
        stdout.seek(0)
        stderr.seek(0)
        text, complaint = stdout.read(MAX_BYTES + 1), stderr.read(400).decode("utf-8", "replace")
    if process.returncode:
        reason = complaint.strip() or f"exit code {process.returncode}"
        remedy = f"{by_hand}; if you are not logged in, `gh auth login`"
        raise CannotRunError(f"`gh api {path}` failed: {reason}", remedy)
    try:
        answer = json.loads(text) if len(text) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise CannotRunError(f"`gh api {path}` printed no JSON object", by_hand)
    return answer
