"""`fleet check --run`: loads a model repository in this machine's Triton."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from triton_fleet.check.repositories import RepositoryTarget, is_configuration
from triton_fleet.cli.output import say
from triton_fleet.core.folders import project_root
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.local.state import LocalState
from triton_fleet.local.triton.runtime import find_runtime
from triton_fleet.local.try_load import findings, load_in_triton
from triton_fleet.printers.lines import print_error
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.reading.folder import read

CACHE = ".cache/triton-fleet"
"""Below the home directory, if the working directory is not a fleet's folder."""


def run_findings(paths: Sequence[Path], target: RepositoryTarget, *, quiet: bool) -> Iterator[Finding]:
    """Load each folder and archive in Triton; print the answers.

    With `quiet` only what was not tried is printed, to stderr: no finding reports it.

    Raises:
        CannotRunError: this machine has no Triton, or a configuration was passed without its model.
    """
    alone = [path for path in paths if is_configuration(path)]
    if alone:
        problem = f"{alone[0]} is a configuration without a model, so Triton cannot load it"
        raise CannotRunError(problem, "pass its model repository, or leave out --run")
    runtime = find_runtime(_cache())
    if target.release is not None:
        runtime = runtime.for_release(target.release)
    for path in paths:
        with suppress(FindingsError):  # read errors are reported elsewhere
            main = plan_load(read(path), target.setting()).main
            default = main or target.default_model or ""
            answer = load_in_triton(path, runtime, mode=target.mode, default_model=default)
            if quiet and answer.untried_line:
                print_error(f"{path}: {answer.untried_line}")
            for line in [] if quiet else answer.lines():
                say(f"{path}: {line}")
            yield from findings(answer)


def _cache() -> Path:
    try:
        return LocalState(project_root(Path.cwd())).cache
    except CannotRunError:
        return Path.home() / CACHE
