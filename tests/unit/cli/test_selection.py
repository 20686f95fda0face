"""Selectors on the command line: which endpoints a command then works on, and what it says where none is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

import fleet.cli.destroy as destroy_command
from fleet.aws.deploy.destroy import Deletion
from fleet.cli.commands import app
from fleet.exits import run_to_exit
from fleet.findings import Finding, FindingsError
from fleet_folder import SPEC, FleetFolder
from git_repository import GitRepository


@dataclass(frozen=True)
class Ended:
    code: object
    out: str
    err: str


Typed: TypeAlias = Callable[..., Ended]


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    """How a command ends in this process, and what it prints."""

    def run(*words: str) -> Ended:
        code: object = 0
        try:
            run_to_exit(lambda: app(list(words)))
        except SystemExit as end:
            code = end.code or 0
        return Ended(code, *capsys.readouterr())

    return run


@pytest.fixture
def two(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """Endpoints of two teams, locked and committed; the working directory is the fleet."""
    folder.spec("owner: {team: search}\n")
    folder.spec("owner: {team: vision}\n", "images", base=SPEC.replace("sentences", "images"))
    folder.lock()
    GitRepository.around(folder.root)
    monkeypatch.chdir(folder.root)
    return folder


class TestCheck:
    @pytest.mark.parametrize(
        ("words", "checked"),
        [
            (["owner=search"], "sentences"),
            (["im*", "owner=search"], "images, sentences"),
            (["model_specs/images.yaml", "README.md"], "images"),
            (["repository/embed/config.pbtxt"], "images, sentences"),
            (["repository/embed/1/model.py", "locks/dev/images.lock.yaml"], "images, sentences"),
        ],
    )
    def test_only_what_is_selected_is_checked(
        self, typed: Typed, two: FleetFolder, words: list[str], checked: str
    ) -> None:
        two.write("README.md", "")
        done = typed("check", "--env", "dev", *words)
        assert (done.code, done.out.strip(), done.err) == (0, f"dev: no findings in {checked}", "")

    def test_a_configuration_with_options_of_its_own_is_checked_for_these(
        self, typed: Typed, two: FleetFolder
    ) -> None:
        done = typed("check", "--env", "dev", "--triton", "25.04", "repository/embed/config.pbtxt")
        assert done.out.strip() == "dev: no findings in repository/embed/config.pbtxt"

    def test_files_that_concern_no_endpoint_check_the_environment_alone(
        self, typed: Typed, two: FleetFolder
    ) -> None:
        two.write("README.md", "")
        done = typed("check", "--env", "dev", "README.md")
        assert (done.code, done.out.strip()) == (0, "dev: no endpoint was checked")
        assert done.err == "dev: no endpoint is selected: README.md: no endpoint in dev uses it\n"

    def test_an_endpoints_name_is_never_the_folder_of_that_name(self, typed: Typed, two: FleetFolder) -> None:
        two.write("images/net/config.pbtxt", 'backend: "python"\n')
        assert typed("check", "--env", "dev", "images").out.strip() == "dev: no findings in images"
        assert "FL" in typed("check", "--env", "dev", "./images").err
        assert "FL" in typed("check", "images").err

    @pytest.mark.parametrize("path", ["locks", ".", "..", "repository", "locks/dev"])
    def test_a_folder_of_the_fleet_selects_the_endpoints_that_are_made_from_it(
        self, typed: Typed, two: FleetFolder, path: str
    ) -> None:
        done = typed("check", "--env", "dev", path)
        assert (done.code, done.out.strip()) == (0, "dev: no findings in images, sentences")

    def test_a_folder_from_which_no_endpoint_is_made_is_a_repository(
        self, typed: Typed, two: FleetFolder
    ) -> None:
        two.write("other/net/config.pbtxt", 'backend: "python"\n')
        two.write("other/net/1/model.py", "class TritonPythonModel: x = 1\n")
        assert typed("check", "--env", "dev", "other").out.strip() == "dev: no findings in other"

    @pytest.mark.parametrize("path", ["other", "repository", "other/net/config.pbtxt"])
    @pytest.mark.parametrize(
        ("env", "code"), [("nosuch", "FL120"), ("broken", "FL111"), ("unreadable", "FL101")]
    )
    def test_a_repository_does_not_hide_that_the_environment_is_wrong(
        self, typed: Typed, two: FleetFolder, path: str, env: str, code: str
    ) -> None:
        two.write("other/net/config.pbtxt", 'backend: "python"\n')
        two.write("other/net/1/model.py", "class TritonPythonModel: x = 1\n")
        two.write("environments/broken.yaml", "environment: broken\n")
        two.write("environments/unreadable.yaml", "{")
        done = typed("check", "--env", env, path, "--format", "json")
        assert done.code == 1
        assert code in {each["code"] for each in json.loads(done.out)["findings"]}

    @pytest.mark.parametrize("path", ["other", "other/net/config.pbtxt"])
    def test_a_spec_that_cannot_be_read_leaves_repositories_checkable(
        self, typed: Typed, two: FleetFolder, path: str
    ) -> None:
        two.write("other/net/config.pbtxt", 'backend: "python"\n')
        two.write("other/net/1/model.py", "class TritonPythonModel: x = 1\n")
        two.write("model_specs/images.yaml", "endpoint: images\n")
        assert typed("check", "--env", "dev", path).out.strip() == f"dev: no findings in {path}"
        assert "FL111" in typed("check", "--env", "dev", "repository").err

    def test_an_empty_argument_is_refused(self, typed: Typed, two: FleetFolder) -> None:
        done = typed("check", "--env", "dev", "")
        assert done.code == 1
        assert "no endpoint was named" in done.err

    def test_a_deleted_spec_leaves_what_else_is_wrong_without_it(
        self, typed: Typed, two: FleetFolder
    ) -> None:
        two.environment("overrides: {images: {instance: {count: 2}}}\n")
        (two.root / "model_specs/images.yaml").unlink()
        done = typed("check", "--env", "dev", "model_specs/images.yaml")
        assert done.code == 1
        assert "images no longer has a spec: `fleet destroy --env dev images`" in done.err
        assert "`overrides` names an endpoint that has no spec" in done.err

    def test_a_deleted_configuration_selects_its_endpoints(self, typed: Typed, two: FleetFolder) -> None:
        (two.root / "repository/embed/config.pbtxt").unlink()
        done = typed("check", "--env", "dev", "repository/embed/config.pbtxt", "--format", "json")
        assert done.code == 1
        (found,) = json.loads(done.out)["findings"]
        assert (found["code"], found["endpoints"]) == ("FL306", ["images", "sentences"])

    def test_a_selector_that_fits_nothing_is_a_finding(self, typed: Typed, two: FleetFolder) -> None:
        done = typed("check", "--env", "dev", "owner=sarch", "--format", "json")
        assert done.code == 1
        assert [each["code"] for each in json.loads(done.out)["findings"]] == ["FL506"]

    def test_what_git_cannot_compare_ends_with_2(self, typed: Typed, two: FleetFolder) -> None:
        done = typed("check", "--env", "dev", "changed:nowhere")
        assert done.code == 2
        assert "cannot run: git knows no commit 'nowhere'" in done.err


class TestOtherCommands:
    @pytest.mark.parametrize(
        ("command", "selector", "shown"),
        [
            (["cost"], "owner=vision", "images"),
            (["engines", "plan"], "owner=vision", "no engines in images"),
            (["images", "plan"], "repository/embed/config.pbtxt", "in images, sentences"),
            (["lock"], "changed:main", ""),
        ],
    )
    def test_each_command_with_endpoints_takes_selectors(
        self, typed: Typed, two: FleetFolder, command: list[str], selector: str, shown: str
    ) -> None:
        done = typed(*command, "--env", "dev", selector)
        assert done.code == 0
        assert shown in done.out

    @pytest.mark.parametrize(
        "command", ["deploy", "publish", "lock", "cost", "preflight", "ls", "engines build", "images build"]
    )
    def test_where_nothing_is_left_nothing_is_done(
        self, typed: Typed, two: FleetFolder, command: str
    ) -> None:
        """Without a client of AWS: nothing is asked there."""
        (two.root / "model_specs/images.yaml").unlink()
        done = typed(*command.split(), "--env", "dev", "model_specs/images.yaml")
        assert (done.code, done.out) == (0, "")
        assert done.err.splitlines() == [
            "images no longer has a spec: `fleet destroy --env dev images` removes the endpoint, if it is deployed",
            "dev: no endpoint is selected",
        ]

    def test_a_program_gets_its_document_all_the_same(self, typed: Typed, two: FleetFolder) -> None:
        assert (
            json.loads(typed("engines", "plan", "--env", "dev", "changed:main", "--format", "json").out) == []
        )
        assert json.loads(typed("cost", "--env", "dev", "changed:main", "--format", "json").out)

    def test_locking_a_selection_leaves_the_other_locks_alone(self, typed: Typed, two: FleetFolder) -> None:
        two.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
        done = typed("lock", "--env", "dev", "owner=vision")
        assert done.out == "wrote locks/dev/images.lock.yaml\n"

    @pytest.mark.parametrize(
        "command", ["show", "invoke", "dashboard", "models ls", "images explain", "engines explain", "doctor"]
    )
    @pytest.mark.parametrize("selector", ["im*", "owner=search", "changed:HEAD"])
    def test_a_command_for_one_endpoint_says_so(
        self, typed: Typed, two: FleetFolder, command: str, selector: str
    ) -> None:
        done = typed(*command.split(), selector, "--env", "dev")
        assert done.code == 1
        assert "this command takes the name of one endpoint" in done.err


class TestSeveralEnvironments:
    @pytest.fixture
    def both(self, two: FleetFolder) -> FleetFolder:
        """`images` is of another team in the second environment alone, which does not have `sentences`."""
        two.environment("endpoints: [images]\noverrides: {images: {owner: {team: ops}}}\n", "other")
        return two

    @pytest.mark.parametrize(
        ("selector", "listed"),
        [
            ("owner=search", [("dev", "sentences")]),
            ("owner=ops", [("other", "images")]),
            ("sentences", [("dev", "sentences")]),
            ("images", [("dev", "images"), ("other", "images")]),
        ],
    )
    def test_what_one_of_them_has_is_listed(
        self, typed: Typed, both: FleetFolder, selector: str, listed: list[tuple[str, str]]
    ) -> None:
        environments = ("--env", "dev", "--env", "other")
        done = typed("ls", "--offline", "--format", "json", *environments, selector)
        assert [(each["environment"], each["name"]) for each in json.loads(done.out)] == listed

    @pytest.mark.parametrize(
        ("selector", "code"), [("owner=x", "FL506"), ("x", "FL120"), ("ownr=x", "FL507")]
    )
    def test_what_none_of_them_has_is_refused(
        self, typed: Typed, both: FleetFolder, selector: str, code: str
    ) -> None:
        done = typed("ls", "--offline", "--env", "dev", "--env", "other", selector)
        assert done.code == 1
        assert done.err.count(code) == 1


class TestDrift:
    """AWS is not asked for what is wrong without it."""

    @pytest.mark.parametrize(
        ("argument", "said"),
        [
            ("model_specs/images.yaml", "is not an endpoint's name, and this command does not accept paths"),
            ("app.py", "is not an endpoint's name, and this command does not accept paths"),
            ("changed:main", "this command does not accept `changed:`"),
            ("owner=x", "no endpoint in dev matches 'owner=x'"),
            ("x*", "no endpoint in dev matches 'x*'"),
        ],
    )
    @pytest.mark.parametrize("command", ["drift", "destroy"])
    def test_paths_changes_and_selectors_that_match_nothing_are_refused(
        self, typed: Typed, two: FleetFolder, command: str, argument: str, said: str
    ) -> None:
        done = typed(command, "--env", "dev", argument)
        assert done.code == 1
        assert said in done.err


class TestDestroy:
    @pytest.fixture
    def deployed(self, two: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
        """`images` and the orphan `old` are deployed; the list is of what was deleted."""
        deleted = list[str]()

        def plan(access: Any, name: str) -> Any:
            if name == "sentences":
                raise FindingsError([Finding(code="FL606", message="no endpoint is deployed")])
            stack = type("Stack", (), {"name": f"stack-{name}", "status": "CREATE_COMPLETE"})()
            return Deletion(stack=stack, resources=[], endpoint=None)

        monkeypatch.setattr(destroy_command, "connect", lambda *_: None)
        monkeypatch.setattr(destroy_command, "plan_deletion", plan)
        monkeypatch.setattr(destroy_command, "delete", lambda _, stack: deleted.append(stack.name))
        yield deleted

    def test_all_that_is_selected_is_shown_before_one_question(
        self, typed: Typed, deployed: list[str]
    ) -> None:
        done = typed("destroy", "--env", "dev", "--yes", "owner!=", "old")
        assert done.code == 0
        assert deployed == ["stack-images", "stack-old"]
        assert "nothing to destroy: sentences is not deployed in dev" in done.out

    def test_without_consent_nothing_is_deleted(self, typed: Typed, deployed: list[str]) -> None:
        done = typed("destroy", "--env", "dev", "im*", "old")
        assert (done.code, deployed) == (2, [])
        assert "stack-images" in done.out
        assert "stack-old" in done.out

    def test_a_name_that_was_never_deployed_is_a_mistake(self, typed: Typed, deployed: list[str]) -> None:
        assert (typed("destroy", "--env", "dev", "--yes", "sentences").code, deployed) == (1, [])

    @pytest.mark.parametrize("selector", ["x*", "owner=x", "changed:main"])
    def test_nothing_is_deleted_by_a_selector_that_fits_nothing_or_by_changes(
        self, typed: Typed, deployed: list[str], selector: str
    ) -> None:
        done = typed("destroy", "--env", "dev", "--yes", "old", selector)
        assert (done.code, deployed) == (1, [])
