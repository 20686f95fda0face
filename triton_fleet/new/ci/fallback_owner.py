"""The owner of what no other line of a CODEOWNERS file has: a deploy executes such files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from triton_fleet.findings import Finding, Severity
from triton_fleet.new.ci.codeowners import PLATFORM, pattern_of, platform_reviewer
from triton_fleet.spec.source import POLICIES

_ALL = ("*", "**", "/**")


def fallback_lines(root: Path, top: Path, above: str) -> list[str]:
    """The line of the owner of policies/platform.yaml; none where that has no contact for such a file.

    In a larger repository the line is for the fleet's folder. At the top of the repository it is `*`, which
    would override every line above: then there is none.

    Args:
        root: The fleet.
        top: The folder of the Git repository, without links.
        above: The text above the lines of the fleet.

    Raises:
        FindingsError: the policy cannot be read.
    """
    real, reviewer = root.resolve(), platform_reviewer(root)
    if reviewer is None or (real == top and [*_patterns(above)]):
        return []
    return [f"{'*' if real == top else f'{pattern_of(real, top)}/'} {reviewer}"]


def missing_fallback(file: Path, text: str, root: Path, top: Path) -> Finding | None:
    """A warning where a CODEOWNERS file gives no owner to files that a deploy executes."""
    owners = dict(_patterns(text))
    folders = [] if root.resolve() == top else [pattern_of(root.resolve(), top), "/.github"]
    if any(owners.get(each) for each in _ALL):
        return None
    bare = [folder for folder in folders if not (owners.get(f"{folder}/") or owners.get(f"{folder}/**"))]
    if folders and not bare:
        return None
    where = " and ".join(f"{each.lstrip('/')}/" for each in bare) or "the repository"
    return Finding(
        code="FL573",
        severity=Severity.WARNING,
        message=f"files of {where} without a line of their own have no owner; a deploy executes some of them",
        hint="write `* @organisation/platform` as the first line of the file; a new file has it if the owner"
        f" in {POLICIES}/{PLATFORM} has a contact",
        file=file,
        line=1,
    )


def _patterns(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each pattern with its owners; section headings of GitLab are none."""
    for row in text.splitlines():
        words = row.partition(" #")[0].split()
        if words and not words[0].startswith(("#", "[", "^[")):
            yield words[0], words[1:]
