"""`fleet check`: endpoints, drafts, what a spec allows itself, and what is said of a whole environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import ALLOWED, SPEC, FleetFolder
from tests.support.onnx_graphs import FLOAT, graph_bytes
from triton_fleet.check.run import all_findings
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import Fleet, open_project
from triton_fleet.selection.selector import Selector
from triton_fleet.store.lock import write_locks

WITHOUT_DRIVER = SPEC.replace("ml.g5.xlarge", "ml.g7e.2xlarge")


def found(folder: FleetFolder, environment: str = "dev") -> dict[str, Finding]:
    """The findings by code."""
    return {each.code: each for each in all_findings(open_project(folder.root, environment))}


@pytest.fixture
def locked(folder: FleetFolder) -> FleetFolder:
    folder.lock()
    return folder


class TestAllow:
    @pytest.mark.parametrize("rule", ["missing-driver", "FL204"])
    def test_a_rule_is_silenced_by_its_name_or_its_code_and_a_reason(
        self, locked: FleetFolder, rule: str
    ) -> None:
        locked.spec(f'allow: {{{rule}: "tried with a host image of our own"}}\n', base=WITHOUT_DRIVER)
        assert found(locked) == {}

    def test_a_rule_may_be_allowed_by_the_environment_by_its_code_and_by_the_spec_by_its_name(
        self, locked: FleetFolder
    ) -> None:
        locked.environment('defaults:\n  allow: {FL204: "tried on 3 May"}\n')
        locked.spec('allow: {missing-driver: "tried on 4 May"}\n', base=WITHOUT_DRIVER)
        assert found(locked) == {}

    @pytest.mark.parametrize("rule", ["missing-driver", "FL204"])
    def test_an_endpoint_with_a_silenced_error_can_be_deployed(self, locked: FleetFolder, rule: str) -> None:
        locked.spec(f'allow: {{{rule}: "tried with a host image of our own"}}\n', base=WITHOUT_DRIVER)
        assert locked.resolve().ami is None

    def test_a_host_image_that_the_catalog_does_not_know_yet_is_deployed_as_it_is_named(
        self, locked: FleetFolder
    ) -> None:
        newer = "al2023-ami-sagemaker-inference-gpu-9-9"
        locked.spec(
            'allow: {FL223: "announced today"}\n', base=SPEC.replace("g5.xlarge", f"g5.xlarge, ami: {newer}")
        )
        assert locked.resolve().ami == newer

    def test_one_that_silences_nothing_is_a_warning_at_its_line(self, locked: FleetFolder) -> None:
        locked.spec('allow:\n  missing-driver: "tried on 3 May"\n')
        unused = found(locked)["FL130"]
        assert (unused.severity, unused.line) == (Severity.WARNING, 7)
        assert unused.message == "`allow` names missing-driver, which finds nothing here"

    def test_one_of_the_environments_defaults_may_silence_nothing_here(self, locked: FleetFolder) -> None:
        locked.environment('defaults:\n  allow: {FL204: "tried on 3 May"}\n')
        assert found(locked) == {}

    @pytest.mark.parametrize(
        ("word", "nearest"),
        [("missing-drivers", "missing-driver"), ("missing-weight", "missing-weights"), ("FL999", "FL979")],
    )
    def test_what_is_no_rule_is_refused_with_the_nearest_one(
        self, locked: FleetFolder, word: str, nearest: str
    ) -> None:
        locked.spec(f'allow: {{{word}: "tried on 3 May"}}\n')
        refused = found(locked)["FL131"]
        assert refused.severity is Severity.ERROR
        assert refused.message == f"`allow` names {word}, which is not a rule"
        assert f"did you mean `{nearest}`?" in refused.hint

    @pytest.mark.parametrize("rule", ["release-without-image", "FL201"])
    def test_what_nothing_can_be_decided_without_cannot_be_allowed(
        self, locked: FleetFolder, rule: str
    ) -> None:
        locked.spec(f'allow: {{{rule}: "a hope"}}\n', base=SPEC.replace("25.04", "24.10"))
        assert set(found(locked)) >= {"FL131", "FL201"}
        assert found(locked)["FL131"].message.startswith(f"{rule} cannot be allowed")

    @pytest.mark.parametrize("reason", ['""', '"  "', "3"])
    def test_a_reason_is_written_out(self, locked: FleetFolder, reason: str) -> None:
        locked.spec(f"allow: {{FL204: {reason}}}\n")
        assert set(found(locked)) == {"FL112"}


class TestLocks:
    def test_a_spec_without_a_lock_is_judged_by_its_repository(self, folder: FleetFolder) -> None:
        folder.write("repository/embed/config.pbtxt", 'backend: "python"\ninstance_group [{gpus: [3]}]\n')
        folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        codes = found(folder)
        assert set(codes) == {"FL301", "FL252"}
        assert codes["FL301"].severity is Severity.WARNING, "the environment has no lock at all yet"
        folder.write("locks/dev/another.lock.yaml", "endpoint: another\narchives: {}\n")
        assert found(folder)["FL301"].severity is Severity.ERROR

    def test_of_a_spec_without_a_lock_no_weights_are_read(self, folder: FleetFolder) -> None:
        folder.write("repository/embed/config.pbtxt", 'backend: "onnxruntime"\n')
        weights = folder.write("repository/embed/1/model.onnx", "")
        with weights.open("wb") as sparse:
            sparse.truncate((1 << 40) - (1 << 20))
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        assert set(found(folder)) == {"FL301", "FL251", "FL262", "FL445"}

    def test_locks_can_be_taken_as_they_are(self, locked: FleetFolder) -> None:
        locked.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
        project = open_project(locked.root, "dev")
        assert [each.code for each in all_findings(project)] == ["FL306"]
        assert all_findings(project, trusts_locks=True) == []

    def test_a_missing_lock_stops_a_deploy(self, folder: FleetFolder) -> None:
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        assert [(each.code, each.severity) for each in folder.findings()] == [("FL301", Severity.ERROR)]

    def test_copies_are_judged_alike_before_and_after_they_are_locked(self, folder: FleetFolder) -> None:
        folder.write("repository/m/config.pbtxt", 'backend: "tensorrt"\nmax_batch_size: 8\n')
        folder.write("repository/m/1/README.md", "")
        folder.write("other/m/config.pbtxt", 'backend: "python"\n')
        folder.write("other/m/1/model.py", "class TritonPythonModel: x = 1\n")
        tensors = {"x": (FLOAT, ["n", 4])}
        (folder.root / "model_specs/m.onnx").write_bytes(graph_bytes(tensors, {"y": (FLOAT, ["n", 4])}))
        folder.spec(
            """\
            mode: multi-model
            models:
              - archive: a
                repository: ../repository
                copies: 2
                engines: [{model: m, onnx: m.onnx, shapes: {x: [1x4, 2x4, 4x4]}}]
              - {archive: b, repository: ../other}
            """,
            base=SPEC[: SPEC.index("models:")],
        )
        (folder.root / "model_specs/m.onnx").write_bytes(graph_bytes({"x": (FLOAT, ["n", 4])}, {}))
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        drafted = found(folder)
        write_locks(open_project(folder.root, "dev"))
        locked = found(folder)
        assert set(drafted) == {"FL301", "FL293"}
        assert set(locked) == {"FL293"}
        assert locked["FL293"] == drafted["FL293"]
        assert "max_batch_size 8" in locked["FL293"].message


class TestOdds:
    def test_a_host_image_that_does_not_exist_is_refused_without_a_gpu_too(self, locked: FleetFolder) -> None:
        locked.spec(base=SPEC.replace("g5.xlarge", "c5.xlarge, ami: no-such-thing"))
        assert "FL223" in found(locked)

    def test_no_message_repeats_a_secret(self, locked: FleetFolder) -> None:
        secret = f"hf_{'a' * 30}"
        locked.spec(
            f"environment: {{SAGEMAKER_TRITON_LOG_INFO: {secret}, SAGEMAKER_TRITON_X_API_KEY: '{secret} b'}}\n"
        )
        findings = all_findings(open_project(locked.root, "dev"))
        assert {"FL235", "FL236", "FL237", "FL242"} <= {each.code for each in findings}
        assert not [each for each in findings if secret in f"{each.message} {each.hint}"]

    def test_null_takes_a_default_of_the_environment_back(self, locked: FleetFolder) -> None:
        locked.environment("defaults:\n  container: {inference_type: generate}\n")
        base = SPEC.replace("25.04", "24.09")
        locked.spec(base=base)
        assert set(found(locked)) == {"FL238"}
        locked.spec("container: {inference_type: null}\n", base=base)
        assert found(locked) == {}

    @pytest.mark.parametrize("key", ["9" * 5000, ".".join("a" * 20_000)])
    def test_a_raw_path_without_end_is_one_mistake(self, locked: FleetFolder, key: str) -> None:
        below = "".join(f"        k{number}: 1\n" for number in range(5000))
        locked.spec(
            f"cloudformation:\n  EndpointConfig:\n    ? ProductionVariants.0.{key}\n    :\n{below}", base=SPEC
        )
        assert set(found(locked)) == {"FL268"}


class TestEnvironments:
    def test_two_environments_of_one_account_and_region_cannot_have_one_endpoint(
        self, locked: FleetFolder
    ) -> None:
        locked.environment(name="staging")
        assert found(locked) == {}
        locked.lock("staging")
        clash = found(locked)["FL124"]
        assert "'dev' and 'staging'" in clash.message
        assert (clash.file, clash.line) == (locked.root / "environments/dev.yaml", 2)

    def test_two_environments_cannot_have_one_artifact_bucket(self, locked: FleetFolder) -> None:
        locked.environment("artifact_bucket: our-models\n")
        locked.environment("artifact_bucket: their-models\n", name="staging")
        assert found(locked) == {}
        locked.environment("artifact_bucket: our-models\n", name="staging")
        shared = found(locked)["FL502"]
        assert shared.message == "'staging' uses the artifact bucket 'our-models' too"
        assert (shared.file, shared.line) == (locked.root / "environments/dev.yaml", 4)

    def test_names_that_differ_by_case_alone_are_one_name(self, locked: FleetFolder) -> None:
        locked.spec(name="Sentences", base=SPEC.replace("endpoint: s", "endpoint: S"))
        assert "FL123" in found(locked)

    def test_one_in_another_folder_is_named_with_its_folder(self, locked: FleetFolder) -> None:
        locked.write(
            "model_specs/search/Sentences.yaml",
            SPEC.replace("endpoint: s", "endpoint: S").replace("../repository", "../../repository"),
        )
        assert "is in model_specs/search/Sentences.yaml already" in found(locked)["FL123"].message

    def test_a_resource_takes_no_more_than_50_tags(self, locked: FleetFolder) -> None:
        locked.environment("tags: {" + ", ".join(f"t{number}: x" for number in range(49)) + "}\n")
        assert found(locked)["FL125"].line == 4


class TestPaths:
    def test_a_spec_that_lies_elsewhere_is_checked_as_if_it_were_one_of_them(
        self, locked: FleetFolder, tmp_path: Path
    ) -> None:
        draft = tmp_path / "any-name.yaml"
        text = WITHOUT_DRIVER.replace("../repository", str(locked.root / "repository"))
        draft.write_text(text + ALLOWED)
        (only,) = all_findings(open_project(locked.root, "dev"), [draft])
        assert (only.code, only.file, only.line) == ("FL204", draft, 3)

    def test_the_environment_may_have_overrides_for_it(
        self, locked: FleetFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        locked.environment("overrides: {bert: {instance: {count: 3}}}\n")
        draft = tmp_path / "bert.yaml"
        draft.write_text(SPEC.replace("endpoint: sentences", "endpoint: bert"))
        monkeypatch.chdir(tmp_path)
        names = Selector(Fleet(locked.root), "dev", drafts=True).select(["bert.yaml"]).draft_names()
        assert names == ["bert"]
        assert Fleet(locked.root).open("dev", (), names).findings == ()
        assert [each.code for each in open_project(locked.root, "dev").findings] == ["FL120"]

    def test_an_endpoint_in_two_of_the_files_is_told_at_the_second(
        self, locked: FleetFolder, tmp_path: Path
    ) -> None:
        drafts = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
        for draft in drafts:
            draft.write_text(SPEC.replace("../repository", str(locked.root / "repository")) + ALLOWED)
        (only,) = all_findings(open_project(locked.root, "dev"), drafts)
        assert (only.code, only.file) == ("FL123", drafts[1])


def test_every_finding_has_a_file_and_a_line(folder: FleetFolder) -> None:
    folder.lock()
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    (stale,) = found(folder).values()
    assert (stale.code, stale.line) == ("FL306", 1)


def test_a_lock_without_an_endpoint_is_a_warning_where_all_are_checked(folder: FleetFolder) -> None:
    folder.write("locks/dev/gone.lock.yaml", "endpoint: gone\narchives: {}\n")
    (orphan,) = [each for each in all_findings(open_project(folder.root, "dev")) if each.code == "FL842"]
    assert (orphan.severity, orphan.file and orphan.file.name) == (Severity.WARNING, "gone.lock.yaml")
    assert "fleet destroy gone --env dev" in orphan.hint
    folder.spec(name="other", base=SPEC.replace("sentences", "other"))
    assert "FL842" not in {
        each.code for each in all_findings(open_project(folder.root, "dev", ["sentences"]))
    }
