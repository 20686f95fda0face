"""The files of one environment: which exist, and their merged content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fleet.findings import Finding, FindingsError, all_of
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.environment import Environment
from fleet.spec.lock import Lock
from fleet.spec.problems import did_you_mean, validate
from fleet.spec.reader import read_source
from fleet.spec.source import Source, finding_at

LOCK_BYTES = 64 << 20
"""A lock of so many bytes at most is read; 10,000 archives of a few files take some 3 MB."""


@dataclass(frozen=True)
class LoadedSpec:
    """One endpoint's spec as it holds in one environment; `source` knows which file each key came from."""

    spec: EndpointSpec
    source: Source


@dataclass(frozen=True)
class Project:
    """One environment and the endpoints that were asked for; specs are read when they are loaded.

    `findings` are what is wrong with the folders themselves.
    """

    root: Path
    environment: Environment
    environment_source: Source
    endpoints: tuple[str, ...]
    findings: tuple[Finding, ...]

    def load(self, endpoint: str) -> LoadedSpec:
        """Read an endpoint's spec as it holds in this environment.

        Raises:
            FindingsError: every mistake of its files.
        """
        return _load_spec(self.root, endpoint, self.environment_source)

    def draft(self, file: Path) -> LoadedSpec:
        """Read a spec from any place, merged with this environment; its file may have any name.

        Raises:
            FindingsError: every mistake of its files.
        """
        return self.load_source(read_source(file))

    def load_source(self, source: Source) -> LoadedSpec:
        """A spec that need not be in a file yet, as it would hold in this environment.

        Raises:
            FindingsError: every mistake in it.
        """
        return load_spec(source, self.environment_source)

    def lock_file(self, endpoint: str) -> Path:
        """The path of the endpoint's lock, whether or not it exists."""
        return self.root / "locks" / self.environment.environment / f"{endpoint}.lock.yaml"


def environment_names(root: Path) -> list[str]:
    """The environments that have a file."""
    return _stems(root / "environments")


def endpoint_names(root: Path) -> list[str]:
    """The endpoints that have a spec."""
    return _stems(root / "model_specs")


def open_project(
    root: Path, environment: str, endpoints: Sequence[str] = (), elsewhere: Sequence[str] = ()
) -> Project:
    """Read one environment and choose its endpoints: those named, else all.

    `elsewhere` names endpoints whose specs are in other places; the environment may have overrides for them.

    Raises:
        FindingsError: a name has no file, or the environment is wrong; then what is wrong with the specs is
            reported as well.
    """
    file = (
        root / "environments" / f"{_require_known(environment, environment_names(root), 'environment')}.yaml"
    )
    names = endpoint_names(root)
    chosen = tuple(_require_known(name, names, "endpoint") for name in dict.fromkeys(endpoints)) or tuple(
        names
    )
    findings, source = _stray_files(root), Source(file, {})
    try:
        source = read_source(file)
        settings = validate(Environment, source)
        _named_as_its_file(source, "environment", settings.environment)
    except FindingsError as error:
        # Without the environment's defaults only the specs' own YAML can be checked.
        look = partial(_load_spec, environment=source) if source.data else _read_spec
        all_of(chosen, lambda name: look(root, name), error.findings + findings)
        raise
    findings += _stray_overrides(settings, source, [*names, *elsewhere])
    return Project(root, settings, source, chosen, tuple(findings))


def load_lock(file: Path) -> Lock:
    """Read one lock.

    Raises:
        FindingsError: it is missing or does not hold what a lock holds.
    """
    return validate(Lock, read_source(file, LOCK_BYTES))


def _read_spec(root: Path, name: str) -> Source:
    return read_source(root / "model_specs" / f"{name}.yaml")


def _load_spec(root: Path, name: str, environment: Source) -> LoadedSpec:
    loaded = load_spec(_read_spec(root, name), environment)
    _named_as_its_file(loaded.source, "endpoint", loaded.spec.endpoint)
    return loaded


def load_spec(spec_source: Source, environment: Source) -> LoadedSpec:
    """A spec with the environment's defaults below it and its overrides above.

    Raises:
        FindingsError: every key and value that does not fit.
    """
    name = str(spec_source.data.get("endpoint"))
    merged = (
        environment.section("defaults").merged(spec_source).merged(environment.section("overrides", name))
    )
    source = Source(spec_source.file, merged.data, {**merged.marks, (): spec_source.mark(())})
    return LoadedSpec(validate(EndpointSpec, source), source)


def _named_as_its_file(source: Source, key: str, name: str) -> None:
    stem = source.file.stem
    if name != stem:
        mark = source.mark((key,))
        message = f"`{key}` is {name!r} in a file called {source.file.name}"
        hint = f"write `{key}: {stem}`, or rename the file"
        raise FindingsError([finding_at(mark, "FL113", message, hint)])


def _require_known(name: str, names: list[str], noun: str) -> str:
    if name in names:
        return name
    message = f"there is no {noun} {name!r}" if name else f"no {noun} was named"
    hint = did_you_mean(name, names, list_all=True)
    raise FindingsError([Finding(code="FL120", message=message, hint=hint)])


def _stray_overrides(settings: Environment, source: Source, names: list[str]) -> list[Finding]:
    strays = []
    for name in settings.overrides:
        if name not in names:
            mark = source.mark(("overrides", name))
            message, hint = (
                f"`overrides` names an endpoint without a spec: {name!r}",
                did_you_mean(name, names),
            )
            strays.append(finding_at(mark, "FL120", message, hint))
    return strays


def _stems(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.glob("*.yaml") if not file.name.startswith("."))


def _stray_files(root: Path) -> list[Finding]:
    message = "this file is not read: its name must end in .yaml"
    return [
        Finding(code="FL105", message=message, file=file, hint=f"rename it to {file.stem}.yaml")
        for folder in ("environments", "model_specs")
        for file in sorted((root / folder).iterdir())
        if file.suffix.lower() in {".yml", ".yaml"} and file.suffix != ".yaml"
    ]
