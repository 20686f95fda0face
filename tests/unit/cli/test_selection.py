"""Selectors on the command line: which endpoints a command then works on, and what it says where none is left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import triton_fleet.cli.destroy as destroy_command
from tests.support.fleet_folder import FleetFolder
from tests.support.selections import environments_read
from tests.support.typed_command import RunFleet
from triton_fleet.aws.deploy.destroy import Deletion
from triton_fleet.findings import Finding, FindingsError


class TestOtherCommands:
    @pytest.mark.parametrize(
        ("command", "selector", "output"),
        [
            (["cost"], "owner=vision", "images"),
            (["engines", "plan"], "owner=vision", "no engines in images"),
            (["images", "plan"], "repository/embed/config.pbtxt", "in images, sentences"),
            (["lock"], "changed:main", ""),
        ],
    )
    def test_each_command_with_endpoints_takes_selectors(
        self, run_fleet: RunFleet, two: FleetFolder, command: list[str], selector: str, output: str
    ) -> None:
        result = run_fleet(*command, "--env", "dev", selector)
        assert result.code == 0
        assert output in result.out

    @pytest.mark.parametrize(
        "command", ["deploy", "publish", "lock", "cost", "preflight", "ls", "engines build", "images build"]
    )
    def test_where_nothing_is_left_nothing_is_done(
        self, run_fleet: RunFleet, two: FleetFolder, command: str
    ) -> None:
        """Without a client of AWS: nothing is asked there."""
        (two.root / "model_specs/images.yaml").unlink()
        result = run_fleet(*command.split(), "--env", "dev", "model_specs/images.yaml")
        assert (result.code, result.out) == (0, "")
        assert result.err.splitlines() == [
            "images no longer has a spec: `fleet destroy --env dev images` removes the endpoint, if it is deployed",
            "dev: no endpoint is selected",
        ]

    def test_a_program_gets_its_document_all_the_same(self, run_fleet: RunFleet, two: FleetFolder) -> None:
        assert (
            json.loads(run_fleet("engines", "plan", "--env", "dev", "changed:main", "--format", "json").out)
            == []
        )
        result = run_fleet("preflight", "--env", "dev", "changed:main", "--format", "json")
        assert (result.code, json.loads(result.out)["findings"]) == (0, [])
        assert json.loads(run_fleet("cost", "--env", "dev", "changed:main", "--format", "json").out)

    def test_locking_a_selection_leaves_the_other_locks_alone(
        self, run_fleet: RunFleet, two: FleetFolder
    ) -> None:
        two.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
        result = run_fleet("lock", "--env", "dev", "owner=vision")
        assert result.out == "wrote locks/dev/images.lock.yaml\n"

    @pytest.mark.parametrize(
        "command", ["show", "invoke", "dashboard", "models ls", "images explain", "engines explain", "doctor"]
    )
    @pytest.mark.parametrize("selector", ["im*", "owner=search", "changed:HEAD", "owner = search"])
    def test_a_command_for_one_endpoint_says_so(
        self, run_fleet: RunFleet, two: FleetFolder, command: str, selector: str
    ) -> None:
        result = run_fleet(*command.split(), selector, "--env", "dev")
        assert result.code == 1
        assert "this command takes the name of one endpoint" in result.err


class TestSeveralEnvironments:
    @pytest.fixture
    def endpoint_pair(self, two: FleetFolder) -> FleetFolder:
        """`images` is of another team in the second environment alone, which does not have `sentences`."""
        two.environment("endpoints: [images]\noverrides: {images: {owner: {team: ops}}}\n", "other")
        return two

    @pytest.mark.parametrize(
        ("selector", "listed_rows"),
        [
            ("owner=search", [("dev", "sentences")]),
            ("owner=ops", [("other", "images")]),
            ("sentences", [("dev", "sentences")]),
            ("images", [("dev", "images"), ("other", "images")]),
        ],
    )
    def test_what_one_of_them_has_is_listed(
        self,
        run_fleet: RunFleet,
        endpoint_pair: FleetFolder,
        selector: str,
        listed_rows: list[tuple[str, str]],
    ) -> None:
        environments = ("--env", "dev", "--env", "other")
        result = run_fleet("ls", "--offline", "--format", "json", *environments, selector)
        assert [(entry["environment"], entry["name"]) for entry in json.loads(result.out)] == listed_rows

    @pytest.mark.parametrize(
        ("selector", "code"), [("owner=x", "FL506"), ("x", "FL120"), ("ownr=x", "FL507")]
    )
    def test_what_none_of_them_has_is_refused(
        self, run_fleet: RunFleet, endpoint_pair: FleetFolder, selector: str, code: str
    ) -> None:
        result = run_fleet("ls", "--offline", "--env", "dev", "--env", "other", selector)
        assert result.code == 1
        assert result.err.count(code) == 1


class TestLs:
    def test_a_file_that_no_endpoint_uses_is_no_note_beside_an_endpoint(
        self, run_fleet: RunFleet, two: FleetFolder
    ) -> None:
        two.write("README.md", "")
        for arguments in (["images", "README.md"], ["README.md", "images"]):
            result = run_fleet("ls", "--offline", "--format", "json", "--env", "dev", *arguments)
            assert [entry["name"] for entry in json.loads(result.out)] == ["images"]
            assert result.err == ""

    def test_specs_are_read_once_however_many_paths_are_named(
        self, run_fleet: RunFleet, two: FleetFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = environments_read(monkeypatch)
        files = (str(two.write(f"repository/embed/{number}.txt", "")) for number in range(5))
        assert run_fleet("ls", "--offline", "--env", "dev", *files).code == 0
        assert read == ["dev"]


class TestDrift:
    """AWS is not asked for what is wrong without it."""

    @pytest.mark.parametrize(
        ("argument", "message"),
        [
            ("model_specs/images.yaml", "is not an endpoint's name, and this command does not accept paths"),
            ("app.py", "is not an endpoint's name, and this command does not accept paths"),
            ("changed:main", "this command does not accept `changed:`"),
            ("owner=x", "no endpoint in dev matches 'owner=x'"),
            ("owner = search", "write it without spaces: 'owner=search'"),
            ("x*", "no endpoint in dev matches 'x*'"),
        ],
    )
    @pytest.mark.parametrize("command", ["drift", "destroy"])
    def test_paths_changes_and_selectors_that_match_nothing_are_refused(
        self, run_fleet: RunFleet, two: FleetFolder, command: str, argument: str, message: str
    ) -> None:
        result = run_fleet(command, "--env", "dev", argument)
        assert result.code == 1
        assert message in result.err


class TestDestroy:
    @pytest.fixture
    def deployed_names(self, two: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
        """`images` and the orphan `old` are deployed; the list is of what was deleted."""
        deletions = list[str]()

        def plan(access: Any, name: str) -> Any:
            if name == "sentences":
                raise FindingsError([Finding(code="FL606", message="no endpoint is deployed")])
            stack = type(
                "Stack", (), {"name": f"stack-{name}", "status": "CREATE_COMPLETE", "is_protected": False}
            )()
            return Deletion(stack=stack, types=[], endpoint=None)

        monkeypatch.setattr(destroy_command, "connect", lambda *_: None)
        monkeypatch.setattr(destroy_command, "plan_deletion", plan)
        monkeypatch.setattr(destroy_command, "_leases", lambda *_: None)
        monkeypatch.setattr(
            destroy_command,
            "delete",
            lambda _, deletion, *_other_values: deletions.append(deletion.stack.name),
        )
        yield deletions

    def test_all_that_is_selected_is_shown_before_one_question(
        self, run_fleet: RunFleet, deployed_names: list[str]
    ) -> None:
        result = run_fleet("destroy", "--env", "dev", "--yes", "owner!=", "old")
        assert result.code == 0
        assert deployed_names == ["stack-images", "stack-old"]
        assert "nothing to destroy: sentences is not deployed in dev" in result.out

    def test_without_consent_nothing_is_deleted(self, run_fleet: RunFleet, deployed_names: list[str]) -> None:
        result = run_fleet("destroy", "--env", "dev", "im*", "old")
        assert (result.code, deployed_names) == (2, [])
        assert "stack-images" in result.out
        assert "stack-old" in result.out

    def test_a_name_that_was_never_deployed_is_a_mistake(
        self, run_fleet: RunFleet, deployed_names: list[str]
    ) -> None:
        assert (run_fleet("destroy", "--env", "dev", "--yes", "sentences").code, deployed_names) == (1, [])

    @pytest.mark.parametrize("selector", ["x*", "owner=x", "changed:main"])
    def test_nothing_is_deleted_by_a_selector_that_fits_nothing_or_by_changes(
        self, run_fleet: RunFleet, deployed_names: list[str], selector: str
    ) -> None:
        result = run_fleet("destroy", "--env", "dev", "--yes", "old", selector)
        assert (result.code, deployed_names) == (1, [])
