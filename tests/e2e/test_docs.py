"""Every command that a page has its reader type is typed here, in the page's order, and does what the page says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.support.doc_commands import DocumentedCommand, Page, read_pages
from tests.support.doc_shell import ELSEWHERE, is_as_shown
from tests.support.doc_walk import WALK
from tests.support.documented_fleet import FIRST, DocumentedFleet, documented_fleet
from tests.support.fleet_commands import simple_commands
from tests.support.run_elsewhere import run_elsewhere
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = [pytest.mark.triton, pytest.mark.cdk, pytest.mark.nightly]


@pytest.fixture(scope="module")
def fleet(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentedFleet]:
    with documented_fleet(runtime, tmp_path_factory.mktemp("docs")) as fleet:
        yield fleet


def local_commands(page: Page) -> list[DocumentedCommand]:
    return [
        item
        for item in page.commands
        if item.section != WALK and item.bare not in FIRST and item.bare not in run_elsewhere()
    ]


def test_what_most_commands_presuppose_succeeds(fleet: DocumentedFleet) -> None:
    assert [(result.command.text, result.err) for result in fleet.first if result.code] == []


@pytest.mark.parametrize(
    "page", [page for page in read_pages() if local_commands(page)], ids=lambda page: page.name
)
def test_each_command_of_a_page_does_what_the_page_says(fleet: DocumentedFleet, page: Page) -> None:
    commands = local_commands(page)
    lines = {
        command: call[0]
        for command in commands
        for call in simple_commands(command.text)
        if call[0] == "jq" and shutil.which("jq") is None
    }
    result = fleet.follow([command for command in commands if command not in lines])
    wrong = [
        f"{item.command} exited with {item.code}:\n{item.out}{item.err}"
        for item in result
        if not is_as_shown(item)
    ]
    assert not wrong, "\n".join([*wrong, f"where a command needs more than this test has, {ELSEWHERE}"])
    if lines:
        pytest.skip(", ".join(f"{name}: there is no {program}" for name, program in lines.items()))
