"""Permissions of a spec without the platform: only what the environment's file names or sets itself."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.rules.registry import rules

SUBNETS = "subnets: [subnet-00000001, subnet-00000002]"
NETWORK = f"network: {{{SUBNETS}, security_groups: [sg-00000001]}}\n"
FOREIGN, OWN = "arn:aws:iam::999988887777:role/attacker", "arn:aws:iam::111122223333:role/search"
INVOKERS = f"access: {{invokers: ['{OWN}', '{FOREIGN}']}}\n"
TAG = "tags: {access-project: rank}\n"


def allowance_lines(folder: FleetFolder, code: str, environment: str = "dev") -> list[str]:
    """The findings of a code: file, line, message and hint."""
    return [line.replace(f" {code}", "") for line in folder.finding_lines(environment) if f" {code} " in line]


class TestNetworks:
    def test_a_spec_joins_no_network_that_the_environment_does_not_allow(self, folder: FleetFolder) -> None:
        folder.environment("allowed_networks: [subnet-00000001, sg-00000001]\n")
        folder.spec(NETWORK)
        assert allowance_lines(folder, "FL550") == [
            "sentences.yaml:6 the environment does not allow an endpoint to join subnet-00000002 | leave it out, or add"
            " it to `allowed_networks` in environments/dev.yaml: a spec cannot `allow` it"
        ]

    def test_a_security_group_is_compared_too(self, folder: FleetFolder) -> None:
        folder.environment("allowed_networks: [subnet-00000001, subnet-00000002]\n")
        folder.spec(NETWORK)
        (line,) = allowance_lines(folder, "FL550")
        assert "to join sg-00000001 |" in line

    def test_a_profile_and_the_file_of_a_folder_are_no_environment(self, folder: FleetFolder) -> None:
        folder.write("profiles/closed.yaml", NETWORK)
        folder.environment("defaults: {profile: closed}\n")
        assert len(allowance_lines(folder, "FL550")) == 3
        folder.environment("")
        folder.write("model_specs/_folder.yaml", NETWORK)
        assert len(allowance_lines(folder, "FL550")) == 3

    def test_a_spec_that_overrides_its_network_for_an_environment_is_still_a_spec(
        self, folder: FleetFolder
    ) -> None:
        folder.spec(f"overrides:\n  dev:\n    {NETWORK}")
        assert len(allowance_lines(folder, "FL550")) == 3

    @pytest.mark.parametrize("above", ["defaults: {NETWORK}\n", "overrides:\n  sentences: {NETWORK}\n"])
    def test_what_the_environments_own_file_sets_needs_no_further_key(
        self, folder: FleetFolder, above: str
    ) -> None:
        folder.environment(above.replace("NETWORK", NETWORK.strip()))
        assert allowance_lines(folder, "FL550") == []

    @pytest.mark.parametrize("own", ["{}", "1", "[[a], {b: c}, null]"])
    def test_a_default_of_another_type_that_the_spec_replaces_allows_nothing(
        self, folder: FleetFolder, own: str
    ) -> None:
        folder.environment(
            f"defaults: {{network: {{subnets: {own}}}, access: {{invokers: {own}}}, tags: {{access-project: {own}}}}}\n"
            "protected_tags: [access-project]\n"
        )
        folder.spec(f"{NETWORK}{INVOKERS}{TAG}")
        assert [len(allowance_lines(folder, code)) for code in ("FL550", "FL570", "FL571")] == [3, 1, 1]

    def test_an_override_for_one_endpoint_allows_nothing_to_another(self, folder: FleetFolder) -> None:
        folder.environment(f"overrides:\n  other: {{{NETWORK.strip()}}}\n")
        folder.spec(NETWORK)
        assert len(allowance_lines(folder, "FL550")) == 3

    @pytest.mark.parametrize("resource", ["Model", "EndpointConfig"])
    @pytest.mark.parametrize(
        "raw",
        [
            "VpcConfig: {Subnets: [subnet-00000003], SecurityGroupIds: [sg-00000001]}",
            "VpcConfig.Subnets.0: subnet-00000003",
            "VpcConfig.Subnets: [{Ref: AWS::StackName}]",
            "VpcConfig.Subnets.0: {Fn::Sub: 'subnet-${AWS::Region}'}",
            "VpcConfig.Subnets.Fn::If: [A, subnet-00000003]",
        ],
    )
    def test_a_raw_network_that_a_spec_allows_itself_is_compared_likewise(
        self, folder: FleetFolder, resource: str, raw: str
    ) -> None:
        folder.environment("allowed_networks: [subnet-00000001, sg-00000001]\n")
        folder.spec(f"allow: {{FL263: own VPC}}\ncloudformation: {{{resource}: {{{raw}}}}}\n")
        assert allowance_lines(folder, "FL550") != []

    def test_on_this_machine_there_is_no_network_to_join(self, folder: FleetFolder) -> None:
        folder.environment("", name="local")
        folder.spec(f"{NETWORK}{INVOKERS}")
        assert allowance_lines(folder, "FL550", "local") == allowance_lines(folder, "FL570", "local") == []


class TestInvokers:
    def test_by_default_the_roles_of_the_environments_account_may_be_invokers(
        self, folder: FleetFolder
    ) -> None:
        folder.spec(INVOKERS)
        assert allowance_lines(folder, "FL570") == [
            f"sentences.yaml:6 {FOREIGN} is a role of account 999988887777, and the environment does not allow it"
            " | leave it out, or add it to `allowed_invokers` in environments/dev.yaml: a spec cannot `allow` it"
        ]

    @pytest.mark.parametrize("allowed_text", ["'999988887777', '111122223333'", f"'{FOREIGN}', '{OWN}'"])
    def test_accounts_and_roles_may_be_named(self, folder: FleetFolder, allowed_text: str) -> None:
        folder.environment(f"allowed_invokers: [{allowed_text}]\n")
        folder.spec(INVOKERS)
        assert allowance_lines(folder, "FL570") == []

    def test_a_list_that_leaves_the_own_account_out_refuses_its_roles(self, folder: FleetFolder) -> None:
        folder.environment("allowed_invokers: []\n")
        folder.spec(INVOKERS)
        assert [line.split()[1] for line in allowance_lines(folder, "FL570")] == [OWN, FOREIGN]

    def test_another_role_of_an_account_with_one_allowed_role_is_refused(self, folder: FleetFolder) -> None:
        folder.environment(f"allowed_invokers: ['{FOREIGN}-2', '{OWN}']\n")
        folder.spec(INVOKERS)
        assert len(allowance_lines(folder, "FL570")) == 1

    def test_what_the_environments_own_file_names_is_allowed(self, folder: FleetFolder) -> None:
        folder.environment(f"overrides:\n  sentences: {{{INVOKERS.strip()}}}\n")
        assert allowance_lines(folder, "FL570") == []

    def test_what_is_neither_is_refused_at_its_line(self, folder: FleetFolder) -> None:
        folder.environment("allowed_invokers: ['arn:aws:iam::111122223333:user/a']\n")
        (line,) = folder.finding_lines()
        assert "`allowed_invokers[0]`" in line
        assert line.endswith('write the account, `"444455556666"`, or `arn:aws:iam::ACCOUNT:role/NAME`')


class TestTags:
    @pytest.fixture(autouse=True)
    def protect_environment(self, folder: FleetFolder) -> None:
        folder.environment("protected_tags: [access-project]\n")

    @pytest.mark.parametrize("key", ["access-project", "Access-Project", "acce\u017fs-project"])
    def test_a_spec_sets_no_tag_that_the_environment_protects(self, folder: FleetFolder, key: str) -> None:
        folder.spec(TAG.replace("access-project", key))
        (line,) = allowance_lines(folder, "FL571")
        assert line.startswith("sentences.yaml:6 the tag ")
        assert "gets the value 'rank', and only environments/dev.yaml may change it" in line

    def test_a_profile_sets_none_either(self, folder: FleetFolder) -> None:
        folder.write("profiles/rank.yaml", TAG)
        folder.spec("profile: rank\n")
        (line,) = allowance_lines(folder, "FL571")
        assert line.startswith("rank.yaml:1 ")

    def test_a_spec_does_not_take_one_away(self, folder: FleetFolder) -> None:
        folder.environment("protected_tags: [access-project]\ndefaults: {tags: {access-project: search}}\n")
        folder.spec("tags: {access-project: null}\n")
        (line,) = allowance_lines(folder, "FL571")
        assert "the tag 'access-project' gets no value" in line

    @pytest.mark.parametrize(
        "keys",
        [
            "tags: {access-project: rank}\n",
            "defaults: {tags: {access-project: rank}}\n",
            "tags: {access-project: other}\noverrides: {sentences: {tags: {access-project: rank}}}\n",
        ],
    )
    def test_the_environments_own_file_sets_it(self, folder: FleetFolder, keys: str) -> None:
        folder.environment(f"protected_tags: [access-project]\n{keys}")
        assert allowance_lines(folder, "FL571") == []
        folder.spec(TAG)  # the same value
        assert allowance_lines(folder, "FL571") == []

    def test_other_tags_are_the_specs(self, folder: FleetFolder) -> None:
        folder.spec("tags: {team: rank}\n")
        assert allowance_lines(folder, "FL571") == []


@pytest.mark.parametrize("code", ["FL550", "FL570", "FL571"])
def test_no_spec_can_allow_itself_any_of_them(code: str) -> None:
    assert rules()[code].is_needed
