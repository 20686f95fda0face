"""The product of a change beside that of its base, by the templates that both make of the base's files."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from triton_fleet.changes.fleet_change import ProductChange
from triton_fleet.changes.templates import Change, compare
from triton_fleet.core.folders import PRODUCT
from triton_fleet.core.formats import short_commit
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import VENDOR, product_lines
from triton_fleet.product.setup_files import DEPENDENCIES, REQUIREMENTS
from triton_fleet.product.synthesis import OWN_PYTHON, Installation, install, installation
from triton_fleet.review.base_tree import BaseTree, check_out
from triton_fleet.review.environment_side import EnvironmentSide

WORK_TREE, SHARED_STACK = "the work tree", "the shared stack"


def product_change(
    base: BaseTree, root: Path, files: Sequence[Path], sides: Sequence[EnvironmentSide], *, installs: bool
) -> ProductChange | None:
    """The changes of templates by the product itself; None where it is the same, or must be installed.

    Args:
        base: The base of the change.
        root: The fleet, whose clone may hold the product.
        files: What differs, relative to the fleet.
        sides: The environments as the base has them.
        installs: Whether what the base's requirements.txt lists may be installed.
    """
    own = installation(OWN_PYTHON)
    is_here = own.packages["triton_fleet"].parent == root / "triton_fleet"
    old, new = pinned_requirements(base.root), pinned_requirements(root)
    if is_here and any(file.parts[0] in PRODUCT for file in files):
        names = short_commit(base.commit), WORK_TREE
    elif installs and old and new and old != new:
        names = next(pair for pair in zip_longest(old, new, fillvalue="nothing") if len({*pair}) > 1)
    else:
        return None
    change = ProductChange(before=names[0], after=names[1], stacks={})
    try:
        with _product_in(base) if names[1] == WORK_TREE else _installed_product(base) as base_product:
            stacks = (_differing_stacks(base_product, own, side) for side in sides)
            return replace(change, stacks=dict(chain.from_iterable(stacks)))
    except CannotRunError as error:
        problem = error.problem.strip().splitlines()[-1].replace(f"{base.root}/", "")
        return replace(change, problem=problem)


def pinned_requirements(root: Path) -> list[str]:
    """The requirements by which a fleet depends on this product; none without one."""
    file = root / REQUIREMENTS
    lines = product_lines(file.read_text("utf-8", "replace")) if file.is_file() else []
    requirements = (re.sub(r"\s+(#.*|\\\s*)$", "", line[0]) for line in lines)
    return [
        re.sub(r" --hash=sha256:(\w{12})\w*", r" (sha256 \1)", requirement).strip()
        for requirement in requirements
    ]


@contextmanager
def _product_in(base: BaseTree) -> Iterator[Installation]:
    """The product as the base has it, by the interpreter and the dependencies of this one."""
    check_out(base, PRODUCT)
    folders = [base.root]
    for file in (base.root / "pyproject.toml", *sorted(base.root.glob("*/pyproject.toml"))):
        with suppress(OSError, KeyError):
            build = tomllib.loads(file.read_text())["tool"]["hatch"]["build"]
            folders += [file.parent / name for name in build["dev-mode-dirs"]]
    yield installation(OWN_PYTHON, list(dict.fromkeys(Path(os.path.normpath(folder)) for folder in folders)))


@contextmanager
def _installed_product(base: BaseTree) -> Iterator[Installation]:
    """The product that the base's `make setup` installs, by the wheels and the hashes that it has."""
    check_out(base, [VENDOR])
    with TemporaryDirectory(prefix="fleet-product-") as folder:
        python = install(Path(os.path.realpath(folder)) / "venv", base.root, REQUIREMENTS, DEPENDENCIES)
        yield installation(python)


def _differing_stacks(
    before: Installation, after: Installation, side: EnvironmentSide
) -> Iterator[tuple[tuple[str, str], Sequence[Change]]]:
    if side.project is None:
        return
    revisions = side.revisions(side.project.endpoints, side.project.environment)
    names = [name for name, revision in revisions.items() if not revision.problem]
    old, new = all_in_parallel((before, after), lambda revision: side.templates(revision, names))
    for name in sorted({*old, *new}):
        if changes := compare(old.get(name, {}), new.get(name, {})):
            yield (side.project.environment.environment, name or SHARED_STACK), changes
