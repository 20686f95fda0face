"""`fleet deploy` of files that no commit has: a question on a terminal, a refusal in CI and without one."""

from __future__ import annotations

import io
import sys

import pytest
import typer

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.typed_command import RunFleet
from triton_fleet.cli.commit_question import committed_checkout
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.selection.checkout import Checkout


class Terminal(io.StringIO):
    """A standard input at which somebody types."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def edited_fleet(two: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """Two endpoints; the spec of one has an uncommitted edit."""
    monkeypatch.delenv("CI", raising=False)
    spec = two.root / "model_specs/sentences.yaml"
    spec.write_text(f"{spec.read_text()}# an edit\n")
    return two


def edited_checkout(folder: FleetFolder, *endpoints: str, allow_dirty: bool = False) -> Checkout:
    project = open_project(folder.root, "dev", endpoints)
    return committed_checkout(project, locked=False, allow_dirty=allow_dirty)


def answer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(text))


@pytest.mark.parametrize("options", [(), ("--yes",)], ids=["plain", "with --yes"])
def test_without_a_terminal_it_is_refused_before_any_account_is_asked(
    edited_fleet: FleetFolder, run_fleet: RunFleet, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    result = run_fleet("deploy", "--env", "dev", *options)
    assert result.code == 1
    assert result.err.splitlines()[-3:] == [
        "error[uncommitted-files] FL527: 1 file of what dev would run differs from the last commit:"
        " model_specs/sentences.yaml",
        "  hint: commit what you deploy, or pass `--allow-dirty`: the release is then recorded as uncommitted",
        "1 error, 0 warnings",
    ]


def test_in_ci_it_is_refused_even_on_a_terminal(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    answer("y\n", monkeypatch)
    with pytest.raises(FindingsError, match=r"FL527: 1 file .* model_specs/sentences\.yaml"):
        edited_checkout(edited_fleet)


def test_on_a_terminal_the_files_are_listed_and_the_user_is_asked(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer("y\n", monkeypatch)
    assert [name.name for name in edited_checkout(edited_fleet).uncommitted] == ["sentences.yaml"]
    assert capsys.readouterr().out == (
        "1 file of what dev would run differs from the last commit:\n"
        "  model_specs/sentences.yaml\n"
        "Deploy what is not committed? [y/N]: "
    )


def test_whoever_does_not_agree_deploys_nothing(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer("\n", monkeypatch)
    with pytest.raises(typer.Exit) as end:
        edited_checkout(edited_fleet)
    assert end.value.exit_code == 1
    assert capsys.readouterr().err == "nothing was deployed\n"


def test_few_files_are_listed_and_the_others_counted(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    for number in range(7):
        edited_fleet.write(f"repository/embed/1/part{number}.bin", "x")
    with pytest.raises(FindingsError, match=r"8 files .*: .*part3\.bin and 3 more\n"):
        edited_checkout(edited_fleet)


@pytest.mark.parametrize("endpoints", [("images",), ()], ids=["another endpoint", "allowed"])
def test_nobody_is_asked_about_another_endpoint_or_if_it_is_allowed(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch, endpoints: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CI", "true")
    checkout = edited_checkout(edited_fleet, *endpoints, allow_dirty=not endpoints)
    assert bool(checkout.uncommitted) is not bool(endpoints)
    assert checkout.commit == GitRepository(edited_fleet.root).git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize("other_text", [None, "environments/dev.yaml", "cdk.json"])
def test_what_a_rollback_has_restored_needs_no_answer_and_other_files_do(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch, other_text: str | None
) -> None:
    monkeypatch.setenv("CI", "true")
    roots = [edited_fleet.root / "model_specs/sentences.yaml"]
    project = open_project(edited_fleet.root, "dev")
    if other_text is not None:
        edited_fleet.write(other_text, "{}\n")
    if other_text is None:
        checkout = committed_checkout(project, locked=True, allow_dirty=False, restored_files=roots)
        assert [name.name for name in checkout.uncommitted] == ["sentences.yaml"]
    else:
        with pytest.raises(FindingsError, match=f"FL527: 1 file .* {other_text}"):
            committed_checkout(project, locked=True, allow_dirty=False, restored_files=roots)


def test_outside_of_git_nobody_is_asked(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert edited_checkout(folder) == Checkout()


def test_a_clone_that_git_refuses_to_read_stops_a_deploy_that_does_not_allow_it(
    edited_fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (edited_fleet.root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (edited_fleet.root / ".git/config").write_text("[core\n")
    with pytest.raises(CannotRunError, match="git cannot read"):
        edited_checkout(edited_fleet)
    assert edited_checkout(edited_fleet, allow_dirty=True) == Checkout()
