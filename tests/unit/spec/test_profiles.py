"""A spec is laid over its profiles, and these over those that they name."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.layered_spec import load_spec, origins, spec
from triton_fleet.project.expansion import expanded_spec
from triton_fleet.project.fleet_files import FleetFiles

SHORT = SPEC.replace("instance: {type: ml.g5.xlarge}\n", "")


def test_a_spec_has_the_keys_of_its_profile_and_its_own_above_them(folder: FleetFolder) -> None:
    folder.write(
        "profiles/gpu.yaml", "instance: {type: ml.g5.xlarge, count: 2}\ntags: {a: below, b: below}\n"
    )
    folder.spec("profile: gpu\ninstance: {count: 3}\ntags: {b: above}\n", base=SHORT)
    assert spec(folder).instance.type == "ml.g5.xlarge"
    assert spec(folder).instance.count == 3
    assert spec(folder).tags == {"a": "below", "b": "above"}


def test_of_several_profiles_the_later_one_wins(folder: FleetFolder) -> None:
    folder.write("profiles/one.yaml", "tags: {a: one, b: one}\n")
    folder.write("profiles/two.yaml", "tags: {b: two}\n")
    folder.spec("profile: [one, two]\n")
    assert spec(folder).tags == {"a": "one", "b": "two"}
    assert load_spec(folder).profiles == ("one", "two")


def test_a_profile_without_keys_is_one_that_policies_and_selectors_can_name(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base}\n")
    folder.write("profiles/confidential.yaml", "{}\n")
    folder.spec("profile: [base, confidential]\n")
    assert load_spec(folder).profiles == ("base", "confidential")
    written_spec = expanded_spec(
        FleetFiles(folder.root), folder.root / "model_specs/sentences.yaml", folder.root
    )
    assert written_spec["profile"] == ["base", "confidential"]


def test_a_profile_names_others_that_lie_below_it(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base, b: base}\n")
    folder.write("profiles/search.yaml", "profile: base\ntags: {b: search}\n")
    folder.spec("profile: search\n")
    assert spec(folder).tags == {"a": "base", "b": "search"}
    assert load_spec(folder).profiles == ("base", "search")


def test_a_profile_of_two_others_counts_once_where_it_is_first(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base}\n")
    folder.write("profiles/one.yaml", "profile: base\ntags: {a: one}\n")
    folder.write("profiles/two.yaml", "profile: base\n")
    folder.spec("profile: [one, two]\n")
    assert spec(folder).tags == {"a": "one"}


def test_a_profile_that_is_named_again_counts_where_it_is_named_last(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "tags: {a: gpu}\n")
    folder.write("profiles/gpu-g4dn.yaml", "profile: gpu\ntags: {a: g4dn, b: g4dn}\n")
    folder.spec("profile: [gpu-g4dn, gpu]\n")
    assert spec(folder).tags == {"a": "gpu", "b": "g4dn"}
    assert load_spec(folder).profiles == ("gpu-g4dn", "gpu")
    assert origins(folder)["tags.a"] == "profiles/gpu.yaml:1 profile"


def test_a_profile_of_a_folder_counts_again_where_the_spec_names_it(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "tags: {a: gpu}\n")
    folder.write("profiles/gpu-g4dn.yaml", "profile: gpu\ntags: {a: g4dn}\n")
    folder.write("model_specs/_folder.yaml", "profile: gpu-g4dn\ntags: {a: folder, b: folder}\n")
    folder.spec("profile: gpu\n")
    assert spec(folder).tags == {"a": "gpu", "b": "folder"}


def test_a_profile_that_only_profiles_name_counts_where_a_lower_layer_reached_it(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base}\n")
    folder.write("profiles/gpu.yaml", "profile: base\n")
    folder.write("model_specs/_folder.yaml", "profile: gpu\ntags: {a: folder}\n")
    folder.spec("profile: gpu\n")
    assert spec(folder).tags == {"a": "folder"}


def test_a_list_replaces_the_list_below(folder: FleetFolder) -> None:
    folder.write(
        "profiles/canary.yaml",
        "rollout: {strategy: canary, canary: 50%, rollback_on: [errors, latency]}\n",
    )
    folder.spec("profile: canary\nalarms: {latency_p99: 200ms}\nrollout: {rollback_on: [errors]}\n")
    rollout = spec(folder).rollout
    assert rollout is not None
    assert rollout.rollback_on == ("errors",)


def test_a_mistake_is_told_in_the_profile(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "tags: {a: b}\ninstance: {count: 0}\n")
    folder.spec("profile: gpu\n")
    assert folder.finding_lines()[0].startswith("gpu.yaml:2 FL112 `instance.count` is 0")


def test_a_path_is_relative_to_the_profile(folder: FleetFolder) -> None:
    folder.write("profiles/deep.yaml", "models: [{archive: sentences, repository: ../repository}]\n")
    folder.write(
        "model_specs/a/b/sentences.yaml",
        "endpoint: sentences\nprofile: deep\ntriton: '25.04'\ninstance: {type: ml.g5.xlarge}\n",
    )
    (folder.root / "model_specs/sentences.yaml").unlink()
    folder.lock()
    assert folder.finding_lines() == []


def test_an_unknown_profile_is_told_with_the_chain_that_leads_to_it(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "profile: gpus\n")
    folder.write("profiles/gpu.yaml", "profile: base\n")
    folder.spec("profile: gpu\n")
    assert folder.finding_lines()[0] == (
        "base.yaml:1 FL504 there is no profile 'gpus', which gpu → base names"
        " | did you mean `gpu`? known: base, gpu"
    )


@pytest.mark.parametrize("profile", ["gpus", "Gpu", "[gpus, cycle, broken]"])
def test_an_unknown_profile_hides_no_other_mistake_and_no_key_that_it_may_have_is_missing(
    folder: FleetFolder, profile: str
) -> None:
    folder.write("profiles/cycle.yaml", "profile: cycle\n")
    folder.write("profiles/broken.yaml", "endpoint: x\n")
    folder.write(
        "model_specs/sentences.yaml",
        f"""\
        endpoint: sentences
        profile: {profile}
        instanse: {{type: ml.g5.xlarge}}
        scaling: {{max: many}}
        rollout: {{strategy: canary}}
        models: [{{repository: ../repository}}]
        overrides: {{prd: {{}}, dev: {{tags: 1}}}}
        """,
    )
    lines = [line.partition(" |")[0] for line in folder.finding_lines()]
    profiles = [line for line in lines if line.startswith(("sentences.yaml:2", "cycle", "broken"))]
    assert len(profiles) == profile.count(",") + 1
    assert [line for line in lines if line not in profiles] == [
        "sentences.yaml:3 FL110 unknown key `instanse`",
        'sentences.yaml:4 FL112 `scaling.max` is "many": it must be a whole number',
        "sentences.yaml:6 FL111 the key `models[0].archive` is missing",
        "sentences.yaml:7 FL120 `overrides` names an environment that has no file: 'prd'",
        "sentences.yaml:7 FL112 `tags` is 1: it must be a mapping of keys",
    ]


def test_keys_that_only_an_unknown_profile_can_have_are_no_second_mistake(folder: FleetFolder) -> None:
    folder.write("model_specs/sentences.yaml", "endpoint: sentences\nprofile: gpus\n")
    (line,) = folder.finding_lines()
    assert line.startswith("sentences.yaml:2 FL504 ")


def test_the_profile_that_names_an_unknown_one_is_told(folder: FleetFolder) -> None:
    folder.write("profiles/cyc.yaml", "profile: nope\n")
    folder.spec("profile: cyc\n")
    assert folder.finding_lines()[0].startswith(
        "cyc.yaml:1 FL504 there is no profile 'nope', which cyc names |"
    )


@pytest.mark.parametrize(
    ("value", "key", "hint"),
    [
        ("GPU", "profile", "did you mean `gpu`? known: gpu, gpu-g4dn"),
        ("Gpu G4dn", "profile", "did you mean `gpu-g4dn`? known: gpu, gpu-g4dn"),
        ("[gpu, GPU]", "profile[1]", "did you mean `gpu`? known: gpu, gpu-g4dn"),
    ],
)
def test_a_name_that_no_profile_can_have_is_told_in_words(
    folder: FleetFolder, value: str, key: str, hint: str
) -> None:
    for name in ("gpu", "gpu-g4dn"):
        folder.write(f"profiles/{name}.yaml", "tags: {}\n")
    folder.spec(f"profile: {value}\n")
    name = value.strip("[]").removeprefix("gpu, ")
    assert folder.finding_lines()[0] == (
        f'sentences.yaml:6 FL112 `{key}` is "{name}": the name of a profile has at most 63 lower-case'
        f" letters, digits and inner hyphens | {hint}"
    )


def test_what_is_neither_a_name_nor_a_list_is_told(folder: FleetFolder) -> None:
    folder.spec("profile: 7\n")
    assert folder.finding_lines()[0].startswith(
        "sentences.yaml:6 FL112 `profile` is 7: it must be the name of a profile, or a list of names"
    )


def test_the_hint_for_an_unknown_key_of_a_profile_lists_no_endpoint(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "zzz: 1\n")
    folder.spec("profile: gpu\n")
    assert folder.finding_lines()[0].startswith("gpu.yaml:1 FL110 unknown key `zzz`")
    assert "overrides, owner, profile" in folder.finding_lines()[0]
    assert "endpoint" not in folder.finding_lines()[0]


def test_a_circle_is_told_with_its_chain(folder: FleetFolder) -> None:
    folder.write("profiles/one.yaml", "profile: two\n")
    folder.write("profiles/two.yaml", "profile: [one]\n")
    folder.spec("profile: one\n")
    assert folder.finding_lines()[0].startswith(
        "two.yaml:1 FL505 a profile leads back to itself: one → two → one |"
    )


@pytest.mark.parametrize("name", ["../environments/dev", "/etc/passwd", ".hidden", "a/b", ""])
def test_a_name_that_is_no_file_name_is_refused(folder: FleetFolder, name: str) -> None:
    folder.spec(f"profile: '{name}'\n")
    assert "FL112 `profile" in folder.finding_lines()[0]


def test_a_profile_is_no_endpoint(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "endpoint: gpu\n")
    folder.spec("profile: gpu\n")
    assert (
        folder.finding_lines()[0]
        == "gpu.yaml:1 FL110 a profile has no key `endpoint` | each spec has its own"
    )


def test_the_defaults_of_an_environment_may_name_a_profile(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base, b: base}\n")
    folder.environment("defaults: {profile: base, tags: {b: defaults}}\n")
    assert spec(folder).tags == {"a": "base", "b": "defaults"}
