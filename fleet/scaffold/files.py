"""What a fleet's folder holds: generated files, and files that belong to its owner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from fleet.core.sources import source_path
from fleet.scaffold.pin import requirement
from fleet.spec.environment import LOCAL
from fleet.spec.schema import schemas

SENTENCES, NONE = "sentence-embeddings", "none"
EXAMPLES = (SENTENCES, NONE)
UNKNOWN_ACCOUNT = "111122223333"
"""AWS's own example of an account."""

_TEMPLATES = files("fleet.scaffold") / "templates"
_GENERATED = {
    "Makefile": "Makefile",
    "package.json": "package.json",
    "package-lock.json": "package-lock.json",
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
    ".pre-commit-config.yaml": "pre-commit.yaml",
    ".vscode/settings.json": "vscode.json",
}
"""Paths in a fleet by their templates."""
_SHARED = ("app.py", "cdk.json")
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
_REQUIREMENT = re.compile(r"^triton-fleet\b.*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class NewFleet:
    """What the owner of a fleet chooses; a fleet without `account` gets AWS's example of one."""

    environments: Sequence[str]
    account: str | None
    region: str
    example: str


def generated_files(root: Path) -> Mapping[str, str]:
    """The files that an upgrade brings up to date, by their path in the fleet.

    Lines that requirements.txt has besides the one of triton-fleet stay.
    """
    shared = {name: source_path(name).read_text("utf-8") for name in _SHARED}
    generated = {path: _template(name) for path, name in _GENERATED.items()}
    of_editors = {file.relative_to(root).as_posix(): text for file, text in schemas(root).items()}
    return {**shared, **generated, "requirements.txt": _requirements(root / "requirements.txt"), **of_editors}


def own_files(fleet: NewFleet) -> Mapping[str, str]:
    """The files that are written once, by their path in the fleet."""
    named = Template(_template("environment.yaml"))
    comment = "" if fleet.account else "                  # yours: aws sts get-caller-identity"
    environments = {
        f"environments/{name}.yaml": named.substitute(
            environment=name, account=fleet.account or UNKNOWN_ACCOUNT, comment=comment, region=fleet.region
        )
        for name in fleet.environments
    }
    local = f"environments/{LOCAL}.yaml"
    return {
        "README.md": _template("README.md"),
        **environments,
        local: source_path(local).read_text("utf-8"),
        **(_example() if fleet.example == SENTENCES else {}),
    }


def _example() -> dict[str, str]:
    return {
        **{path: source_path(path).read_text("utf-8") for path in _EXAMPLE},
        "examples/requirements.txt": _template("example-requirements.txt"),
        "examples/payload.txt": _template("example-payload.txt"),
    }


def _requirements(file: Path) -> str:
    pin = requirement()
    if file.is_file() and _REQUIREMENT.search(text := file.read_text("utf-8")):
        return _REQUIREMENT.sub(lambda _: pin, text, count=1)
    return Template(_template("requirements.txt")).substitute(pin=pin)


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")
