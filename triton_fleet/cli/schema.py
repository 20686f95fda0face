"""`fleet schema`: generates the JSON Schemas for editors and the pages of the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.completion import SIGNATURES
from triton_fleet.cli.output import say
from triton_fleet.cli.signatures import signatures
from triton_fleet.core.files import is_up_to_date, write_atomically
from triton_fleet.core.project_root import project_root
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.rules.docs import rules_pages
from triton_fleet.rules.example import examples
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import DOCS
from triton_fleet.spec.reference.page import environment_page, policy_page, prices_page, spec_page
from triton_fleet.spec.schema import schemas


def schema(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit code 1 if a file is stale.")
    ] = False,
) -> None:
    """Write the JSON Schemas and the generated docs.

    The schemas are those of specs, environments, profiles, policies and prices, for editors.
    """
    root = project_root(Path.cwd())
    stale = {file: text for file, text in generated_files(root).items() if not is_up_to_date(file, text)}
    if check and stale:
        message, hint = "this generated file does not match the code", "run `fleet schema`"
        raise FindingsError([Finding(code="FL501", message=message, hint=hint, file=file) for file in stale])
    for file, text in stale.items():
        write_atomically(file, text)
        say(f"wrote {file.relative_to(root)}")


def generated_files(root: Path) -> dict[Path, str]:
    """Each generated file with its text; the pages, and what completion reads, if their folder exists."""
    docs = (root / DOCS).parent
    pages = {
        **{root / page: text for page, text in rules_pages(rules(), examples()).items()},
        docs / "spec.md": spec_page(),
        docs / "environment.md": environment_page(),
        docs / "policy.md": policy_page(),
        docs / "prices.md": prices_page(),
        **_emulator_page(root),
    }
    completion = (
        root / "triton_fleet" / "cli" / SIGNATURES.name
    )  # of this repository, never of an installed package
    return {
        **schemas(root),
        **(pages if docs.is_dir() else {}),
        **({completion: signatures()} if completion.parent.is_dir() else {}),
    }


def _emulator_page(root: Path) -> dict[Path, str]:
    """The page of the embedded AWS, in the repository that has its source: a fleet may be without it."""
    if not (root / "emulator").is_dir():
        return {}
    from fleet_emulator.fidelity import PAGE, fidelity_page

    return {root / PAGE: fidelity_page()}
