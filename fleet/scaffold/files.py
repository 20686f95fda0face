"""What a fleet's folder holds: generated files, and files that belong to its owner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from fleet.core.sources import source_path
from fleet.scaffold.pin import own_requirement
from fleet.spec.environment import LOCAL
from fleet.spec.schema import policy_schema_text, schemas

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
_POLICY = "policies/platform.yaml"
EXTRAS = "[local]"
_REQUIREMENT = re.compile(
    r"^triton[-_.]fleet(?P<extras>\[[^\]\n]*\])?[ \t]*(?=[=<>!~@;#]|$)[^\n]*$", re.MULTILINE | re.IGNORECASE
)
_PIN = re.compile(r"^[A-Za-z0-9._-]+==[^\\\n]*", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class NewFleet:
    """What the owner of a fleet chooses; a fleet without `account` gets AWS's example of one."""

    environments: Sequence[str]
    account: str | None
    region: str
    example: str

    def environment(self, name: str) -> dict[str, object]:
        """The keys of an environment's file."""
        return {"environment": name, "account": self.account or UNKNOWN_ACCOUNT, "region": self.region}


def generated_files(root: Path) -> Mapping[str, str]:
    """The files that an upgrade brings up to date, by their path in the fleet.

    Lines that requirements.txt has besides the one of triton-fleet stay.
    """
    shared = {name: source_path(name).read_text("utf-8") for name in _SHARED}
    generated = {path: _template(name) for path, name in _GENERATED.items()}
    of_editors = {file.relative_to(root).as_posix(): text for file, text in schemas(root).items()}
    pins = {"requirements.txt": _requirements(root / "requirements.txt"), "constraints.txt": _constraints()}
    return {**shared, **generated, **pins, **of_editors}


def own_files(fleet: NewFleet) -> Mapping[str, str]:
    """The files that are written once, by their path in the fleet."""
    named = Template(_template("environment.yaml"))
    comment = "" if fleet.account else "                  # yours: aws sts get-caller-identity"
    environments = {
        f"environments/{name}.yaml": named.substitute(fleet.environment(name), comment=comment)
        for name in fleet.environments
    }
    local = f"environments/{LOCAL}.yaml"
    # The environments come last: with them a folder counts as a fleet.
    return {
        "README.md": _template("README.md"),
        **(_example() if fleet.example == SENTENCES else {}),
        _POLICY: source_path(_POLICY).read_text("utf-8"),
        "policies/policy.schema.json": policy_schema_text(),
        local: source_path(local).read_text("utf-8"),
        **environments,
    }


def _example() -> dict[str, str]:
    return {
        **{path: source_path(path).read_text("utf-8") for path in _EXAMPLE},
        "examples/requirements.txt": _template("example-requirements.txt"),
        "examples/payload.txt": _template("example-payload.txt"),
    }


def _requirements(file: Path) -> str:
    """The file with the line of triton-fleet for this version, which is added where there is none.

    A line that is continued has hashes, which only its owner can write again: it stays.
    """
    if not file.is_file():
        return Template(_template("requirements.txt")).substitute(pin=own_requirement(EXTRAS))
    text = file.read_text("utf-8")
    found = _REQUIREMENT.search(text)
    if found is None:
        return f"{text.rstrip()}\n{own_requirement(EXTRAS)}\n".lstrip()
    if found[0].rstrip().endswith("\\"):
        return text
    return text[: found.start()] + own_requirement(found["extras"] or "") + text[found.end() :]


def _constraints() -> str:
    """The versions with which triton-fleet is tested, of all that it may bring."""
    locked = source_path("requirements-dev.txt").read_text("utf-8")
    return _template("constraints.txt") + "".join(f"{found[0].rstrip()}\n" for found in _PIN.finditer(locked))


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")
