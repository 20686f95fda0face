"""Documents with the location of every key, how one is laid over another, and the folders of a fleet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

from triton_fleet.findings import CannotRunError, Finding

SPECS = "model_specs"
SPEC_SCHEMA = "endpoint.schema.json"
"""In model_specs/."""
PROFILES = "profiles"
POLICIES = "policies"
ENVIRONMENTS = "environments"
LOCKS, LOCK_END, SPEC_END = "locks", ".lock.yaml", ".spec.yaml"
OWN_FOLDERS = (SPECS, ENVIRONMENTS, PROFILES, POLICIES, LOCKS)
"""The folders of a fleet whose files the product reads."""
FOLDER = "_folder.yaml"
"""Keys of all specs of its folder and of the folders in that."""


MAX_FINDINGS = 100
"""The most findings of one file that are reported."""
KeyPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: `("scaling", "min")`, `("models", 0, "archive")`."""


class Mark(NamedTuple):
    """A place in a file, with what stands there where it is a single value; line and column count from 1."""

    file: Path
    line: int
    column: int
    text: str = ""


def finding_at(mark: Mark, code: str, message: str, hint: str = "") -> Finding:
    """An error at a place of a file."""
    return Finding(code=code, message=message, hint=hint, file=mark.file, line=mark.line, column=mark.column)


def moved_to(mark: Mark, finding: Finding) -> Finding:
    """A finding at another place of a file."""
    return replace(finding, file=mark.file, line=mark.line, column=mark.column)


@contextmanager
def cannot_run_at(mark: Mark) -> Iterator[None]:
    """Begin the problem of work that could not be done with the place of the key that asks for it.

    Raises:
        CannotRunError: the same, with the place.
    """
    try:
        yield
    except CannotRunError as error:
        raise CannotRunError(f"{mark.file}:{mark.line}: {error.problem}", error.remedy) from error


def first_of(findings: Sequence[Finding], count: int) -> list[Finding]:
    """The first of `count` findings of a file; the last one has the number of the others."""
    if not findings:
        return []
    *further, last = findings[:MAX_FINDINGS]
    more = f" (and {count - MAX_FINDINGS} more mistakes in this file)" if count > MAX_FINDINGS else ""
    return [*further, replace(last, message=f"{last.message}{more}")]


@dataclass(frozen=True)
class Source:
    """A document as plain Python data, with the mark of each of its keys and items."""

    file: Path
    data: dict[str, object]
    marks: Mapping[KeyPath, Mark] = field(default_factory=dict)

    def mark(self, path: KeyPath) -> Mark:
        """The place of a key, or of its nearest parent that the document has."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.marks:
                return self.marks[path[:end]]
        return self.marks.get((), Mark(self.file, 1, 1))

    def latest_mark(self, path: KeyPath) -> Mark:
        """For a mapping, the last place that another file overrides; else the mapping's own."""
        own = self.mark(path)
        below = (mark for key, mark in self.marks.items() if key[: len(path)] == path)
        laid_over = [mark for mark in below if mark.file != self.file]
        return laid_over[-1] if laid_over and own.file == self.file else own

    def section(self, *path: str) -> Source:
        """The mapping below a path as a document of its own; empty if there is none."""
        subsection = self
        for key in path:
            subsection = subsection._sections.get(key) or Source(self.file, {})
        return subsection

    @cached_property
    def _sections(self) -> Mapping[str | int, Source]:
        """The mappings below the keys of the first level, all made in one pass over the marks."""
        marks = defaultdict[str | int, dict[KeyPath, Mark]](dict)
        for (first, *below), mark in ((path, mark) for path, mark in self.marks.items() if len(path) > 1):
            marks[first][tuple(below)] = mark
        return {
            key: Source(self.file, value, marks[key])
            for key, value in self.data.items()
            if isinstance(value, dict)
        }

    def merge(self, above: Source, takes_null: Callable[[KeyPath], bool] = lambda path: True) -> Source:
        """This document with another laid over it: mappings merge key by key, everything else is replaced.

        A `null` takes away what is below, if anything, unless the key `takes_null` as its value.
        """
        data, replaced_paths = dict(self.data), set[KeyPath]()
        _lay_over(data, above.data, (), replaced_paths, takes_null)
        marks = {path: mark for path, mark in self.marks.items() if not _is_in(path, replaced_paths)}
        marks |= {path: mark for path, mark in above.marks.items() if _is_in(path, replaced_paths)}
        return Source(self.file, data, marks)


def _lay_over(
    below: dict[str, object],
    above: Mapping[str, object],
    path: KeyPath,
    paths: set[KeyPath],
    takes_null: Callable[[KeyPath], bool],
) -> None:
    for key, value in above.items():
        key_path: KeyPath = (*path, key)
        old = below.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            below[key] = document = dict(old)
            _lay_over(document, value, key_path, paths, takes_null)
        elif value is None and not takes_null(key_path):
            below.pop(key, None)
            paths.add(key_path)
        else:
            below[key] = _without_nulls(value, key_path, takes_null)
            paths.add(key_path)


def _without_nulls(value: object, path: KeyPath, takes_null: Callable[[KeyPath], bool]) -> object:
    """A value where nothing is below, without the keys that take something away."""
    if not isinstance(value, dict):
        return value
    return {
        key: _without_nulls(item, (*path, key), takes_null)
        for key, item in value.items()
        if item is not None or takes_null((*path, key))
    }


def _is_in(path: KeyPath, paths: Set[KeyPath]) -> bool:
    """Whether one of the places holds the path, or is it."""
    for end in range(1, len(path) + 1):  # noqa: SIM110 - a generator takes twice as long, for each mark
        if path[:end] in paths:
            return True
    return False


def named_inputs(source: Source) -> Iterator[tuple[KeyPath, str]]:
    """The model repositories, ONNX models and the image's folder of a spec, which may be invalid.

    Those that are not in S3 are relative to the file that names them.
    """
    image = source.data.get("image")
    build = [(("image", "build"), image.get("build"))] if isinstance(image, dict) else []
    for path, value in chain(_of_models(source.data.get("models")), build):
        if isinstance(value, str):
            yield path, value


def _of_models(models: object) -> Iterator[tuple[KeyPath, object]]:
    for index, model in _mappings(models):
        yield ("models", index, "repository"), model.get("repository")
        for number, engine in _mappings(model.get("engines")):
            yield ("models", index, "engines", number, "onnx"), engine.get("onnx")


def _mappings(values: object) -> Iterator[tuple[int, dict[str, object]]]:
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield index, value
