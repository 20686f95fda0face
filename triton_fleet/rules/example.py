"""An example of each rule: a spec that breaks it and one that does not; tests run both, docs show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Finding
from triton_fleet.project.project import LoadedSpec
from triton_fleet.rules.rule import Problem, Rule
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import Source

FILE = Path("model_specs/example.yaml")
SPEC = {
    "endpoint": "example",
    "triton": "25.04",
    "instance": {"type": "ml.g5.xlarge"},
    "models": [{"archive": "example", "repository": "../examples/example/models"}],
}
"""Keys that an example does not set itself."""
REGION = "us-east-1"
ARCHIVE_SIZE = 1 << 20
MAX_LINE = 160
"""As it is shown: some examples are of what is too long."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One spec, where it is deployed to, and what the lock knows of its models.

    `environment` is further keys of the environment's file, `image` is what the lock knows of the image:
    empty where it knows its digest alone, with a key where it is not built.
    """

    spec: Mapping[str, Any]
    region: str
    models: Mapping[str, Any] | None
    archive_size: int
    environment: Mapping[str, Any] = field(default_factory=dict)
    image: Mapping[str, Any] | None = None

    @property
    def is_built(self) -> bool:
        """Whether the lock has the digest of an image."""
        return "key" not in (self.image or {})

    @property
    def as_yaml(self) -> str:
        """The case as YAML, with the parts of an environment and a lock that matter as comments."""
        notes = [f"# region: {self.region}"] if self.region != REGION else []
        notes += [f"# environment: {key}: {_flow(value)}" for key, value in self.environment.items()]
        notes += (
            [f"# archive: {self.archive_size} bytes unpacked"] if self.archive_size != ARCHIVE_SIZE else []
        )
        notes += [f"# model {name}: {_flow(facts)}" for name, facts in (self.models or {}).items()]
        label = "inside of the image" if self.is_built else "image in the lock"
        notes += [f"# {label}: {_flow(self.image)}"] if self.image else []
        keys = [f"{key}: {_flow(value)}" for key, value in self.spec.items()] or ["# without it"]
        return "\n".join(map(_shorten, [*notes, *keys]))

    def context(self) -> EndpointContext:
        """The case as rules see it."""
        source = Source(FILE, dict(SPEC)).merge(Source(FILE, dict(self.spec)))
        spec = validate(EndpointSpec, source)
        keys = {"environment": "example", "account": "111122223333", "region": self.region}
        environment = validate(Environment, Source(FILE, {**keys, **self.environment}))
        return EndpointContext(
            loaded_spec=LoadedSpec(spec, source), environment=environment, lock=self._lock(spec)
        )

    def problems(self, rule: Rule) -> list[Problem]:
        """The problems that the rule's function yields, with the keys that they point at."""
        return rule.problems(rule.scope.subjects(self.context()))

    def findings(self, rule: Rule) -> list[Finding]:
        """The findings that `fleet deploy` would report."""
        context = self.context()
        return rule.findings(context.source, rule.scope.subjects(context), is_deploy=True)

    def _lock(self, spec: EndpointSpec) -> Lock | None:
        if self.models is None and self.archive_size == ARCHIVE_SIZE and self.image is None:
            return None
        archive = {"digest": f"sha256:{1:064}", "size": self.archive_size}
        everywhere = {
            packed_archive.name: {**archive, "models": dict(self.models or {})}
            for packed_archive in spec.packed_archives
        }
        lock: dict[str, Any] = {"endpoint": spec.endpoint, "archives": everywhere}
        if self.image is not None:
            facts = {"digest": f"sha256:{2:064}", "facts": self.image or None}
            lock["image"] = facts if self.is_built else self.image
        return Lock.model_validate(lock)


@dataclass(frozen=True)
class Example:
    """A spec that breaks a rule, and how it is put right."""

    wrong: Case
    right: Case


@cache
def examples() -> Mapping[str, Example]:
    """The examples by code; `models` and `region` beside `wrong` and `right` hold for both.

    Raises:
        ValueError: two examples have one code.
    """
    folder = files("triton_fleet.rules") / "examples"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    return examples_of(texts)


def examples_of(texts: Mapping[str, str]) -> Mapping[str, Example]:
    """The examples of files, given by name as YAML.

    Raises:
        ValueError: two examples have one code.
    """
    by_code, locations = dict[str, Example](), dict[str, str]()
    for file, text in sorted(texts.items()):
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        for key, _ in root.value if root is not None else ():
            location = f"{file}:{key.start_mark.line + 1}"
            if key.value in locations:
                raise ValueError(f"{key.value} has two examples: {locations[key.value]} and {location}")
            locations[key.value] = location
        for code, entry in yaml.safe_load(text).items():
            by_code[code] = Example(_case(entry, "wrong"), _case(entry, "right"))
    return by_code


def _case(entry: Mapping[str, Any], kind: str) -> Case:
    return Case(
        spec=entry[kind],
        region=entry.get(f"{kind}_region", entry.get("region", REGION)),
        models=entry.get(f"{kind}_models", entry.get("models")),
        archive_size=entry.get("archive_size", ARCHIVE_SIZE),
        environment=entry.get(f"{kind}_environment", {}),
        image=entry.get(f"{kind}_image", entry.get("image")),
    )


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"


class _SpecDumper(yaml.SafeDumper):
    """Writes repeated values in full, because specs have no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _flow(value: object) -> str:
    """A value on one line, as a spec would have it."""
    text = yaml.dump([value], Dumper=_SpecDumper, default_flow_style=True, width=10_000, sort_keys=False)
    return text.strip().removeprefix("[").removesuffix("]").replace("'", '"')
