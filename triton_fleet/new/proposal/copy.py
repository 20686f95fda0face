"""The spec of another endpoint under a new name, as its author wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from triton_fleet.new.proposal.yaml_text import scalar
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.source import KeyPath


def copied_spec(loaded: LoadedSpec, name: str) -> str:
    """The text of a spec with a new endpoint's name; comments, order and repositories stay.

    An archive that is called as its endpoint gets the new name as well, and so does what names the archive.

    Args:
        loaded: The other endpoint.
        name: The new endpoint's.
    """
    text = loaded.source.file.read_text(encoding="utf-8-sig")
    targets = _targets(loaded, name)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for path, node in sorted(_scalars(root, ()), key=lambda each: -each[1].start_mark.index):
        if (new := _rename_value(path, node.value, loaded.spec.endpoint, name, targets)) is not None:
            text = text[: node.start_mark.index] + scalar(new) + text[node.end_mark.index :]
    return text


def _targets(loaded: LoadedSpec, name: str) -> Mapping[str, str]:
    """The new names of archives, by the old ones; those of copies one by one."""
    targets = dict[str, str]()
    for index, archive in enumerate(loaded.spec.models):
        if archive.archive == loaded.spec.endpoint:
            new = archive.model_copy(update={"archive": name})
            pairs = zip(archive.packed(index), new.packed(index), strict=True)
            targets |= {old.name: each.name for old, each in pairs}
    return targets


def _rename_value(path: KeyPath, value: str, old: str, name: str, targets: Mapping[str, str]) -> str | None:
    """What a value becomes; None where it stays."""
    match path:
        case ("endpoint",):
            return name
        case ("models", int(), "archive") if value == old:
            return name
        case ("warm", int()) | ("samples", int(), "target"):
            return targets.get(value)
        case _:
            return None


def _scalars(node: yaml.Node | None, path: KeyPath) -> Iterator[tuple[KeyPath, yaml.ScalarNode]]:
    """The single values of a document, with where they stand."""
    match node:
        case yaml.ScalarNode():
            yield path, node
        case yaml.MappingNode():
            for key, value in node.value:
                yield from _scalars(value, (*path, key.value))
        case yaml.SequenceNode():
            for index, value in enumerate(node.value):
                yield from _scalars(value, (*path, index))
