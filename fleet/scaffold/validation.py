"""Whether the environments of a new fleet would be read, before any file is written."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.endpoint.environment import environment_findings
from fleet.findings import FindingsError, all_of
from fleet.spec.project import open_project


def require_valid(folder: Path, contents: Mapping[str, str]) -> None:
    """Read the environments as `fleet check` does.

    Args:
        folder: Where the fleet will be: findings name its files.
        contents: Texts by their path in the fleet.

    Raises:
        FindingsError: every mistake in them.
    """
    with tempfile.TemporaryDirectory() as name:
        draft = Path(name)
        (draft / "model_specs").mkdir()
        for path, text in contents.items():
            if path.startswith("environments/"):
                write_atomically(draft / path, text)

        def check(environment: str) -> None:
            project = open_project(draft, environment)
            if findings := environment_findings(project):
                raise FindingsError(findings)

        try:
            all_of(sorted(file.stem for file in (draft / "environments").iterdir()), check)
        except FindingsError as error:
            moved = [
                replace(
                    each,
                    file=folder / each.file.relative_to(draft) if each.file else None,
                    line=None,
                    column=None,
                )
                for each in error.findings
            ]
            raise FindingsError(moved) from error
