"""To an environment with `promoted_from` everything comes by promotion: the spec, archives, engines, images."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.fleet_folder import SPEC
from tests.support.promotion import ENDPOINT, PLACES, Promotion
from triton_fleet.check.run import all_findings
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import Project, open_project
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.store.promote.spec import adopted_specs, target_for

PROMOTED_KEY = "promoted_from: staging\n"


def environment(promotion: Promotion, name: str, keys: str = "") -> None:
    account, region = PLACES[name]
    text = f'environment: {name}\naccount: "{account}"\nregion: {region}\n'
    promotion.folder.write(f"environments/{name}.yaml", text + keys)


@pytest.fixture
def promoted_endpoint(promotion: Promotion) -> Promotion:
    """prod is promoted from staging."""
    environment(promotion, "prod", PROMOTED_KEY)
    return promotion


def spec_in(promotion: Promotion, name: str) -> EndpointSpec:
    return open_project(promotion.folder.root, name, [ENDPOINT]).load(ENDPOINT).spec


def refusal(promotion: Promotion, message: str = "tested") -> str:
    """The reason why a promotion is refused; nothing more was copied."""
    before = promotion.keys("prod")
    with pytest.raises(FindingsError, match=message) as refusal_info:
        promotion.promote()
    assert promotion.keys("prod") == before
    (finding,) = refusal_info.value.findings
    return f"{finding.file.name if finding.file else ''}:{finding.line} {finding.code} {finding.message} | {finding.hint}"


def test_the_spec_that_was_tested_lies_beside_its_lock(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.folder.write("profiles/gpu.yaml", "logs: {retention_days: 30}\n")
    promoted_endpoint.folder.spec("profile: gpu\n")
    promoted_endpoint.test()
    result = promoted_endpoint.promote()
    root = promoted_endpoint.folder.root
    assert [str(file.relative_to(root)) for file in result.files] == [
        "locks/prod/sentences.spec.yaml",
        "locks/prod/sentences.lock.yaml",
    ]
    assert result.differences == {ENDPOINT: ()}
    assert promoted_endpoint.folder.findings("prod") == []
    assert spec_in(promoted_endpoint, "prod").logs.retention_days == 30


def test_a_change_on_main_reaches_it_by_the_next_promotion_alone(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.test()
    promoted_endpoint.promote()
    promoted_endpoint.folder.spec(base=SPEC.replace("g5.xlarge", "g5.2xlarge"))
    assert spec_in(promoted_endpoint, "staging").instance.type == "ml.g5.2xlarge"
    assert spec_in(promoted_endpoint, "prod").instance.type == "ml.g5.xlarge"
    assert "FL332" in refusal(promoted_endpoint, "ml.g5.xlarge, but its files require ml.g5.2xlarge")
    promoted_endpoint.sagemaker.delete_endpoint(EndpointName=ENDPOINT)
    promoted_endpoint.serve(promoted_endpoint.folder.resolve("staging"))
    promoted_endpoint.promote()
    assert spec_in(promoted_endpoint, "prod").instance.type == "ml.g5.2xlarge"


def test_a_second_promotion_of_the_same_changes_no_file(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.test()
    promoted_endpoint.promote()
    assert promoted_endpoint.promote().files == ()


def test_the_overrides_of_the_target_stay_on_top_and_are_named(promoted_endpoint: Promotion) -> None:
    environment(promoted_endpoint, "prod", PROMOTED_KEY + "overrides: {sentences: {instance: {count: 4}}}\n")
    promoted_endpoint.test()
    (change,) = promoted_endpoint.promote().differences[ENDPOINT]
    assert str(change) == "`instance.count`: 1 → 4"
    assert spec_in(promoted_endpoint, "prod").instance.count == 4


def test_overrides_for_the_target_in_the_spec_come_with_it(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.folder.spec("overrides: {prod: {instance: {count: 4}}}\n")
    promoted_endpoint.test()
    promoted_endpoint.promote()
    promoted_endpoint.folder.spec("overrides: {prod: {instance: {count: 9}}}\n")
    assert spec_in(promoted_endpoint, "prod").instance.count == 4


def test_what_the_source_overrides_for_itself_does_not_come(promoted_endpoint: Promotion) -> None:
    environment(promoted_endpoint, "staging", "overrides: {sentences: {instance: {count: 3}}}\n")
    promoted_endpoint.test()
    (change,) = promoted_endpoint.promote().differences[ENDPOINT]
    assert str(change) == "`instance.count`: 3 → 1"


def test_a_release_that_only_the_source_overrides_is_refused(promoted_endpoint: Promotion) -> None:
    environment(promoted_endpoint, "staging", 'overrides: {sentences: {triton: "24.09"}}\n')
    promoted_endpoint.test()
    assert refusal(promoted_endpoint) == (
        "staging.yaml:4 FL843 sentences was tested in staging with another value than prod has:"
        " `triton`: 24.09 → 25.04 | write `triton` in the overrides of prod, or make it the same in both"
    )


def test_inherited_defaults_that_differ_are_refused_by_key(promoted_endpoint: Promotion) -> None:
    environment(promoted_endpoint, "staging", "defaults: {logs: {retention_days: 60}}\n")
    promoted_endpoint.test()
    assert refusal(promoted_endpoint).startswith(
        "staging.yaml:4 FL843 sentences was tested in staging with another value than prod has:"
        " `logs.retention_days`: 60 → "
    )


def test_an_override_of_the_target_settles_a_default_that_differs(promoted_endpoint: Promotion) -> None:
    environment(promoted_endpoint, "staging", "defaults: {logs: {retention_days: 60}}\n")
    keys = "overrides: {sentences: {logs: {retention_days: 90}}}\n"
    environment(promoted_endpoint, "prod", PROMOTED_KEY + keys)
    promoted_endpoint.test()
    promoted_endpoint.promote()
    assert spec_in(promoted_endpoint, "prod").logs.retention_days == 90


def test_what_the_target_cannot_run_is_refused_before_anything_is_copied(
    promoted_endpoint: Promotion,
) -> None:
    environment(
        promoted_endpoint, "prod", PROMOTED_KEY + "overrides: {sentences: {instance: {type: ml.zz9.large}}}\n"
    )
    promoted_endpoint.test()
    with pytest.raises(FindingsError):
        promoted_endpoint.promote()
    assert promoted_endpoint.keys("prod") == []
    assert not (promoted_endpoint.folder.root / "locks/prod").exists()


def test_only_what_the_target_is_to_have_is_promoted(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.folder.spec("environments: [staging]\n")
    target = open_project(promoted_endpoint.folder.root, "prod")
    with pytest.raises(FindingsError, match="its `environments` has staging"):
        target_for(target, [ENDPOINT])


def test_the_lock_keeps_what_its_template_follows_from(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.test()
    promoted_endpoint.promote()
    file = promoted_endpoint.folder.root / "locks/prod/sentences.lock.yaml"
    first = load_lock(file).inputs
    assert first
    promoted_endpoint.folder.spec("tags: {stage: x}\n")
    promoted_endpoint.promote()
    assert load_lock(file).inputs not in (first, None)


def test_a_profile_that_only_the_source_overrides_with_is_on_purpose(promoted_endpoint: Promotion) -> None:
    promoted_endpoint.folder.write("profiles/small.yaml", "instance: {count: 3}\n")
    promoted_endpoint.folder.spec("overrides: {staging: {profile: small}}\n")
    promoted_endpoint.test()
    (change,) = promoted_endpoint.promote().differences[ENDPOINT]
    assert str(change) == "`instance.count`: 3 → 1"


def test_nothing_is_copied_or_written_if_the_templates_cannot_be_made(promoted_endpoint: Promotion) -> None:
    def fail_build(project: Project, endpoints: Sequence[str]) -> tuple[str, dict[str, str]]:
        assert [project.load(endpoint).spec.endpoint for endpoint in endpoints] == [ENDPOINT]
        assert project.lock(ENDPOINT).promoted_from == "staging"
        raise CannotRunError("no Node.js", "install it")

    promoted_endpoint.test()
    with pytest.raises(CannotRunError):
        promoted_endpoint.promote(templates=fail_build)
    folder = promoted_endpoint.folder.root / "locks/prod"
    assert not folder.exists()
    assert promoted_endpoint.keys("prod") == []
    promoted_endpoint.promote(templates=lambda _, names: ("1.0", dict.fromkeys(names, f"sha256:{1:064}")))
    assert load_lock(folder / "sentences.lock.yaml").product == "1.0"
    second_result = promoted_endpoint.promote(
        templates=lambda _, names: ("1.0", dict.fromkeys(names, f"sha256:{1:064}"))
    )
    assert second_result.files == ()


class TestAdoption:
    """An environment with locks gets `promoted_from`."""

    def test_existing_locks_get_the_specs_that_the_environment_has(self, promotion: Promotion) -> None:
        promotion.folder.spec("overrides: {prod: {instance: {count: 2}}}\n")
        promotion.test()
        promotion.promote()
        before = promotion.folder.resolve("prod")
        environment(promotion, "prod", PROMOTED_KEY)
        root = promotion.folder.root
        assert adopted_specs(open_project(root, "prod")) == [root / "locks/prod/sentences.spec.yaml"]
        assert adopted_specs(open_project(root, "prod")) == []
        after = promotion.folder.resolve("prod")
        texts = {"models", "overrides"}
        assert after.spec.model_dump(exclude=texts) == before.spec.model_dump(exclude=texts)
        assert after.archives[0].key == before.archives[0].key

    def test_an_environment_that_follows_main_adopts_nothing(self, promotion: Promotion) -> None:
        with pytest.raises(FindingsError, match="prod has no `promoted_from`"):
            adopted_specs(open_project(promotion.folder.root, "prod"))

    def test_an_endpoint_that_the_files_leave_out_is_not_adopted(self, promoted_endpoint: Promotion) -> None:
        promoted_endpoint.folder.spec("environments: [staging]\n")
        promoted_endpoint.folder.write(
            "locks/prod/sentences.lock.yaml", "endpoint: sentences\narchives: {}\n"
        )
        project = open_project(promoted_endpoint.folder.root, "prod")
        assert adopted_specs(project) == []
        with pytest.raises(FindingsError, match="its `environments` has staging"):
            adopted_specs(project, [ENDPOINT])
        assert [finding.code for finding in all_findings(project)] == ["FL842"]

    def test_a_null_that_takes_a_default_away_still_does(self, promoted_endpoint: Promotion) -> None:
        environment(promoted_endpoint, "prod", PROMOTED_KEY + "defaults: {environment: {LOG: '1'}}\n")
        promoted_endpoint.folder.write("model_specs/_folder.yaml", "environment: {LOG: '2'}\n")
        promoted_endpoint.folder.spec("environment: {LOG: null}\n")
        promoted_endpoint.folder.write(
            "locks/prod/sentences.lock.yaml", "endpoint: sentences\narchives: {}\n"
        )
        (file,) = adopted_specs(open_project(promoted_endpoint.folder.root, "prod"))
        assert "environment: {LOG: null}\n" in file.read_text()
        assert open_project(promoted_endpoint.folder.root, "prod").load(ENDPOINT).spec.environment == {}

    def test_a_null_below_other_keys_is_not_lost_silently(self, promoted_endpoint: Promotion) -> None:
        environment(promoted_endpoint, "prod", PROMOTED_KEY + "defaults: {environment: {LOG: '1'}}\n")
        promoted_endpoint.folder.write("model_specs/_folder.yaml", "environment: null\n")
        promoted_endpoint.folder.spec("environment: {OTHER: '2'}\n")
        promoted_endpoint.folder.write(
            "locks/prod/sentences.lock.yaml", "endpoint: sentences\narchives: {}\n"
        )
        with pytest.raises(
            FindingsError, match="sentences would change when it is adopted: `environment.LOG`"
        ):
            adopted_specs(open_project(promoted_endpoint.folder.root, "prod"))

    def test_a_lock_without_any_spec_is_named(self, promoted_endpoint: Promotion) -> None:
        promoted_endpoint.folder.write("locks/prod/gone.lock.yaml", "endpoint: gone\narchives: {}\n")
        with pytest.raises(FindingsError, match="'gone' cannot be adopted in prod: it has no spec"):
            adopted_specs(open_project(promoted_endpoint.folder.root, "prod"))
