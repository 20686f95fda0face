"""`fleet deploy` of files that no commit has: a question on a terminal, a refusal in CI and without one."""

from __future__ import annotations

import io
import sys

import pytest
import typer

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.typed_command import Typed
from triton_fleet.cli.commit_question import committed_checkout
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.selection.checkout import Checkout


class Terminal(io.StringIO):
    """A standard input at which somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def edited(two: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """Two endpoints; the spec of one has an uncommitted edit."""
    monkeypatch.delenv("CI", raising=False)
    spec = two.root / "model_specs/sentences.yaml"
    spec.write_text(f"{spec.read_text()}# an edit\n")
    return two


def agreed(folder: FleetFolder, *endpoints: str, allow_dirty: bool = False) -> Checkout:
    project = open_project(folder.root, "dev", endpoints)
    return committed_checkout(project, locked=False, allow_dirty=allow_dirty)


def answer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(text))


@pytest.mark.parametrize("options", [(), ("--yes",)], ids=["plain", "with --yes"])
def test_without_a_terminal_it_is_refused_before_any_account_is_asked(
    edited: FleetFolder, typed: Typed, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    done = typed("deploy", "--env", "dev", *options)
    assert done.code == 1
    assert done.err.splitlines()[-3:] == [
        "error[uncommitted-files] FL527: 1 file of what dev would run differs from the last commit:"
        " model_specs/sentences.yaml",
        "  hint: commit what you deploy, or pass `--allow-dirty`: the release is then recorded as uncommitted",
        "1 error, 0 warnings",
    ]


def test_in_ci_it_is_refused_even_on_a_terminal(edited: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    answer("y\n", monkeypatch)
    with pytest.raises(FindingsError, match=r"FL527: 1 file .* model_specs/sentences\.yaml"):
        agreed(edited)


def test_on_a_terminal_the_files_are_listed_and_the_user_is_asked(
    edited: FleetFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer("y\n", monkeypatch)
    assert [each.name for each in agreed(edited).uncommitted] == ["sentences.yaml"]
    assert capsys.readouterr().out == (
        "1 file of what dev would run differs from the last commit:\n"
        "  model_specs/sentences.yaml\n"
        "Deploy what is not committed? [y/N]: "
    )


def test_whoever_does_not_agree_deploys_nothing(
    edited: FleetFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer("\n", monkeypatch)
    with pytest.raises(typer.Exit) as end:
        agreed(edited)
    assert end.value.exit_code == 1
    assert capsys.readouterr().err == "nothing was deployed\n"


def test_few_files_are_listed_and_the_others_counted(
    edited: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    for number in range(7):
        edited.write(f"repository/embed/1/part{number}.bin", "x")
    with pytest.raises(FindingsError, match=r"8 files .*: .*part3\.bin and 3 more\n"):
        agreed(edited)


@pytest.mark.parametrize("endpoints", [("images",), ()], ids=["another endpoint", "allowed"])
def test_nobody_is_asked_about_another_endpoint_or_if_it_is_allowed(
    edited: FleetFolder, monkeypatch: pytest.MonkeyPatch, endpoints: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CI", "true")
    found = agreed(edited, *endpoints, allow_dirty=not endpoints)
    assert bool(found.uncommitted) is not bool(endpoints)
    assert found.commit == GitRepository(edited.root).git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize("other", [None, "environments/dev.yaml", "cdk.json"])
def test_what_a_rollback_has_restored_needs_no_answer_and_other_files_do(
    edited: FleetFolder, monkeypatch: pytest.MonkeyPatch, other: str | None
) -> None:
    monkeypatch.setenv("CI", "true")
    restored = [edited.root / "model_specs/sentences.yaml"]
    project = open_project(edited.root, "dev")
    if other is not None:
        edited.write(other, "{}\n")
    if other is None:
        found = committed_checkout(project, locked=True, allow_dirty=False, restored_files=restored)
        assert [each.name for each in found.uncommitted] == ["sentences.yaml"]
    else:
        with pytest.raises(FindingsError, match=f"FL527: 1 file .* {other}"):
            committed_checkout(project, locked=True, allow_dirty=False, restored_files=restored)


def test_outside_of_git_nobody_is_asked(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert agreed(folder) == Checkout()


def test_a_clone_that_git_refuses_to_read_stops_a_deploy_that_does_not_allow_it(
    edited: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (edited.root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (edited.root / ".git/config").write_text("[core\n")
    with pytest.raises(CannotRunError, match="git cannot read"):
        agreed(edited)
    assert agreed(edited, allow_dirty=True) == Checkout()
