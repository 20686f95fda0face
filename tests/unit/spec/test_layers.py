"""A spec is laid over profiles, its folders' files and the environment's defaults, and overrides over it."""

from __future__ import annotations

import pytest

from fleet.explain.effective_spec import effective_spec
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.null_values import takes_null
from fleet.spec.project import LoadedSpec, open_project
from fleet_folder import SPEC, FleetFolder

SHORT = SPEC.replace("instance: {type: ml.g5.xlarge}\n", "")


def loaded(folder: FleetFolder, environment: str = "dev") -> LoadedSpec:
    return open_project(folder.root, environment).load("sentences")


def spec(folder: FleetFolder, environment: str = "dev") -> EndpointSpec:
    return loaded(folder, environment).spec


def origins(folder: FleetFolder, environment: str = "dev") -> dict[str, str]:
    """Where each value that is written somewhere stands, by its key."""
    found = effective_spec(loaded(folder, environment)).origins
    return {
        ".".join(map(str, path)): f"{origin.file.relative_to(folder.root)}:{origin.line} {origin.layer}"
        for path, origin in found.items()
        if origin.file
    }


class TestProfiles:
    def test_a_spec_has_the_keys_of_its_profile_and_its_own_above_them(self, folder: FleetFolder) -> None:
        folder.write(
            "profiles/gpu.yaml", "instance: {type: ml.g5.xlarge, count: 2}\ntags: {a: below, b: below}\n"
        )
        folder.spec("profile: gpu\ninstance: {count: 3}\ntags: {b: above}\n", base=SHORT)
        assert spec(folder).instance.type == "ml.g5.xlarge"
        assert spec(folder).instance.count == 3
        assert spec(folder).tags == {"a": "below", "b": "above"}

    def test_of_several_profiles_the_later_one_wins(self, folder: FleetFolder) -> None:
        folder.write("profiles/one.yaml", "tags: {a: one, b: one}\n")
        folder.write("profiles/two.yaml", "tags: {b: two}\n")
        folder.spec("profile: [one, two]\n")
        assert spec(folder).tags == {"a": "one", "b": "two"}
        assert loaded(folder).profiles == ("one", "two")

    def test_a_profile_names_others_that_lie_below_it(self, folder: FleetFolder) -> None:
        folder.write("profiles/base.yaml", "tags: {a: base, b: base}\n")
        folder.write("profiles/search.yaml", "profile: base\ntags: {b: search}\n")
        folder.spec("profile: search\n")
        assert spec(folder).tags == {"a": "base", "b": "search"}
        assert loaded(folder).profiles == ("base", "search")

    def test_a_profile_of_two_others_counts_once_where_it_is_first(self, folder: FleetFolder) -> None:
        folder.write("profiles/base.yaml", "tags: {a: base}\n")
        folder.write("profiles/one.yaml", "profile: base\ntags: {a: one}\n")
        folder.write("profiles/two.yaml", "profile: base\n")
        folder.spec("profile: [one, two]\n")
        assert spec(folder).tags == {"a": "one"}

    def test_a_profile_that_is_named_again_counts_where_it_is_named_last(self, folder: FleetFolder) -> None:
        folder.write("profiles/gpu.yaml", "tags: {a: gpu}\n")
        folder.write("profiles/gpu-g4dn.yaml", "profile: gpu\ntags: {a: g4dn, b: g4dn}\n")
        folder.spec("profile: [gpu-g4dn, gpu]\n")
        assert spec(folder).tags == {"a": "gpu", "b": "g4dn"}
        assert loaded(folder).profiles == ("gpu-g4dn", "gpu")
        assert origins(folder)["tags.a"] == "profiles/gpu.yaml:1 profile"

    def test_a_profile_of_a_folder_counts_again_where_the_spec_names_it(self, folder: FleetFolder) -> None:
        folder.write("profiles/gpu.yaml", "tags: {a: gpu}\n")
        folder.write("profiles/gpu-g4dn.yaml", "profile: gpu\ntags: {a: g4dn}\n")
        folder.write("model_specs/_folder.yaml", "profile: gpu-g4dn\ntags: {a: folder, b: folder}\n")
        folder.spec("profile: gpu\n")
        assert spec(folder).tags == {"a": "gpu", "b": "folder"}

    def test_a_profile_that_only_profiles_name_counts_where_a_lower_layer_reached_it(
        self, folder: FleetFolder
    ) -> None:
        folder.write("profiles/base.yaml", "tags: {a: base}\n")
        folder.write("profiles/gpu.yaml", "profile: base\n")
        folder.write("model_specs/_folder.yaml", "profile: gpu\ntags: {a: folder}\n")
        folder.spec("profile: gpu\n")
        assert spec(folder).tags == {"a": "folder"}

    def test_a_list_replaces_the_list_below(self, folder: FleetFolder) -> None:
        folder.write(
            "profiles/canary.yaml",
            "rollout: {strategy: canary, canary: 50%, rollback_on: [errors, latency]}\n",
        )
        folder.spec("profile: canary\nalarms: {latency_p99: 200ms}\nrollout: {rollback_on: [errors]}\n")
        rollout = spec(folder).rollout
        assert rollout is not None
        assert rollout.rollback_on == ("errors",)

    @pytest.mark.parametrize(
        ("below", "above", "key", "left"),
        [
            ("scaling: {min: 1, max: 2, gpu_utilization: 60}", "scaling: null", "scaling", None),
            (
                "container: {thread_count: 4}",
                "container: null",
                "container",
                EndpointSpec.model_fields["container"].default,
            ),
            ("tags: {a: b, c: d}", "tags: {a: null}", "tags", {"c": "d"}),
            ("alarms: {errors: 1%}", "alarms: null", "alarms", None),
        ],
    )
    def test_null_takes_away_what_is_below(
        self, folder: FleetFolder, below: str, above: str, key: str, left: object
    ) -> None:
        folder.write("profiles/base.yaml", f"{below}\n")
        folder.spec(f"profile: base\n{above}\n")
        assert getattr(spec(folder), key) == left

    @pytest.mark.parametrize(
        "keys", ["container: null", "tags: {gpu: null}", "tags: null", "profile: null", "overrides: null"]
    )
    @pytest.mark.parametrize("place", ["spec", "profile", "folder"])
    def test_null_over_nothing_takes_nothing_away(self, folder: FleetFolder, keys: str, place: str) -> None:
        folder.spec()
        before = spec(folder)
        if place == "spec":
            folder.spec(f"{keys}\n")
        elif place == "folder":
            folder.write("model_specs/_folder.yaml", f"{keys}\n")
        else:
            folder.write("profiles/base.yaml", f"{keys}\n")
            folder.environment("defaults: {profile: base}\n")
        assert spec(folder) == before

    @pytest.mark.parametrize("keys", ["scalling: null", "container: {thread_cuont: null}"])
    def test_null_at_an_unknown_key_is_refused_like_any_value(self, folder: FleetFolder, keys: str) -> None:
        folder.spec(f"{keys}\n")
        assert "sentences.yaml:6 FL110 unknown key `" in folder.said()[0]

    def test_null_for_a_tag_of_the_environment_itself_is_told_with_what_to_do(
        self, folder: FleetFolder
    ) -> None:
        folder.environment("tags: {stage: dev}\ndefaults: {tags: {tier: low}}\n")
        folder.write("profiles/base.yaml", "tags:\n  tier: null\n  stage: null\n")
        folder.spec("profile: base\n")
        assert folder.said() == [
            "base.yaml:3 FL517 `tags.stage` is null, but the tag stays: it is in `tags` of environments/dev.yaml,"
            " which no spec takes away | give it another value here, or take it out of the environment"
        ]
        folder.spec("profile: base\ntags: {stage: own}\n")
        assert spec(folder).tags == {"stage": "own"}

    def test_a_needed_key_that_is_taken_away_is_missing(self, folder: FleetFolder) -> None:
        folder.environment("overrides: {sentences: {instance: null}}\n")
        assert "FL111 the key `instance` is missing" in folder.said()[0]

    def test_a_mistake_is_told_in_the_profile(self, folder: FleetFolder) -> None:
        folder.write("profiles/gpu.yaml", "tags: {a: b}\ninstance: {count: 0}\n")
        folder.spec("profile: gpu\n")
        assert folder.said()[0].startswith("gpu.yaml:2 FL112 `instance.count` is 0")

    def test_a_path_is_relative_to_the_profile(self, folder: FleetFolder) -> None:
        folder.write("profiles/deep.yaml", "models: [{archive: sentences, repository: ../repository}]\n")
        folder.write(
            "model_specs/a/b/sentences.yaml",
            "endpoint: sentences\nprofile: deep\ntriton: '25.04'\ninstance: {type: ml.g5.xlarge}\n",
        )
        (folder.root / "model_specs/sentences.yaml").unlink()
        folder.lock()
        assert folder.said() == []

    def test_an_unknown_profile_is_told_with_the_chain_that_leads_to_it(self, folder: FleetFolder) -> None:
        folder.write("profiles/base.yaml", "profile: gpus\n")
        folder.write("profiles/gpu.yaml", "profile: base\n")
        folder.spec("profile: gpu\n")
        assert folder.said()[0] == (
            "base.yaml:1 FL504 there is no profile 'gpus', which gpu → base names"
            " | did you mean `gpu`? known: base, gpu"
        )

    def test_the_profile_that_names_an_unknown_one_is_told(self, folder: FleetFolder) -> None:
        folder.write("profiles/cyc.yaml", "profile: nope\n")
        folder.spec("profile: cyc\n")
        assert folder.said()[0].startswith("cyc.yaml:1 FL504 there is no profile 'nope', which cyc names |")

    @pytest.mark.parametrize(
        ("value", "key", "hint"),
        [
            ("GPU", "profile", "did you mean `gpu`? known: gpu, gpu-g4dn"),
            ("Gpu G4dn", "profile", "did you mean `gpu-g4dn`? known: gpu, gpu-g4dn"),
            ("[gpu, GPU]", "profile[1]", "did you mean `gpu`? known: gpu, gpu-g4dn"),
        ],
    )
    def test_a_name_that_no_profile_can_have_is_told_in_words(
        self, folder: FleetFolder, value: str, key: str, hint: str
    ) -> None:
        for name in ("gpu", "gpu-g4dn"):
            folder.write(f"profiles/{name}.yaml", "tags: {}\n")
        folder.spec(f"profile: {value}\n")
        name = value.strip("[]").removeprefix("gpu, ")
        assert folder.said()[0] == (
            f'sentences.yaml:6 FL112 `{key}` is "{name}": the name of a profile has lower-case letters, digits'
            f" and inner hyphens, at most 63 | {hint}"
        )

    def test_what_is_neither_a_name_nor_a_list_is_told(self, folder: FleetFolder) -> None:
        folder.spec("profile: 7\n")
        assert folder.said()[0].startswith(
            "sentences.yaml:6 FL112 `profile` is 7: it must be the name of a profile, or a list of names"
        )

    def test_the_hint_for_an_unknown_key_of_a_profile_lists_no_endpoint(self, folder: FleetFolder) -> None:
        folder.write("profiles/gpu.yaml", "zzz: 1\n")
        folder.spec("profile: gpu\n")
        assert folder.said()[0].startswith("gpu.yaml:1 FL110 unknown key `zzz`")
        assert "overrides, owner, profile" in folder.said()[0]
        assert "endpoint" not in folder.said()[0]

    def test_a_circle_is_told_with_its_chain(self, folder: FleetFolder) -> None:
        folder.write("profiles/one.yaml", "profile: two\n")
        folder.write("profiles/two.yaml", "profile: [one]\n")
        folder.spec("profile: one\n")
        assert folder.said()[0].startswith(
            "two.yaml:1 FL505 a profile leads back to itself: one → two → one |"
        )

    @pytest.mark.parametrize("name", ["../environments/dev", "/etc/passwd", ".hidden", "a/b", ""])
    def test_a_name_that_is_no_file_name_is_refused(self, folder: FleetFolder, name: str) -> None:
        folder.spec(f"profile: '{name}'\n")
        assert "FL112 `profile" in folder.said()[0]

    def test_a_profile_is_no_endpoint(self, folder: FleetFolder) -> None:
        folder.write("profiles/gpu.yaml", "endpoint: gpu\n")
        folder.spec("profile: gpu\n")
        assert folder.said()[0] == "gpu.yaml:1 FL110 a profile has no key `endpoint` | each spec has its own"

    def test_the_defaults_of_an_environment_may_name_a_profile(self, folder: FleetFolder) -> None:
        folder.write("profiles/base.yaml", "tags: {a: base, b: base}\n")
        folder.environment("defaults: {profile: base, tags: {b: defaults}}\n")
        assert spec(folder).tags == {"a": "base", "b": "defaults"}


class TestFolders:
    def move(self, folder: FleetFolder, place: str) -> None:
        (folder.root / "model_specs/sentences.yaml").unlink()
        folder.write(
            f"model_specs/{place}/sentences.yaml",
            SPEC.replace("../repository", "../" * (place.count("/") + 2) + "repository"),
        )

    def test_a_spec_in_a_folder_is_read_and_called_as_its_file(self, folder: FleetFolder) -> None:
        self.move(folder, "search/ranking")
        assert folder.said() == []
        assert folder.resolve().spec.endpoint == "sentences"

    def test_the_files_of_folders_lie_below_the_spec_the_inner_above_the_outer(
        self, folder: FleetFolder
    ) -> None:
        self.move(folder, "search/ranking")
        folder.write("model_specs/_folder.yaml", "tags: {a: all, b: all, c: all}\n")
        folder.write(
            "model_specs/search/_folder.yaml", "owner: {team: search}\ntags: {b: search, c: search}\n"
        )
        folder.write("model_specs/search/ranking/_folder.yaml", "tags: {c: ranking}\n")
        found = spec(folder)
        assert found.tags == {"a": "all", "b": "search", "c": "ranking"}
        assert found.owner is not None
        assert found.owner.team == "search"

    def test_a_name_in_two_folders_is_told(self, folder: FleetFolder) -> None:
        folder.write("model_specs/search/sentences.yaml", SPEC)
        assert (
            folder.said()[0].startswith(
                "sentences.yaml:1 FL123 the endpoint 'sentences' is in model_specs/search/sentences.yaml already"
            )
            or "FL123 the endpoint 'sentences' is in model_specs/sentences.yaml already" in folder.said()[0]
        )

    def test_a_file_of_another_suffix_is_told_in_any_folder(self, folder: FleetFolder) -> None:
        folder.write("model_specs/search/other.yml", SPEC)
        assert "other.yml:None FL105" in folder.said()[0]

    @pytest.mark.parametrize("kind", ["link", "folder"])
    def test_a_folder_file_that_cannot_be_read_is_told(self, folder: FleetFolder, kind: str) -> None:
        file = folder.root / "model_specs/_folder.yaml"
        if kind == "link":
            file.symlink_to("nowhere.yaml")
        else:
            file.mkdir()
        problem = {"link": "the file cannot be read", "folder": "this is not a regular file"}[kind]
        assert f"_folder.yaml:None FL101 {problem}" in folder.said()[0]

    def test_a_folder_that_is_a_link_is_told_and_not_read(self, folder: FleetFolder) -> None:
        outside = folder.root.parent / "outside"
        outside.mkdir()
        (outside / "other.yaml").write_text("a: [")
        (folder.root / "model_specs/team").symlink_to(outside)
        assert folder.said() == [
            "team:None FL105 this folder is a link, so no spec in it is read | move the folder itself to this place"
        ]

    def test_hidden_folders_are_not_read(self, folder: FleetFolder) -> None:
        folder.write("model_specs/.cache/other.yaml", "a: [")
        assert folder.said() == []


class TestOverrides:
    def test_overrides_of_a_spec_hold_in_their_environment_alone(self, folder: FleetFolder) -> None:
        folder.environment(name="prod")
        folder.spec("overrides: {prod: {instance: {count: 4}}}\n")
        assert spec(folder).instance.count == 1
        assert spec(folder, "prod").instance.count == 4

    def test_those_of_the_environment_lie_above_those_of_the_spec(self, folder: FleetFolder) -> None:
        folder.environment("overrides: {sentences: {tags: {b: environment}}}\n")
        folder.spec("tags: {a: spec, b: spec}\noverrides: {dev: {tags: {a: dev, b: dev}}}\n")
        assert spec(folder).tags == {"a": "dev", "b": "environment"}

    def test_a_spec_wins_over_the_overrides_of_its_profile(self, folder: FleetFolder) -> None:
        folder.write(
            "profiles/base.yaml", "tags: {a: base, b: base}\noverrides: {dev: {tags: {a: dev, b: dev}}}\n"
        )
        folder.spec("profile: base\ntags: {b: spec}\n")
        assert spec(folder).tags == {"a": "dev", "b": "spec"}

    def test_overrides_may_name_a_profile(self, folder: FleetFolder) -> None:
        folder.write("profiles/big.yaml", "instance: {type: ml.g5.12xlarge}\n")
        folder.spec("overrides: {dev: {profile: big}}\n")
        assert spec(folder).instance.type == "ml.g5.12xlarge"

    def test_an_unknown_environment_is_told(self, folder: FleetFolder) -> None:
        folder.environment(name="prod")
        folder.spec("overrides: {prd: {}}\n")
        assert folder.said()[0] == (
            "sentences.yaml:6 FL120 `overrides` names an environment that has no file: 'prd'"
            " | did you mean `prod`? known: dev, prod"
        )

    def test_overrides_have_no_overrides(self, folder: FleetFolder) -> None:
        folder.spec("overrides: {dev: {overrides: {dev: {}}}}\n")
        assert "sentences.yaml:6 FL112 `overrides` of an environment cannot have" in folder.said()[0]


def test_each_value_has_the_file_the_line_and_the_layer_that_it_came_from(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags:\n  a: base\n  b: base\n  c: base\n")
    folder.write("model_specs/_folder.yaml", "tags: {d: folder}\n")
    folder.environment("defaults: {tags: {e: defaults}}\noverrides: {sentences: {tags: {f: overrides}}}\n")
    folder.spec("profile: base\ntags:\n  b: spec\noverrides: {dev: {tags: {c: dev}}}\n")
    found = {key: place for key, place in origins(folder).items() if key.startswith("tags")}
    assert found == {
        "tags.a": "profiles/base.yaml:2 profile",
        "tags.b": "model_specs/sentences.yaml:8 spec",
        "tags.c": "model_specs/sentences.yaml:9 overrides",
        "tags.d": "model_specs/_folder.yaml:1 folder",
        "tags.e": "environments/dev.yaml:4 defaults",
        "tags.f": "environments/dev.yaml:5 overrides",
    }


def test_a_profile_without_brackets_has_its_line(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base}\n")
    folder.spec("profile: base\n")
    assert origins(folder)["profile.0"] == "model_specs/sentences.yaml:6 spec"


@pytest.mark.parametrize(
    ("path", "is_value"),
    [
        (("scaling",), True),
        (("alarms", "errors"), True),
        (("rollout", "canary"), True),
        (("cloudformation", "Model", "Path"), True),
        (("container",), False),
        (("container", "thread_count"), True),
        (("tags", "team"), False),
        (("environment", "A"), False),
        (("instance", "type"), False),
        (("instance", "ami"), True),
        (("nothing", "known"), True),
    ],
)
def test_null_stays_at_keys_that_may_be_without_a_value_and_at_unknown_ones(
    path: tuple[str, ...], is_value: bool
) -> None:
    assert takes_null(path) is is_value


@pytest.mark.parametrize(
    "contact", ["search@example.com", "@example/search", "@jane", "https://chat.example.com/search"]
)
def test_an_owner_is_reached_by_email_handle_or_page(folder: FleetFolder, contact: str) -> None:
    folder.spec(f"owner: {{team: search, contact: '{contact}'}}\n")
    owner = spec(folder).owner
    assert owner is not None
    assert owner.reviewer == (None if contact.startswith("https") else contact)


@pytest.mark.parametrize(
    "address",
    [
        "https://hooks.example.com/services/T0/B0/S3CRET",
        "https://team.webhook.example.com/S3CRET",
        "https://chat.example.com/api/webhooks/1/S3CRET",
        "https://chat.googleapis.com/v1/spaces/S3CRET",
        "https://chat.example.com/rooms/S3CRET0a1b2c3d4e5f6g7h8",
    ],
)
@pytest.mark.parametrize("form", ["{{team: search, contact: '{}'}}", "'{}'", "{{team: '{}'}}"])
def test_a_contact_that_holds_a_key_is_refused_and_not_shown(
    folder: FleetFolder, address: str, form: str
) -> None:
    folder.spec(f"owner: {form.format(address)}\n")
    (found,) = folder.findings()
    assert found.confidential
    assert "S3CRET" not in f"{found.message} {found.hint}"
    if "contact" in form:
        assert found.message == (
            f'`owner.contact` is "https://{address.split("/")[2]}/…": a URL contains its key, which does not'
            " belong in a file"
        )


@pytest.mark.parametrize(
    "address",
    [
        "https://chat.example.com/search",
        "https://wiki.example.com/teams/search-and-ranking-on-call-2026",
        "https://wiki.example.com/pages/12345678901234567890",
        "https://wiki.example.com/docs/webhooks.html",
    ],
)
def test_a_page_without_a_key_is_a_contact(folder: FleetFolder, address: str) -> None:
    folder.spec(f"owner: {{team: search, contact: '{address}'}}\n")
    assert folder.said() == []


@pytest.mark.parametrize(
    "contact", ["search", "https://hooks.example.com/x?key=1", "a b@c.de", "@a/b/c", "http://a.b/c"]
)
def test_an_owner_that_nobody_reaches_is_a_mistake(folder: FleetFolder, contact: str) -> None:
    folder.spec(f"owner: {{team: search, contact: '{contact}'}}\n")
    assert "sentences.yaml:6 FL112 `owner.contact`" in folder.said()[0]
