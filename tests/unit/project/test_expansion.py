"""A promoted spec holds what its profiles, folders and overrides mean, in each environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.project.expansion import expanded_spec, spec_text
from triton_fleet.project.fleet_files import FleetFiles
from triton_fleet.project.layers import Layering
from triton_fleet.project.project import LoadedSpec, load_spec, open_project
from triton_fleet.project.reader import read_source

ENVIRONMENTS = ["dev", "prod", "staging"]


def promote_file(folder: FleetFolder, file: str = "model_specs/sentences.yaml", to: str = "prod") -> str:
    """The text of the endpoint's file beside its lock."""
    root = folder.root
    return spec_text(expanded_spec(FleetFiles(root), root / file, root / "locks" / to))


def expand_file(folder: FleetFolder, to: str = "prod") -> Path:
    return folder.write(f"locks/{to}/sentences.spec.yaml", promote_file(folder, to=to))


def with_environments(folder: FleetFolder, **keys: str) -> None:
    for name in ENVIRONMENTS:
        folder.environment(keys.get(name, ""), name)


def load_fleet_spec(folder: FleetFolder, environment: str) -> LoadedSpec:
    return open_project(folder.root, environment).load("sentences")


def test_it_has_the_keys_of_profiles_and_folders(folder: FleetFolder) -> None:
    with_environments(folder)
    folder.write("profiles/base.yaml", "triton: '24.10'\n")
    folder.write("profiles/gpu.yaml", "profile: base\ninstance: {type: ml.g5.xlarge, count: 2}\n")
    folder.write("model_specs/_folder.yaml", "owner: {team: search}\n")
    folder.write(
        "model_specs/sentences.yaml",
        "endpoint: sentences\nprofile: gpu\nmodels: [{archive: sentences, repository: ../repository}]\n",
    )
    assert promote_file(folder) == (
        "# yaml-language-server: $schema=../../model_specs/endpoint.schema.json\n"
        "# Written by `fleet promote`: review it, do not edit it. The tested spec with its profiles and folders.\n"
        "endpoint: sentences\n"
        "profile: [base, gpu]\n"
        "owner: {team: search}\n"
        'triton: "24.10"\n'
        "instance: {type: ml.g5.xlarge, count: 2}\n"
        "models:\n"
        "- {archive: sentences, repository: ../../repository}\n"
    )


def test_what_differs_by_environment_stays_in_its_overrides(folder: FleetFolder) -> None:
    with_environments(folder)
    folder.write("profiles/gpu.yaml", "overrides: {prod: {instance: {count: 3}}, dev: {tags: {a: b}}}\n")
    folder.spec("profile: gpu\noverrides: {prod: {scaling: {min: 3, max: 6}}}\n")
    text = promote_file(folder)
    assert "overrides:\n  dev:\n    tags: {a: b}\n  prod:\n    instance: {count: 3}\n" in text
    assert promote_file(folder, to="staging") == text


def test_it_comes_through_another_promotion_unchanged(folder: FleetFolder) -> None:
    with_environments(folder)
    folder.write("profiles/big.yaml", "instance: {count: 9}\n")
    folder.spec("profile: []\noverrides: {prod: {profile: big}, staging: {triton: '24.10'}}\n")
    first = expand_file(folder, "staging").read_text()
    (folder.root / "profiles/big.yaml").unlink()
    assert promote_file(folder, "locks/staging/sentences.spec.yaml") == first


def test_each_profile_is_in_it_once_and_null_still_takes_away_what_the_environment_gives(
    folder: FleetFolder,
) -> None:
    with_environments(folder, prod="promoted_from: staging\ndefaults: {tags: {a: prod, b: prod}}\n")
    folder.write("profiles/gpu.yaml", "tags: {a: null, c: gpu}\n")
    folder.write("profiles/g4dn.yaml", "profile: gpu\ntags: {c: g4dn}\n")
    folder.spec("profile: [g4dn, gpu]\n")
    text = expand_file(folder).read_text()
    assert "profile: [g4dn, gpu]\n" in text
    assert "tags: {a: null, c: gpu}\n" in text
    spec = load_fleet_spec(folder, "prod")
    assert spec.spec.tags == {"b": "prod", "c": "gpu"}
    assert spec.profiles == ("g4dn", "gpu")


def test_a_changed_profile_does_not_reach_it(folder: FleetFolder) -> None:
    with_environments(folder, prod="promoted_from: staging\n")
    folder.write("profiles/gpu.yaml", "instance: {count: 2}\noverrides: {prod: {tags: {a: b}}}\n")
    folder.spec("profile: gpu\n")
    expand_file(folder)
    folder.write("profiles/gpu.yaml", "instance: {count: 7}\noverrides: {prod: {tags: {a: c}}}\n")
    assert load_fleet_spec(folder, "dev").spec.instance.count == 7
    spec = load_fleet_spec(folder, "prod")
    assert (spec.spec.instance.count, spec.spec.tags) == (2, {"a": "b"})
    assert spec.profiles == ("gpu",)


def test_the_environments_own_keys_are_still_laid_over_it(folder: FleetFolder) -> None:
    keys = "defaults: {logs: {retention_days: 30}}\noverrides: {sentences: {instance: {count: 5}}}\n"
    with_environments(folder, prod=f"promoted_from: staging\n{keys}")
    folder.spec()
    expand_file(folder)
    spec = load_fleet_spec(folder, "prod").spec
    assert (spec.logs.retention_days, spec.instance.count) == (30, 5)


def test_a_mistake_in_it_is_shown_with_its_own_line(folder: FleetFolder) -> None:
    with_environments(folder, prod="promoted_from: staging\n")
    folder.spec()
    file = expand_file(folder)
    file.write_text(file.read_text().replace("triton:", "tritn:"))
    assert any(line.startswith("sentences.spec.yaml:4 FL110 ") for line in folder.finding_lines("prod"))


def test_what_an_environment_takes_away_is_not_switched_off_there(folder: FleetFolder) -> None:
    """`errors: null` below `alarms` means no alarm, and not the default one that the layers mean."""
    with_environments(folder)
    folder.write("profiles/gpu.yaml", 'alarms: {errors: "1%"}\noverrides: {prod: {alarms: null}}\n')
    folder.spec("profile: gpu\nalarms: {latency_p99: 100ms}\n")
    before = {name: load_fleet_spec(folder, name).spec.alarms for name in ENVIRONMENTS}
    layers = Layering(
        FleetFiles(folder.root), read_source(folder.root / "environments/prod.yaml"), ENVIRONMENTS
    )
    assert before["prod"] != before["dev"]
    assert load_spec(read_source(expand_file(folder)), layers).spec.alarms == before["prod"]


KEYS = st.fixed_dictionaries(
    {},
    optional={
        "instance": st.fixed_dictionaries({}, optional={"count": st.integers(1, 4), "ami": st.just("al2")}),
        "tags": st.dictionaries(st.sampled_from("abc"), st.sampled_from(["x", "1", "no", "010", "0x1f"])),
        "alarms": st.sampled_from([None, {"errors": "1%"}, {"latency_p99": "100ms"}]),
        "samples": st.just([]),
        "logs": st.sampled_from([{"retention_days": 30}, {}]),
    },
)
PARTIAL = st.builds(
    lambda keys, overrides: keys | ({"overrides": overrides} if overrides else {}),
    KEYS,
    st.dictionaries(st.sampled_from(["prod", "staging"]), KEYS, max_size=2),
)


@settings(max_examples=60)
@given(profile=PARTIAL, spec=PARTIAL, environment=st.sampled_from(ENVIRONMENTS))
def test_it_means_in_each_environment_what_its_layers_mean(
    tmp_path_factory: Any, profile: dict[str, Any], spec: dict[str, Any], environment: str
) -> None:
    folder = FleetFolder(tmp_path_factory.mktemp("fleet"))
    with_environments(folder)
    folder.write("profiles/gpu.yaml", spec_text(profile))
    folder.write("model_specs/sentences.yaml", SPEC + "profile: gpu\n")
    own = read_source(folder.root / "model_specs/sentences.yaml").data
    spec = spec | {"instance": {"type": "ml.g5.xlarge"} | spec.get("instance", {})}
    folder.write("model_specs/sentences.yaml", spec_text({**own, **spec}))
    before = load_fleet_spec(folder, environment).spec
    layers = Layering(
        FleetFiles(folder.root),
        read_source(folder.root / f"environments/{environment}.yaml"),
        ENVIRONMENTS,
        is_expanded=True,
    )
    after = load_spec(read_source(expand_file(folder)), layers).spec
    texts = {"models", "overrides", "profile"}
    assert after.model_dump(exclude=texts) == before.model_dump(exclude=texts)
