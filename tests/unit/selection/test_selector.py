"""Selectors: names, globs and conditions, each for the endpoints of one environment."""

from __future__ import annotations

import time

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Fleet
from triton_fleet.selection.selector import Selector

ENDPOINT_NAMES = ["bert-large", "bert-small", "resnet", "zoo"]


def selected_names(fleet: FleetFolder, *arguments: str, environment: str = "dev") -> list[str]:
    return Selector(Fleet(fleet.root), environment).select(arguments).endpoints


def refusal(fleet: FleetFolder, *arguments: str, environment: str = "dev") -> Finding:
    with pytest.raises(FindingsError) as refusal_info:
        selected_names(fleet, *arguments, environment=environment)
    (finding,) = refusal_info.value.findings
    return finding


class TestNamesAndGlobs:
    def test_without_an_argument_all_endpoints_are_selected(self, fleet: FleetFolder) -> None:
        assert selected_names(fleet) == ENDPOINT_NAMES

    def test_several_arguments_select_what_any_of_them_does_each_once(self, fleet: FleetFolder) -> None:
        assert selected_names(fleet, "zoo", "bert-*", "zoo") == ["zoo", "bert-large", "bert-small"]

    @pytest.mark.parametrize(
        ("glob", "names"),
        [
            ("*", ENDPOINT_NAMES),
            ("*-small", ["bert-small"]),
            ("z?o", ["zoo"]),
            ("[rz]*", ["resnet", "zoo"]),
            ("[rz]oo", ["zoo"]),
            ("model_specs/search/*", ["bert-large", "bert-small"]),
        ],
    )
    def test_a_glob_is_of_names_and_with_a_slash_of_the_paths_of_specs(
        self, fleet: FleetFolder, glob: str, names: list[str]
    ) -> None:
        assert selected_names(fleet, glob) == names

    def test_a_glob_of_paths_is_from_where_a_plain_path_may_be_from(
        self, fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        GitRepository.around(fleet.root.parent)
        monkeypatch.chdir(fleet.root / "model_specs/vision")
        for glob in ("./res*", "../vision/*", "fleet/model_specs/vision/*", f"{fleet.root}/model_specs/v*/*"):
            assert selected_names(fleet, glob) == ["resnet"]
        assert refusal(fleet, "vision/*").code == "FL506"

    def test_an_unknown_name_is_refused_with_the_nearest_one(self, fleet: FleetFolder) -> None:
        finding = refusal(fleet, "resent")
        assert finding.code == "FL120"
        assert finding.hint.startswith("did you mean `resnet`? known: bert-large")

    def test_a_glob_that_fits_nothing_is_refused_and_never_means_all(self, fleet: FleetFolder) -> None:
        finding = refusal(fleet, "zoo", "brt-*")
        assert (finding.code, finding.message) == ("FL506", "no endpoint in dev matches 'brt-*'")
        assert "known: bert-large" in finding.hint

    def test_names_and_globs_read_no_spec(self, fleet: FleetFolder) -> None:
        for name in ("search/bert-large", "search/bert-small"):
            fleet.write(f"model_specs/{name}.yaml", "{")
        assert selected_names(fleet, "bert-*", "zoo") == ["bert-large", "bert-small", "zoo"]


class TestConditions:
    @pytest.mark.parametrize(
        ("condition", "names"),
        [
            ("owner=search", ["bert-large", "bert-small"]),
            ("owner=se*", ["bert-large", "bert-small"]),
            ("owner!=search", ["resnet", "zoo"]),
            ("owner=", ["zoo"]),
            ("owner!=", ["bert-large", "bert-small", "resnet"]),
            ("tag:stage=dev", ["bert-large", "bert-small", "zoo"]),
            ("tag:stage=prod", ["resnet"]),
            ("tag:cost=ml", ENDPOINT_NAMES),
            ("tag:plan=", ENDPOINT_NAMES),
            ("triton<25", ["bert-large"]),
            ("triton<=25", ["bert-large", "bert-small", "resnet"]),
            ("triton>25", ["zoo"]),
            ("triton>=25.04", ["bert-small", "resnet", "zoo"]),
            ("triton>25.4", ["zoo"]),
            ("triton=25", ["bert-small", "resnet"]),
            ("triton=25.*", ["bert-small", "resnet"]),
            ("triton!=25.04", ["bert-large", "zoo"]),
            ("instance=g5*", ["bert-large", "bert-small"]),
            ("instance=ml.g5.xlarge", ["bert-large", "bert-small"]),
            ("instance!=ml.g*", ["zoo"]),
            ("mode=multi-model", ["zoo"]),
            ("profile=tiny", ["bert-small"]),
            ("profile=", ["bert-large", "resnet", "zoo"]),
            ("endpoint!=bert-*", ["resnet", "zoo"]),
        ],
    )
    def test_a_condition_selects_the_endpoints_that_it_holds_for(
        self, fleet: FleetFolder, condition: str, names: list[str]
    ) -> None:
        assert selected_names(fleet, condition) == names

    @pytest.mark.parametrize(
        ("selector", "names"),
        [
            ("owner=search,triton<25", ["bert-large"]),
            ("bert-*,triton>=25", ["bert-small"]),
            ("owner!=,resnet", ["resnet"]),
            ("owner!=,endpoint!=*-large,endpoint!=*-small", ["resnet"]),
        ],
    )
    def test_with_commas_all_parts_have_to_fit(
        self, fleet: FleetFolder, selector: str, names: list[str]
    ) -> None:
        assert selected_names(fleet, selector) == names

    def test_a_spec_is_judged_as_it_holds_in_the_environment(self, fleet: FleetFolder) -> None:
        fleet.environment("overrides: {zoo: {owner: {team: search}}}\ntags: {stage: live}\n", name="prod")
        assert selected_names(fleet, "owner=search,tag:stage=live", environment="prod") == [
            "bert-small",
            "zoo",
        ]

    @pytest.mark.parametrize(
        ("selector", "message", "hint"),
        [
            ("owner=serach", "no endpoint in dev matches 'owner=serach'", "did you mean `search`?"),
            ("triton<24", "no endpoint in dev matches 'triton<24'", "known: 24.10, 25.04, 26.01"),
            ("tag:team=x", "no endpoint in dev matches 'tag:team=x'", "no spec sets it"),
            ("tag:stag=dev", "no endpoint in dev matches 'tag:stag=dev'", "did you mean `tag:stage`?"),
            ("triton>26.01", "no endpoint in dev matches 'triton>26.01'", "known: 24.10, 25.04, 26.01"),
            (
                "tag:cost!=ml",
                "no endpoint in dev matches 'tag:cost!=ml'",
                "every endpoint matches 'tag:cost=ml'",
            ),
            (
                "triton!=2?.*",
                "no endpoint in dev matches 'triton!=2?.*'",
                "every endpoint matches 'triton=2?.*'",
            ),
            ("owner=vision,triton<25", "no endpoint in dev matches 'owner=vision,triton<25'", "all parts"),
            ("zoo,owner=serach", "no endpoint in dev matches 'owner=serach'", "did you mean `search`?"),
        ],
    )
    def test_one_that_fits_nothing_is_refused_with_what_there_is(
        self, fleet: FleetFolder, selector: str, message: str, hint: str
    ) -> None:
        finding = refusal(fleet, selector)
        assert (finding.code, finding.message) == ("FL506", message)
        assert hint in finding.hint

    @pytest.mark.parametrize(
        ("selector", "hint"),
        [
            ("ownr=search", "did you mean `owner`?"),
            ("tags:stage=dev", "tag:KEY"),
            ("tag:=dev", "tag:KEY"),
            ("mode<single", "only `triton` has an order"),
            ("triton<new", "write a release, such as `25.04`"),
            ("triton=", ""),
            ("triton<25*", "write a release"),
            ("owner=search,", "separate the names, globs, conditions"),
            ("changed:", "changed:main"),
        ],
    )
    def test_one_that_cannot_be_judged_is_refused(self, fleet: FleetFolder, selector: str, hint: str) -> None:
        finding = refusal(fleet, selector)
        assert finding.code == ("FL506" if selector == "triton=" else "FL507")
        assert hint in finding.hint

    @pytest.mark.parametrize("selector", ["triton>26.01", "triton<24", "tag:cost!=ml"])
    def test_a_near_value_is_proposed_for_an_equation_alone(self, fleet: FleetFolder, selector: str) -> None:
        assert "did you mean" not in refusal(fleet, selector).hint

    @pytest.mark.parametrize(
        ("selector", "without"),
        [
            ("owner = search", "owner=search"),
            (" owner=search", "owner=search"),
            ("triton< 25", "triton<25"),
            ("mode=single, triton<25.06", "mode=single,triton<25.06"),
            ("bert-* , owner=search", "bert-*,owner=search"),
        ],
    )
    def test_spaces_between_the_parts_are_refused_with_the_selector_without_them(
        self, fleet: FleetFolder, selector: str, without: str
    ) -> None:
        finding = refusal(fleet, selector)
        assert (finding.code, finding.hint) == ("FL507", f"write it without spaces: '{without}'")

    def test_a_value_may_have_spaces(self, fleet: FleetFolder) -> None:
        fleet.environment("tags: {stage: dev, team: ml platform}\n")
        assert selected_names(fleet, "tag:team=ml platform") == ENDPOINT_NAMES

    def test_what_a_shell_leaves_of_an_unquoted_condition_is_explained(self, fleet: FleetFolder) -> None:
        assert "quotes" in refusal(fleet, "triton").hint

    def test_a_spec_that_cannot_be_read_is_told_as_it_might_fit(self, fleet: FleetFolder) -> None:
        fleet.write("model_specs/zoo.yaml", "endpoint: zoo\n")
        with pytest.raises(FindingsError) as refusal:
            selected_names(fleet, "owner=search")
        assert {finding.code for finding in refusal.value.findings} == {"FL111"}


class TestHostileArguments:
    @pytest.mark.parametrize(
        "argument",
        [
            "",
            "\0",
            "zoo\0",
            "zoo\n",
            "a\nb",
            "x" * 100_000,
            "../" * 3000 + "etc/passwd.yaml",
            "-rf",
            "~",
            "$(touch owned)",
            "`touch owned`",
            '"\\777"',
            '"\\x"',
            "*" * 1000 + "q",
            "*a" * 2000,
            "[" * 1000,
            "?" * 10_000,
            "owner=" + "*x" * 2000,
            "owner=\0",
            "triton<" + "9" * 5000,
            "=",
            ",",
            ",".join(["owner=search"] * 3) + ",x",
            f"a{' ' * 100_000}b",
            f"owner{' ' * 100_000}={' ' * 100_000}x",
        ],
    )
    def test_each_is_refused_at_once_without_a_traceback(self, fleet: FleetFolder, argument: str) -> None:
        before = time.monotonic()
        finding = refusal(fleet, argument)
        assert time.monotonic() - before < 5
        assert finding.code in ("FL120", "FL506", "FL507")
        assert len(finding.message) < 500
        assert not (fleet.root / "owned").exists()

    def test_a_file_that_is_called_like_a_condition_does_not_take_its_place(self, fleet: FleetFolder) -> None:
        fleet.write("owner=search", "")
        fleet.write("b*", "")
        assert (
            selected_names(fleet, "owner=search")
            == selected_names(fleet, "b*")
            == ["bert-large", "bert-small"]
        )
