"""A spec with the keys of its profiles and folders, as an environment gets it that is promoted to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.layers import Layering, merged_source, profiles_of, takes_null
from triton_fleet.project.reader import is_text
from triton_fleet.spec.endpoint import S3, EndpointSpec
from triton_fleet.spec.source import ENVIRONMENTS, SPECS, KeyPath, Source

HEADER = """\
# yaml-language-server: $schema=../../model_specs/endpoint.schema.json
# Written by `fleet promote`: review it, do not edit it. The tested spec with its profiles and folders.
"""
WIDTH = 1 << 16
"""A list of single values is one line, as people write it."""
OF_ENVIRONMENTS = ("overrides", "environments")
"""Keys that are about environments, not about the endpoint in one of them."""


def expanded_spec(fleet: FleetFiles, file: Path, folder: Path) -> dict[str, Any]:
    """The spec as plain data: one document that means what its layers mean in each environment.

    The layers of an environment's own file are left out, since they are laid over it wherever it goes. What
    profiles, folders and the spec itself have for one environment is in its `overrides`.

    Args:
        fleet: The fleet.
        file: The spec, in model_specs/ or beside a lock.
        folder: Where the document will be: its paths are relative to it.

    Raises:
        FindingsError: a layer is wrong.
    """
    spec, environments = fleet.source(file), fleet.environments
    is_expanded = not file.is_relative_to(fleet.root / SPECS)
    whole = {name: _flat(fleet, spec, name, folder, is_expanded=is_expanded) for name in ("", *environments)}
    base = _common_keys(whole[""], list(whole.values()))
    overrides = {name: difference for name in environments if (difference := _difference(base, whole[name]))}
    if overrides:
        base["overrides"] = {name: _sort_keys(override) for name, override in overrides.items()}
    return _sort_keys(base)


def spec_text(document: Mapping[str, Any]) -> str:
    """The text of a spec's file beside a lock."""
    return HEADER + yaml.dump(
        dict(document),
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=None,
        width=WIDTH,
        allow_unicode=True,
    )


def _flat(
    fleet: FleetFiles, spec: Source, environment: str, folder: Path, *, is_expanded: bool
) -> dict[str, Any]:
    """The layers of a spec for one environment without those of the environment's file; "" for none.

    Every `null` stays: it takes away what the environment's `defaults` have, unless a higher layer has a
    mapping there.
    """
    alone = Source(fleet.root / ENVIRONMENTS, {"environment": environment})
    layers = Layering(fleet, alone, fleet.environments, is_expanded=is_expanded).layers(spec)
    whole = merged_source(spec, layers, keeps_null=lambda path: True)
    data = {key: value for key, value in whole.data.items() if key not in OF_ENVIRONMENTS}
    profiles = list(profiles_of(layers)) or data.pop("profile", None)
    if profiles is not None:
        data["profile"] = profiles
    document: dict[str, Any] = move_paths(data, (), whole, folder)
    return document


def _sort_keys(document: Mapping[str, Any]) -> dict[str, Any]:
    """The keys in the order of the contract, so that equal specs have equal files."""
    return {key: document[key] for key in EndpointSpec.model_fields if key in document} | dict(document)


def move_paths(value: Any, path: KeyPath, source: Source, folder: Path) -> Any:
    """The same data with paths that are relative to another folder."""
    if isinstance(value, dict):
        return {key: move_paths(item, (*path, key), source, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [move_paths(item, (*path, index), source, folder) for index, item in enumerate(value)]
    if isinstance(value, str) and is_path(path) and not value.startswith(S3):
        return Path(os.path.relpath(source.mark(path).file.parent / value, folder)).as_posix()
    return value


def is_path(path: KeyPath) -> bool:
    """Whether the value of a key is a path that is relative to the spec's file, unless it is in S3."""
    match path:
        case ("models", _, "repository") | ("models", _, "engines", _, "onnx") | ("image", "build"):
            return True
    return False


def _common_keys(
    base: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], path: KeyPath = ()
) -> dict[str, Any]:
    """The base without values that one of the others lacks although `null` does not take them away."""
    common: dict[str, Any] = {}
    for key, value in base.items():
        below_path = (*path, key)
        if takes_null(below_path) and any(key not in other_layer for other_layer in layers):
            continue
        below = [other_layer[key] for other_layer in layers if isinstance(other_layer.get(key), dict)]
        common[key] = _common_keys(value, below, below_path) if isinstance(value, dict) else value
    return common


def _difference(base: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping that, laid over one, makes it another; `null` takes a key away."""
    changes: dict[str, Any] = {}
    for key in {**base, **target}:
        old, new = base.get(key), target.get(key)
        if key in base and key in target and old == new and type(old) is type(new):
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            changes[key] = _difference(old, new)
        else:
            changes[key] = new
    return changes


class _Dumper(yaml.SafeDumper):
    """Quotes what the reader of specs would not read as text."""

    def represent_text(self, value: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", value, style=None if is_text(value) else '"')

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, _Dumper.represent_text)
