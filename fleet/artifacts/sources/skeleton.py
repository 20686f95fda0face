"""How a Triton container would read a repository that is not on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fleet.artifacts.model_facts import model_facts
from fleet.artifacts.sources.s3_object import S3Location
from fleet.artifacts.sources.tree import Tree, UntrustedError
from fleet.findings import FindingsError
from fleet.repository.contents import Contents, Entry, EntryKind
from fleet.repository.kept_files import KeptFiles
from fleet.repository.loading.container import ServingContainer
from fleet.repository.loading.load_plan import plan_load
from fleet.repository.model_config import CONFIG
from fleet.spec.lock import LockedModel


def served_in(
    tree: Tree, kept: KeptFiles, container: ServingContainer, location: S3Location
) -> dict[str, LockedModel]:
    """The facts of the models, checked like those of a folder; findings are at the place of the spec.

    Raises:
        FindingsError: the container could not serve them.
        UntrustedError: a config.pbtxt is too large.
    """
    contents = _contents(tree, kept, location)
    if refusals := plan_load(contents, container).refusals:
        raise FindingsError(
            [
                replace(
                    finding,
                    message=f"{location.url}{_below(finding.file, contents)}: {finding.message}",
                    file=location.mark.file,
                    line=location.mark.line,
                    column=location.mark.column,
                )
                for finding in refusals
            ]
        )
    return model_facts(contents, contents.folders())


def _contents(tree: Tree, kept: KeptFiles, location: S3Location) -> Contents:
    entries = {path: Entry(EntryKind.FOLDER) for path in tree.folders}
    entries |= {path: Entry(EntryKind.FILE, size) for path, size in tree.files.items()}
    texts = dict(kept.plans)
    for model, content in kept.configs.items():
        path = f"{model}/{CONFIG}"
        if content is None:
            raise UntrustedError(f"{path!r} is larger than the configuration of a model is")
        texts[path] = content
    return Contents(
        place=Path(location.key),
        archive=False,
        entries=dict(sorted(entries.items())),
        texts=texts,
        packed=True,
    )


def _below(file: Path | None, contents: Contents) -> str:
    if file is None or file == contents.place:
        return ""
    return f" ({file.relative_to(contents.place).as_posix()})"
