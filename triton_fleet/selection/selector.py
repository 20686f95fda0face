"""From what a user names on the command line to endpoints: names, globs, conditions, changes and files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from glob import escape
from pathlib import Path

from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.git.files import changed_files, is_in_a_branch, unquote
from triton_fleet.git.work_tree import work_tree
from triton_fleet.project.membership import locked_endpoints
from triton_fleet.project.project import Fleet, LoadedSpec, Project
from triton_fleet.selection.condition import (
    AND,
    CHANGED,
    GLOB,
    KEYS,
    TAG,
    Condition,
    is_condition,
    quote,
    read_condition,
    refuse_spaces,
    require_right,
    tag_keys,
    wrong_selector,
)
from triton_fleet.selection.paths import UNUSED_CODE, FleetInputs, FleetPaths, Selection
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import SPEC_END

_ONE_TERM = "separate the names, globs, conditions and `changed:REF` of a selector with commas"


class Selector:
    """Selects endpoints of one environment; files, Git and specs are read only for what needs them."""

    def __init__(self, fleet: Fleet, environment: str, *, files: bool = True, drafts: bool = False) -> None:
        """Read nothing yet.

        Args:
            fleet: The fleet.
            environment: The one whose specs are evaluated.
            files: Whether paths and `changed:REF` may be named.
            drafts: Whether paths may be of specs outside of model_specs/.
        """
        self._fleet, self._root, self._environment = fleet, fleet.root, environment
        self._files, self._drafts = files, drafts

    def select(self, arguments: Sequence[str]) -> Selection:
        """Everything that one of the arguments selects; without arguments all endpoints.

        Paths are relative to the working directory, the fleet, or the top of the repository.

        Raises:
            FindingsError: an argument is none of these, or a glob or condition fits no endpoint.
            CannotRunError: Git is needed and cannot be asked.
        """
        if not arguments:
            return Selection(list(self._project.endpoints))
        return Selection.union(self._select(argument) for argument in dict.fromkeys(arguments))

    def concerns(self, argument: str) -> bool:
        """Whether an argument is an endpoint's name, or a path of what endpoints are or were made from.

        So it is where the environment cannot be read: whoever selects the argument reports why. A spec that
        cannot be read has no such paths, as else none could be checked as anything else.
        """
        if argument in self._names:
            return True
        path = self._existing_path(argument)
        try:
            if path is None:
                return self._of_deleted_file(argument) is not None
            paths = self._paths_by(lambda file: self._inputs.endpoints_of(file))
            return bool(paths.of(path).endpoints) or (path.is_dir() and paths.is_own(path))
        except FindingsError as error:
            return any(finding.code != UNUSED_CODE for finding in error.findings)

    def _select(self, argument: str) -> Selection:
        if argument in self._names:
            return Selection([argument])
        terms = argument.split(AND)
        refuse_spaces(argument)
        if any(map(is_condition, terms)):  # else a comma is a part of a path
            return self._of_terms(argument, terms)
        is_glob = bool({*"*?"} & {*argument})  # a bracket alone is more often a part of a path
        path = self._existing_path(argument) if self._files and not is_glob else None
        if path is not None:
            return self._paths.of(path)
        if condition := read_condition(argument):
            require_right(condition)
        if is_glob or ("[" in argument and "/" not in argument):
            return Selection(self._of_glob(argument))
        selection = self._of_deleted_file(argument) if self._files else None
        if selection is not None:
            return selection
        raise self._unknown(argument)

    def _of_terms(self, argument: str, terms: Sequence[str]) -> Selection:
        of_terms = [self._of_term(argument, term) for term in terms]
        if len(of_terms) == 1:
            return of_terms[0]
        names = [
            name
            for name in of_terms[0].endpoints
            if all(name in selection.endpoints for selection in of_terms)
        ]
        if names:
            return Selection(names)
        if not any(term.startswith(CHANGED) for term in terms):
            raise self._no_match(argument, "each part matches an endpoint, but no endpoint matches all parts")
        return Selection(reasons=[f"{quote(argument)}: none of the changed endpoints matches"])

    def _of_term(self, argument: str, term: str) -> Selection:
        if term.startswith(CHANGED):
            if not self._files:
                hint = "name the endpoints, or select them by a glob or a condition"
                raise wrong_selector(f"{quote(term)}: this command does not accept `{CHANGED}`", hint)
            return self._of_changes(term.removeprefix(CHANGED))
        if term in self._names:
            return Selection([term])
        if condition := read_condition(term):
            return Selection(self._of_condition(require_right(condition)))
        if GLOB & {*term}:
            return Selection(self._of_glob(term))
        if not term:
            raise wrong_selector(f"{quote(argument)} has an empty part", _ONE_TERM)
        raise self._unknown(term)

    def _of_changes(self, reference: str) -> Selection:
        if not reference:
            raise wrong_selector(f"`{CHANGED}` needs a commit", f"write `{CHANGED}main`, for example")
        changes = changed_files(self._root, reference)
        of_changes = Selection.union(self._paths.of_file(file) for file in changes)
        of_changes.drafts.clear()  # only those that are named are checked
        if not (of_changes.endpoints or of_changes.former_names):
            of_changes.reasons[:] = [f"no endpoint changed since {quote(reference)}"]
        return of_changes

    def _of_condition(self, condition: Condition) -> list[str]:
        environment = self._project.environment
        names = [spec.spec.endpoint for spec in self._specs if condition.fits(spec, environment)]
        if names:
            return names
        raise self._no_match(condition.text, self._hint_for(condition))

    def _hint_for(self, condition: Condition) -> str:
        """The hint for a condition that no endpoint fulfils."""
        environment = self._project.environment
        values = {value for spec in self._specs for value in condition.values(spec, environment) if value}
        if not values and condition.key.startswith(TAG):
            keys = {key for spec in self._specs for key in tag_keys(spec, environment)}
            return f"no spec sets it; {did_you_mean(condition.key, keys, whole_list=True)}"
        if not values:
            return "no spec sets it"
        if condition.operator == "!=":
            return f"every endpoint matches {quote(f'{condition.key}={condition.value}')}"
        word = condition.value if condition.operator == "=" else ""  # nothing is near an order
        return did_you_mean(word, values, whole_list=True)

    def _of_glob(self, pattern: str) -> list[str]:
        """Endpoints by their names, or where the pattern has a slash by the paths of their specs."""
        if "/" not in pattern:
            names = [name for name in self._project.endpoints if fnmatchcase(name, pattern)]
            choices = list(self._project.endpoints)
        else:
            files = {name: self._project.spec_files[name] for name in self._project.endpoints}
            patterns = [os.path.normpath(Path(escape(str(base)), pattern)) for base in self._bases]
            names = [
                name
                for name, file in files.items()
                if any(
                    fnmatchcase(form, pattern)
                    for form in {str(file), os.path.realpath(file)}
                    for pattern in patterns
                )
            ]
            choices = [file.relative_to(self._root).as_posix() for file in files.values()]
        if not names:
            raise self._no_match(pattern, did_you_mean(pattern, choices, whole_list=True))
        return names

    def _existing_path(self, argument: str) -> Path | None:
        return next((path for path in self._candidates(argument) if _exists(path)), None)

    def _of_deleted_file(self, argument: str) -> Selection | None:
        """The endpoints of a file that no longer exists, and that a branch has."""
        tree = work_tree(self._root)
        if tree is None or not argument.isprintable():
            return None
        files = (file for file in self._candidates(argument) if is_in_a_branch(tree, file))
        return next(map(self._paths.of_file, files), None)

    def _candidates(self, argument: str) -> list[Path]:
        """The files or folders that a path may name."""
        path = unquote(argument)
        if not path or "\0" in path:
            return []
        return [Path(text) for text in dict.fromkeys(os.path.normpath(base / path) for base in self._bases)]

    @cached_property
    def _bases(self) -> tuple[Path, ...]:
        """Folders that paths may be relative to; an absolute one is the same from each."""
        return Path.cwd(), self._root, self._tree

    def _unknown(self, name: str) -> FindingsError:
        message = f"there is no endpoint, file or folder {quote(name)}" if name else "no endpoint was named"
        hint = did_you_mean(name, self._names, whole_list=True)
        if name in KEYS:  # what a shell leaves of `triton<25`
            hint = f"put a condition in quotes: '{name}=…'"
        if AND in name and all(part.strip() in self._names for part in name.split(AND)):
            hint = "separate endpoints with spaces: a comma joins parts that must all match"
        return FindingsError([Finding(code="FL120", message=message, hint=hint)])

    def _no_match(self, selector: str, hint: str) -> FindingsError:
        message = f"no endpoint in {self._environment} matches {quote(selector)}"
        return FindingsError([Finding(code="FL506", message=message, hint=hint)])

    @cached_property
    def _names(self) -> list[str]:
        """All that have a spec, those among them that the environment does not have."""
        promoted_names = locked_endpoints(self._root, self._environment, SPEC_END)
        return list(dict.fromkeys([*self._fleet.specs.by_endpoint, *promoted_names]))

    @cached_property
    def _tree(self) -> Path:
        tree = work_tree(self._root)
        return tree.top if tree else self._root

    @cached_property
    def _project(self) -> Project:
        return self._fleet.open(self._environment)

    @cached_property
    def _specs(self) -> list[LoadedSpec]:
        """All specs: one that cannot be read would else not be selected, unnoticed."""
        return all_of(self._project.endpoints, self._project.load)

    @cached_property
    def _inputs(self) -> FleetInputs:
        return FleetInputs(self._project)

    @cached_property
    def _paths(self) -> FleetPaths:
        return self._paths_by(lambda file: self._inputs.possible_endpoints_of(file))

    def _paths_by(self, endpoints_of: Callable[[Path], list[str]]) -> FleetPaths:
        return FleetPaths(
            self._fleet,
            self._environment,
            endpoints_of=endpoints_of,
            tree=self._tree,
            drafts=self._drafts,
        )


def _exists(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except OSError:  # too long a name
        return False
