"""The caller of AWS that STS names, and the run of CI that the call is claimed to come from."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ConfigDict

from triton_fleet.spec.values import Document

MAX_LENGTH = 256
"""Characters of a variable that are kept."""


class Record(Document):
    """A part of a record; what a later version adds to it is passed over."""

    model_config = ConfigDict(extra="ignore")


class CiRun(Record):
    """A run of CI, as its variables name it; whoever runs a command can set them to anything.

    `user` started the run or caused it; `url` is the page of the run.
    """

    platform: str
    user: str | None = None
    url: str | None = None


class Actor(Record):
    """A caller of AWS: the ARN is from STS, `claimed_by_ci` from variables."""

    arn: str
    claimed_by_ci: CiRun | None = None

    @property
    def name(self) -> str:
        """The ARN without the partition and the account: `assumed-role/Deploy/anna`."""
        return self.arn.split(":", 5)[-1]

    def __str__(self) -> str:
        """The short name, and after it what CI claims."""
        run = self.claimed_by_ci
        if run is None:
            return self.name
        return f"{self.name} ({run.platform} claims: {run.user or 'no user'})"


def actor(identity: str, environ: Mapping[str, str]) -> Actor:
    """The actor of a command.

    Args:
        identity: The ARN of the caller, as STS returns it for the credentials.
        environ: The variables of the process; only names of people and addresses of runs are taken.
    """
    return Actor(arn=identity, claimed_by_ci=_ci_run(environ))


def is_ci(environ: Mapping[str, str]) -> bool:
    """Whether the process runs in CI, where nobody answers a question; GitHub and GitLab set `CI` to true."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no")


def _ci_run(environ: Mapping[str, str]) -> CiRun | None:
    """The run by the variables of its platform.

    Sources: GitHub Docs, "Variables reference", default environment variables (GITHUB_TRIGGERING_ACTOR is
    who ran a job again); GitLab Docs, "Predefined CI/CD variables reference".
    """
    if environ.get("GITHUB_ACTIONS") == "true":
        server, repository, run = (
            _variable(environ, f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")
        )
        url = f"{server}/{repository}/actions/runs/{run}" if server and repository and run else None
        user = _variable(environ, "GITHUB_TRIGGERING_ACTOR") or _variable(environ, "GITHUB_ACTOR")
        return CiRun(platform="GitHub", user=user, url=url)
    if environ.get("GITLAB_CI") == "true":
        user, url = _variable(environ, "GITLAB_USER_LOGIN"), _variable(environ, "CI_JOB_URL")
        return CiRun(platform="GitLab", user=user, url=url)
    return None


def _variable(environ: Mapping[str, str], name: str) -> str | None:
    value = environ.get(name, "").strip()
    return value[:MAX_LENGTH] if value and value.isprintable() else None
