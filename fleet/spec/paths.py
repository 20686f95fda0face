"""What a user names on the command line: endpoints, or the files and folders that hold their specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.spec.problems import did_you_mean
from fleet.spec.project import endpoint_names
from fleet.spec.reader import read_source
from fleet.spec.spec_files import FOLDER

LOCK_END = ".lock.yaml"


@dataclass(frozen=True)
class EndpointSelection:
    """Endpoints of the project by name, and specs outside of it; nothing named means all endpoints."""

    endpoints: tuple[str, ...]
    drafts: tuple[Path, ...]

    def draft_names(self) -> list[str]:
        """The endpoints of those drafts that can be read."""
        names = list[str]()
        for draft in self.drafts:
            with suppress(FindingsError):
                names.append(str(read_source(draft).data.get("endpoint")))
        return names


def named_by(root: Path, environment: str, arguments: Sequence[str]) -> EndpointSelection:
    """Read endpoints from paths: of a spec, its lock, the environment, or a folder of specs.

    Args:
        root: The project.
        environment: Whose file means all of its endpoints, as that of a policy does.
        arguments: As the user wrote them; paths are relative to the working directory.

    Raises:
        FindingsError: one is neither an endpoint nor one of these paths.
    """
    endpoints, drafts, names = list[str](), list[Path](), endpoint_names(root)
    for argument in arguments:
        path = Path(argument).absolute()
        if argument in names or not _exists(path):
            endpoints.append(_endpoint(names, argument))
        elif path.is_dir():
            files = sorted(each for each in path.glob("*.yaml") if not each.name.startswith("."))
            if not files:
                raise _unusable(path, "the folder holds no spec", "name a folder with files NAME.yaml")
            for file in files:
                _sort(root, environment, names, file, endpoints, drafts)
        else:
            _sort(root, environment, names, path, endpoints, drafts)
    return EndpointSelection(tuple(dict.fromkeys(endpoints)), tuple(dict.fromkeys(drafts)))


def _sort(
    root: Path, environment: str, names: list[str], file: Path, endpoints: list[str], drafts: list[Path]
) -> None:
    parts = _below(root, file)
    match parts:
        case ["model_specs", *_, name] if name.endswith(".yaml") and name != FOLDER:
            endpoints.append(name.removesuffix(".yaml"))
        case ["locks", _, name] if name.endswith(LOCK_END):
            endpoints.append(_endpoint(names, name.removesuffix(LOCK_END)))
        case ["environments", name] if name == f"{environment}.yaml":
            endpoints += names
        case ["policies", name] if name.endswith(".yaml"):
            endpoints += names
        case ["environments", name] if name.endswith(".yaml"):
            hint = f"run `fleet check --env {name.removesuffix('.yaml')}` for it"
            raise _unusable(file, f"this is not the environment {environment!r}", hint)
        case _ if file.suffix == ".yaml":
            drafts.append(file)
        case _:
            raise _unusable(file, "this is not a spec", "name a file NAME.yaml, or a folder of such files")


def _below(root: Path, file: Path) -> list[str]:
    resolved = file.resolve()
    return list(resolved.relative_to(root).parts) if resolved.is_relative_to(root) else []


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long a name
        return False


def _endpoint(names: list[str], name: str) -> str:
    if name in names:
        return name
    message = f"there is no endpoint, file or folder {name!r}" if name else "no endpoint was named"
    hint = did_you_mean(name, names, list_all=True)
    raise FindingsError([Finding(code="FL120", message=message, hint=hint)])


def _unusable(file: Path, message: str, hint: str) -> FindingsError:
    return FindingsError([Finding(code="FL126", message=message, hint=hint, file=file)])


def same_names(specs: Sequence[tuple[str, Path]]) -> Iterator[Finding]:
    """Specs of one endpoint for SageMaker, which ignores upper and lower case."""
    first: dict[str, Path] = {}
    for name, file in specs:
        other = first.setdefault(name.lower(), file)
        if other != file:
            message = f"the endpoint {name!r} is in {other.name} already: in SageMaker a name is unique"
            hint = "rename one of them; SageMaker ignores upper and lower case"
            yield Finding(code="FL123", message=message, hint=hint, file=file, line=1)
