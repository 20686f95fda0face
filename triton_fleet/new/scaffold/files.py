"""The files of a fleet's folder: generated files, and files that belong to its owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from triton_fleet.core.folders import source_path
from triton_fleet.endpoint.environment import own_findings
from triton_fleet.findings import FindingsError, all_of
from triton_fleet.new.scaffold.github_ids import RepositorySubject
from triton_fleet.product.pin import Pin
from triton_fleet.product.setup_files import EXAMPLE, locked_requirements, setup_files, template
from triton_fleet.spec.access import GITHUB
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.github_repository import ids_command, prefix_command
from triton_fleet.spec.problems import validate
from triton_fleet.spec.schema import policy_schema_text, schemas
from triton_fleet.spec.source import Mark, Source
from triton_fleet.spec.trusts import provider_arn

SENTENCES, NO_EXAMPLE = "sentence-embeddings", "none"
EXAMPLES = (SENTENCES, NO_EXAMPLE)
UNKNOWN_ACCOUNT = "111122223333"
"""AWS's own example of an account."""

_TEMPLATES_BY_PATH = {
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
    ".pre-commit-config.yaml": "pre-commit.yaml",
    ".vscode/settings.json": "vscode.json",
}
"""Paths in a fleet by their templates."""
_FILES_OF_CLONE = ("app.py", "cdk.json")
"""What the clone of the product has as well."""
_SENTENCES = "examples/sentence_embeddings"
_EXAMPLE = (
    "model_specs/sentence-embeddings.yaml",
    *(
        f"{_SENTENCES}/{name}"
        for name in (
            ".gitignore",
            "README.md",
            "demo.py",
            "make_weights.py",
            "models/ensemble/1/README.md",
            "models/ensemble/config.pbtxt",
            "models/minilm/config.pbtxt",
            "models/postprocess/1/model.py",
            "models/postprocess/config.pbtxt",
            "models/preprocess/1/model.py",
            "models/preprocess/config.pbtxt",
        )
    ),
)
_POLICY = "policies/platform.yaml"


@dataclass(frozen=True, kw_only=True)
class NewFleet:
    """The choices of the owner of a fleet; a fleet without `account` gets AWS's example of one.

    `github` is the repository whose jobs may deploy; without one, or without its ids, `access` is a comment.
    """

    environments: Sequence[str]
    account: str | None
    region: str
    example: str
    github: RepositorySubject | None = None

    def environment(self, name: str) -> dict[str, object]:
        """The keys of an environment's file."""
        return {"environment": name, "account": self.account or UNKNOWN_ACCOUNT, "region": self.region}


def generated_files(root: Path, pin: Pin) -> Mapping[str, str | bytes]:
    """The files that an upgrade brings up to date, by their path in the fleet."""
    clone_files = {name: source_path(name).read_text("utf-8") for name in _FILES_OF_CLONE}
    template_files = {path: template(name) for path, name in _TEMPLATES_BY_PATH.items()}
    of_editors = {file.relative_to(root).as_posix(): text for file, text in schemas(root).items()}
    return {**clone_files, **setup_files(root, pin), **template_files, **of_editors}


def own_files(fleet: NewFleet) -> Mapping[str, str]:
    """The files that are written once, by their path in the fleet."""
    environment_template = Template(template("environment.yaml"))
    comment = "" if fleet.account else "                  # yours: aws sts get-caller-identity"
    environments = {
        f"environments/{name}.yaml": environment_template.substitute(
            fleet.environment(name),
            comment=comment,
            access="".join(f"{line}\n" for line in _access(fleet, name)),
        )
        for name in fleet.environments
    }
    local = f"environments/{LOCAL}.yaml"
    # The environments come last: with them a folder counts as a fleet.
    return {
        "README.md": template("README.md"),
        **(_example() if fleet.example == SENTENCES else {}),
        _POLICY: source_path(_POLICY).read_text("utf-8"),
        "policies/policy.schema.json": policy_schema_text(),
        local: source_path(local).read_text("utf-8"),
        **environments,
    }


def _access(fleet: NewFleet, name: str) -> Iterator[str]:
    """The lines of `access` in an environment's file; comments where nothing is known to put there."""
    subject = fleet.github
    if subject is None or not subject.repository.has_ids:
        owner, names = ("OWNER", "OWNER/NAME")
        if subject:
            owner, names = subject.repository.owner, subject.repository.names
        form = f"{owner}@ID/{names.partition('/')[2]}@ID"
        yield "# access:                  # roles for the jobs of a repository: `fleet docs access`"
        yield "#   github:"
        yield f"#     repository: {form}       # what this prints: {ids_command(names)}"
        return
    yield "access:                    # roles for the jobs of this repository: `fleet docs access`"
    yield "  github:"
    yield f"    repository: {subject.repository}"
    if subject.former and subject.doubt:
        yield f"    # Write this too unless `{prefix_command(subject.former)}` prints ids:"
        yield f"    # former_repository: {subject.former}"
    elif subject.former:
        yield f"    # Remove this when `{prefix_command(subject.former)}` prints ids:"
        yield f"    former_repository: {subject.former}"
    first = fleet.environments[0]
    if name != first:
        provider = provider_arn(fleet.region, fleet.account or UNKNOWN_ACCOUNT, GITHUB)
        yield f"    provider: {provider}   # which {first} makes; leave it out in another account"


def _example() -> dict[str, str]:
    return {
        **{path: source_path(path).read_text("utf-8") for path in _EXAMPLE},
        EXAMPLE: locked_requirements("requirements-payload.txt"),
    }


def require_valid(folder: Path, fleet: NewFleet) -> None:
    """Check the environments that were asked for, as `fleet check` does.

    Args:
        folder: Where the fleet will be: findings name its files.
        fleet: What its owner has chosen.

    Raises:
        FindingsError: every mistake in a name, the account or the region.
    """

    def check(name: str) -> None:
        file = folder / "environments" / f"{name}.yaml"
        source = Source(file, fleet.environment(name), {(): Mark(file, 1, 1)})
        if findings := own_findings(validate(Environment, source), source):
            raise FindingsError(findings)

    all_of(fleet.environments, check)
