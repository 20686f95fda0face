"""Which files of a fleet are read: specs in folders, what holds for a folder, profiles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.source import FOLDER, OWN_FOLDERS, POLICIES, SPECS


@dataclass(frozen=True)
class SpecFiles:
    """The files of model_specs/ in order, by the endpoint that each specifies, and what is wrong there."""

    by_endpoint: Mapping[str, Path]
    findings: tuple[Finding, ...]


def spec_files(root: Path) -> SpecFiles:
    """The specs of a fleet, whatever is in them; a folder or file whose name begins with a dot is none."""
    files, findings = dict[str, Path](), list[Finding]()
    for file in _yaml_files(root / SPECS, links=(links := list[Path]())):
        if file.suffix != ".yaml":
            findings.append(_extension_finding(file))
        elif file.name != FOLDER and (former := files.setdefault(file.stem, file)) != file:
            path = former.relative_to(root)
            message = f"the endpoint {file.stem!r} is in {path} already: a name is unique in a fleet"
            hint = "rename one of them, and the `endpoint` in it"
            findings.append(Finding(code="FL123", message=message, hint=hint, file=file, line=1))
    findings += (_link_finding(link, "spec") for link in links)
    return SpecFiles(dict(sorted(files.items())), tuple(findings))


def same_names(root: Path, specs: Sequence[tuple[str, Path]]) -> Iterator[Finding]:
    """Specs of one endpoint for SageMaker, which ignores upper and lower case."""
    first: dict[str, Path] = {}
    for name, file in specs:
        former = first.setdefault(name.lower(), file)
        if former != file:
            path = former.relative_to(root) if former.is_relative_to(root) else former.name
            message = f"the endpoint {name!r} is in {path} already: in SageMaker a name is unique"
            hint = "rename one of them; SageMaker ignores upper and lower case"
            yield Finding(code="FL123", message=message, hint=hint, file=file, line=1)


def yaml_stems(folder: Path) -> tuple[list[str], list[Finding]]:
    """The files of one folder without `.yaml`, sorted; and those that would be overlooked."""
    files = list(_yaml_files(folder, deep=False))
    stems = sorted(file.stem for file in files if file.suffix == ".yaml")
    findings = [_extension_finding(file) for file in files if file.suffix != ".yaml"]
    return stems, [*findings, *(linked_file(file) for file in files if file.is_symlink())]


def policy_files(root: Path) -> tuple[list[Path], list[Finding]]:
    """The policies of a fleet, those in subfolders too; and what would be overlooked."""
    folder = root / POLICIES
    if os.path.lexists(folder) and not folder.is_dir():
        message, hint = "this is not a folder, so no policy is read", "make it a folder with policies"
        return [], [Finding(code="FL101", message=message, hint=hint, file=folder, line=1)]
    files = list(_yaml_files(folder, links=(links := list[Path]())))
    findings = [_extension_finding(file) for file in files if file.suffix != ".yaml"]
    findings += (_link_finding(link, "policy") for link in links)
    return [file for file in files if file.suffix == ".yaml"], findings


def root_of(spec: Path) -> Path | None:
    """The fleet in whose model_specs/ a file is; None for a file elsewhere."""
    for folder in (*spec.parents, *spec.absolute().parents):  # "." has no name
        if folder.name == SPECS:
            return folder.parent
    return None


def folder_files(root: Path, spec: Path) -> Iterator[Path]:
    """The files that hold for a spec's folders, the outermost first, readable or not."""
    specs = root / SPECS
    if not spec.is_relative_to(specs):
        return
    folders = [folder for folder in spec.parents if folder.is_relative_to(specs)]
    yield from (file for folder in reversed(folders) if os.path.lexists(file := folder / FOLDER))


def linked_file(file: Path) -> Finding:
    """The error for a file that is a link: its content may be anything that this machine has."""
    message = "this file is a link, and no file of a fleet is read through one"
    return Finding(code="FL105", message=message, file=file, hint="replace the link with the file")


def require_own_folders(root: Path, environment: str) -> None:
    """Refuse folders of a fleet that are links.

    Raises:
        FindingsError: with each of them.
    """
    folders = (*OWN_FOLDERS, f"locks/{environment}")
    if findings := [
        _link_finding(root / folder, "file") for folder in folders if (root / folder).is_symlink()
    ]:
        raise FindingsError(findings)


def _yaml_files(folder: Path, *, deep: bool = True, links: list[Path] | None = None) -> Iterator[Path]:
    """The files of a folder, and with `deep` of those in it; folders that are links go into the list."""
    if folder.is_symlink():
        raise FindingsError([_link_finding(folder, "file")])
    for parent, folders, names in os.walk(folder, onerror=_raise_unreadable):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        if links is not None:
            links += (link for name in folders if (link := Path(parent, name)).is_symlink())
        for name in sorted(names):
            if name.lower().endswith((".yaml", ".yml")) and not name.startswith("."):
                yield Path(parent, name)


def _extension_finding(file: Path) -> Finding:
    message = "this file is not read: its name must end in .yaml"
    return Finding(code="FL105", message=message, file=file, hint=f"rename it to {file.stem}.yaml")


def _raise_unreadable(error: OSError) -> None:
    """Refuse a folder whose files cannot be listed; one that does not exist has none."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        message = f"this folder cannot be read: {error.strerror}"
        raise FindingsError([Finding(code="FL101", message=message, file=Path(error.filename), line=1)])


def _link_finding(folder: Path, noun: str) -> Finding:
    message = f"this folder is a link, so no {noun} in it is read"
    return Finding(code="FL105", message=message, file=folder, hint="replace the link with the folder")
