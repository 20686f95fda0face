"""Two specs of one endpoint compared: each key that differs, with both values."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from triton_fleet.explain.effective_spec import hide_secrets
from triton_fleet.project.expansion import is_path, move_paths
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.endpoint import S3, EndpointSpec
from triton_fleet.spec.source import KeyPath, Source

RAW = "cloudformation"
"""The key whose mappings are CloudFormation's: an empty value there was written."""
KEYS_WITHOUT_EFFECT = ("endpoint", "profile", "overrides", "environments", "language")
"""Keys whose effect is in other keys, or that have none on what is deployed."""


class _Absence(Enum):
    """The value of a key that a mapping lacks."""

    VALUE = "nothing"


NO_VALUE = _Absence.VALUE
MAX_VALUE, MAX_COMMON = 60, 20
"""Characters of a value in a line, and of those that both values begin with."""


@dataclass(frozen=True)
class KeyChange:
    """A key with another value; `NOTHING` where a mapping or `models` lacks it.

    In `path`, entries of `models` have their archive's name in place of an index.
    """

    path: KeyPath
    before: object
    after: object

    @property
    def key(self) -> str:
        """The key as users write it: `instance.count`."""
        return ".".join(map(str, self.path))

    @property
    def values(self) -> str:
        """Both values, without secrets."""
        return f"{self._value_text(self.before)} → {self._value_text(self.after)}"

    @property
    def short_values(self) -> str:
        """Both values as they are shown in a line: long ones from a little before they differ."""
        values = self._value_text(self.before), self._value_text(self.after)
        pairs = enumerate(zip(*values, strict=False))
        common = next((at for at, (old, new) in pairs if old != new), min(map(len, values)))
        start = max(0, common - MAX_COMMON)
        return " → ".join(map(partial(_excerpt, start=start), values))

    def __str__(self) -> str:
        """The key with both values."""
        return f"`{self.key}`: {self.values}"

    def _value_text(self, value: object) -> str:
        if value is NO_VALUE or value is None:
            return "none"
        public_value = hide_secrets(value, self.path)
        if self.path[0] != RAW:
            public_value = _without_empty_keys(public_value)
        return public_value if isinstance(public_value, str) else json.dumps(public_value, ensure_ascii=False)


def _without_empty_keys(value: object) -> object:
    """A value without the keys of its mappings that have none: the contract's defaults."""
    if isinstance(value, dict):
        items = {key: _without_empty_keys(item) for key, item in value.items()}
        return {key: item for key, item in items.items() if item not in (None, [], {})}
    return [_without_empty_keys(item) for item in value] if isinstance(value, list) else value


def _excerpt(value: str, start: int) -> str:
    if len(value) <= MAX_VALUE:
        return value
    part = value[start : start + MAX_VALUE]
    return f"{'…' * bool(start)}{part}{'…' * (start + MAX_VALUE < len(value))}"


def spec_changes(
    before: LoadedSpec, after: LoadedSpec, roots: tuple[Path, Path] = (Path(), Path())
) -> list[KeyChange]:
    """The keys in which two specs differ as they hold, defaults filled in, in the order of the contract.

    Paths are the same if they lead to the same place, whichever file they are written in; for specs of two
    folders, to the same place below the `roots` of both.
    """
    old, new = (_comparable(spec, root) for spec, root in zip((before, after), roots, strict=True))
    return list(_changes(_by_archive(old), _by_archive(new), ()))


def is_written_alike(before: Source, after: Source) -> bool:
    """Whether two specs of one fleet, merged with their layers, cannot differ.

    It costs a tenth of `spec_changes`, as neither spec is validated for it.
    """
    keys = {*before.data, *after.data}.difference(KEYS_WITHOUT_EFFECT)
    return all(key in before.data and key in after.data for key in keys) and all(
        _is_alike(before.data[key], after.data[key], (key,), (before, after)) for key in keys
    )


def _is_alike(old: object, new: object, path: KeyPath, sources: tuple[Source, Source]) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            _is_alike(old[key], new[key], (*path, key), sources) for key in old
        )
    if isinstance(old, list) and isinstance(new, list):
        pairs = enumerate(zip(old, new, strict=False))
        return len(old) == len(new) and all(_is_alike(*pair, (*path, at), sources) for at, pair in pairs)
    if isinstance(old, str) and isinstance(new, str) and is_path(path) and not old.startswith(S3):
        places = (
            os.path.normpath(source.mark(path).file.parent / name)
            for source, name in zip(sources, (old, new), strict=True)
        )
        return len({*places}) == 1
    return old == new and type(old) is type(new)


def recorded_spec(spec: LoadedSpec, root: Path) -> dict[str, Any]:
    """A spec as it holds, for a record: plain data without secrets, and without keys at their defaults.

    A version with more keys makes the same record of the same spec. Paths are relative to `root`. `allow`,
    which decides nothing that runs, is left out.
    """
    data = _comparable(spec, root, exclude_defaults=True)
    return {key: hide_secrets(value, (key,)) for key, value in data.items() if key != "allow"}


def recorded_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[KeyChange]:
    """The keys in which two recorded specs differ, with the defaults of this version filled in.

    Where a record does not fit the contract of this version, a key at its default is `none`.
    """
    try:
        old, new = _with_defaults(before), _with_defaults(after)
    except ValidationError:
        old, new = before, after
    return list(_changes(_by_archive(old), _by_archive(new), ()))


def _comparable(loaded_spec: LoadedSpec, root: Path, *, exclude_defaults: bool = False) -> dict[str, Any]:
    data = loaded_spec.spec.model_dump(
        mode="json", exclude=set(KEYS_WITHOUT_EFFECT), exclude_defaults=exclude_defaults
    )
    return {key: move_paths(value, (key,), loaded_spec.source, root) for key, value in data.items()}


def _with_defaults(record: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = EndpointSpec.model_validate_json(json.dumps({"endpoint": "recorded", **record}))
    return spec.model_dump(mode="json", exclude=set(KEYS_WITHOUT_EFFECT))


def _by_archive(data: Mapping[str, Any]) -> dict[str, Any]:
    match data.get("models"):
        case [*models] if all(
            isinstance(model, dict) and isinstance(model.get("archive"), str) for model in models
        ):
            return {**data, "models": {model["archive"]: model for model in models}}
        case _:  # a record of another contract is compared as it is
            return {**data}


def _changes(before: Mapping[str, Any], after: Mapping[str, Any], path: KeyPath) -> Iterator[KeyChange]:
    for key in {**before, **after}:
        old, new, key_path = before.get(key, NO_VALUE), after.get(key, NO_VALUE), (*path, key)
        if old == new and type(old) is type(new):
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _changes(old, new, key_path)
        else:
            yield KeyChange(key_path, old, new)
