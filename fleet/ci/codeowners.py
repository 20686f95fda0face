"""The CODEOWNERS file of a fleet, from the `owner` of its specs."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from fleet.ci.platform_folders import PlatformFolders
from fleet.findings import Finding, FindingsError, all_of
from fleet.spec.layers import Layering, LayerKind, merged
from fleet.spec.owner import Owner
from fleet.spec.problems import validate
from fleet.spec.reader import read_source
from fleet.spec.source import Mark, Source, finding_at
from fleet.spec.spec_files import policy_files, spec_files
from fleet.spec.values import Name

_SPECIAL = re.compile(r"([\\\s#!*?\[\]])")
_NAME = TypeAdapter[str](Name)


class _Parts(BaseModel):
    """The keys of a spec by which files have owners."""

    model_config = ConfigDict(extra="ignore", strict=True)

    owner: Owner | None = None
    models: object = ()


@dataclass(frozen=True)
class _Owned:
    """A spec with its reviewer; `folder` is the one whose file names the owner, None for the spec itself."""

    name: str
    file: Path
    reviewer: str
    folder: Path | None
    repositories: tuple[Path, ...]


def codeowners(root: Path, top: Path) -> list[str]:
    """The lines for policies, specs, locks and model repositories: of several lines the last one wins.

    A policy whose owner has no contact for such a file has no line. Policies are the last, so no line of a
    spec overrides theirs.

    Args:
        root: The fleet.
        top: The folder of the Git repository, to which the paths are relative; without links.

    Raises:
        FindingsError: a spec cannot be read, its owner has no contact that such a file can name, or one of
            its model repositories has something in common with the platform's folders.
    """
    root = root.resolve()
    layering = Layering(root, Source(root, {}))
    platform = PlatformFolders(root, top)
    found = all_of(spec_files(root).by_endpoint.items(), lambda item: _owned(layering, platform, *item))
    owned = [each for each in found if each is not None]
    folders = {each.folder: each.reviewer for each in owned if each.folder is not None}
    lines = [f"{_pattern(folder, top)}/ {folders[folder]}" for folder in sorted(folders)]
    lines += [f"{_pattern(each.file, top)} {each.reviewer}" for each in owned if each.folder is None]
    locks = _pattern(root / "locks", top)
    lines += [f"{locks}/*/{each.name}.*.yaml {each.reviewer}" for each in owned]
    lines += [f"{path} {' '.join(names)}" for path, names in sorted(_repositories(owned, top).items())]
    return [*lines, *_of_policies(root, top)]


def _of_policies(root: Path, top: Path) -> Iterator[str]:
    for file in policy_files(root)[0]:
        owner = validate(_Parts, read_source(file)).owner
        if owner and owner.reviewer:
            yield f"{_pattern(file, top)} {owner.reviewer}"


def _owned(layering: Layering, platform: PlatformFolders, name: str, file: Path) -> _Owned | None:
    source = read_source(file)
    layers = layering.layers(source)
    whole = merged(source, layers)
    parts = validate(_Parts, whole)
    if parts.owner is None:
        return None
    _check_name(name, file)
    naming = next(each for each in reversed(layers) if "owner" in each.source.data)
    folder = naming.source.file.parent if naming.kind is LayerKind.FOLDER else None
    mark = whole.marks.get(("owner", "contact"), naming.source.mark(("owner",)))
    reviewer = _reviewer(parts.owner, mark)
    return _Owned(name, file, reviewer, folder, tuple(_folders(parts.models, whole, file, platform)))


def _check_name(name: str, file: Path) -> None:
    """Refuse a name with which the pattern of its locks would match those of other endpoints."""
    try:
        _NAME.validate_python(name)
    except ValidationError:
        message = f"a CODEOWNERS file cannot have the locks of {name!r}, which is not an endpoint's name"
        hint = "rename the file: letters, digits and inner hyphens, at most 63, before .yaml"
        raise FindingsError([Finding(code="FL510", message=message, hint=hint, file=file, line=1)]) from None


def _reviewer(owner: Owner, mark: Mark) -> str:
    if owner.reviewer is not None:
        return owner.reviewer
    given = f"its contact is {owner.contact}" if owner.contact else "it has no contact"
    message = f"a CODEOWNERS file cannot name the owner {owner.team!r}: {given}"
    hint = 'write `contact: "@organisation/team"`, or an email address'
    raise FindingsError([finding_at(mark, "FL510", message, hint)])


def _folders(models: object, source: Source, spec: Path, platform: PlatformFolders) -> list[Path]:
    """The model repositories that are folders of the Git repository; none may be the platform's."""
    found = all_of(
        enumerate(models if isinstance(models, list) else ()),
        lambda item: _folder(*item, source, spec, platform),
    )
    return [each for each in found if each is not None]


def _folder(index: int, model: object, source: Source, spec: Path, platform: PlatformFolders) -> Path | None:
    repository = model.get("repository") if isinstance(model, dict) else None
    if not isinstance(repository, str) or repository.startswith("s3://"):
        return None
    mark = source.mark(("models", index, "repository"))
    try:
        folder = Path(os.path.realpath(mark.file.parent / repository))
        problem = platform.overlap(folder, spec)
    except ValueError:
        problem = "is not a path"
    if problem:
        message = (
            f"`models[{index}].repository` is {repository!r}, which {problem}: a CODEOWNERS file would make"
            " the owner of this spec the reviewer of that folder"
        )
        hint = "move the models to a folder that holds only model repositories, such as models/"
        raise FindingsError([finding_at(mark, "FL510", message, hint)])
    return folder if folder.is_relative_to(platform.top) else None


def _repositories(owned: list[_Owned], top: Path) -> Mapping[str, list[str]]:
    """The reviewers of each model repository; one that several teams share has all of them."""
    found = defaultdict[str, list[str]](list)
    for each in owned:
        for folder in each.repositories:
            names = found[f"{_pattern(folder, top)}/"]
            if each.reviewer not in names:
                names.append(each.reviewer)
    return found


def _pattern(path: Path, top: Path) -> str:
    """A path from the top of the repository, a link as such; blanks and signs with a meaning are escaped."""
    relative = path.relative_to(top).as_posix()
    if not relative.isprintable():
        message = f"a CODEOWNERS file cannot have the path {relative!r}"
        raise FindingsError([Finding(code="FL510", message=message, hint="rename it", file=path)])
    return "/" + _SPECIAL.sub(r"\\\1", relative)
