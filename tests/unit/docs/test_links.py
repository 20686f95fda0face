"""Every link of the documentation leads to a file that is there, and to a place in it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT

PAGES = sorted(
    file
    for pattern in ("*.md", "docs/**/*.md", "*/README.md", "examples/*/README.md")
    for file in ROOT.glob(pattern)
    if "node_modules" not in file.parts
)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([^"]+)">')
BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def without_blocks(page: Path) -> str:
    return BLOCK.sub("", page.read_text())


@cache
def places(page: Path) -> set[str]:
    """Anchors of a page, as GitHub makes them of headings."""
    text = without_blocks(page)
    headings = (
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)
    )
    return {*ANCHOR.findall(text), *headings}


def leads_somewhere(page: Path, link: str) -> bool:
    file, _, place = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    return target.exists() and (not place or place in places(target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_to_a_place_that_is_there(page: Path) -> None:
    links = [link for link in LINK.findall(without_blocks(page)) if "://" not in link]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def test_every_page_of_docs_can_be_reached_from_the_readme() -> None:
    reached_files, remaining_roots = set[Path](), [ROOT / "README.md"]
    while remaining_roots:
        page = remaining_roots.pop()
        if page not in reached_files and page.suffix == ".md":
            reached_files.add(page)
            links = (link.partition("#")[0] for link in LINK.findall(page.read_text()))
            remaining_roots += [
                (page.parent / link).resolve() for link in links if link and "://" not in link
            ]
    assert {
        page for page in PAGES if (ROOT / "docs") in page.parents and page.parent.name != "decisions"
    } <= reached_files


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("docs/spec.md", True),
        ("docs/spec.md#models.engines", True),
        ("docs/artifacts.md#live-sets", True),
        ("docs/none.md", False),
        ("docs/artifacts.md#none", False),
    ],
)
def test_a_link_is_right_if_file_and_place_are_there(link: str, leads: bool) -> None:
    assert leads_somewhere(ROOT / "README.md", link) is leads
