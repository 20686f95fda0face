"""`fleet check`: endpoints, drafts, what a spec allows itself, and what is said of a whole environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import ALLOWED_FINDINGS, SPEC, FleetFolder
from tests.support.onnx_graphs import FLOAT, graph_bytes
from triton_fleet.check.run import all_findings
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import Fleet, open_project
from triton_fleet.selection.selector import Selector
from triton_fleet.store.lock import write_locks

WITHOUT_DRIVER = SPEC.replace("ml.g5.xlarge", "ml.g7e.2xlarge")


def findings_by_code(folder: FleetFolder, environment: str = "dev") -> dict[str, Finding]:
    """The findings by code."""
    return {finding.code: finding for finding in folder.check(environment)}


@pytest.fixture
def locked_fleet(folder: FleetFolder) -> FleetFolder:
    folder.lock()
    return folder


class TestAllow:
    @pytest.mark.parametrize("rule", ["missing-driver", "FL204"])
    def test_a_rule_is_silenced_by_its_name_or_its_code_and_a_reason(
        self, locked_fleet: FleetFolder, rule: str
    ) -> None:
        locked_fleet.spec(f'allow: {{{rule}: "tried with a host image of our own"}}\n', base=WITHOUT_DRIVER)
        assert findings_by_code(locked_fleet) == {}

    def test_a_rule_may_be_allowed_by_the_environment_by_its_code_and_by_the_spec_by_its_name(
        self, locked_fleet: FleetFolder
    ) -> None:
        locked_fleet.environment('defaults:\n  allow: {FL204: "tried on 3 May"}\n')
        locked_fleet.spec('allow: {missing-driver: "tried on 4 May"}\n', base=WITHOUT_DRIVER)
        assert findings_by_code(locked_fleet) == {}

    @pytest.mark.parametrize("rule", ["missing-driver", "FL204"])
    def test_an_endpoint_with_a_silenced_error_can_be_deployed(
        self, locked_fleet: FleetFolder, rule: str
    ) -> None:
        locked_fleet.spec(f'allow: {{{rule}: "tried with a host image of our own"}}\n', base=WITHOUT_DRIVER)
        assert locked_fleet.resolve().ami is None

    def test_a_host_image_that_the_catalog_does_not_know_yet_is_deployed_as_it_is_named(
        self, locked_fleet: FleetFolder
    ) -> None:
        newer = "al2023-ami-sagemaker-inference-gpu-9-9"
        locked_fleet.spec(
            'allow: {FL223: "announced today"}\n', base=SPEC.replace("g5.xlarge", f"g5.xlarge, ami: {newer}")
        )
        assert locked_fleet.resolve().ami == newer

    def test_one_that_silences_nothing_is_a_warning_at_its_line(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.spec('allow:\n  missing-driver: "tried on 3 May"\n')
        finding = findings_by_code(locked_fleet)["FL130"]
        assert (finding.severity, finding.line) == (Severity.WARNING, 7)
        assert finding.message == "`allow` names missing-driver, which finds nothing here"

    def test_one_of_the_environments_defaults_may_silence_nothing_here(
        self, locked_fleet: FleetFolder
    ) -> None:
        locked_fleet.environment('defaults:\n  allow: {FL204: "tried on 3 May"}\n')
        assert findings_by_code(locked_fleet) == {}

    @pytest.mark.parametrize(
        ("word", "nearest"),
        [("missing-drivers", "missing-driver"), ("missing-weight", "missing-weights"), ("FL999", "FL979")],
    )
    def test_what_is_no_rule_is_refused_with_the_nearest_one(
        self, locked_fleet: FleetFolder, word: str, nearest: str
    ) -> None:
        locked_fleet.spec(f'allow: {{{word}: "tried on 3 May"}}\n')
        refused_finding = findings_by_code(locked_fleet)["FL131"]
        assert refused_finding.severity is Severity.ERROR
        assert refused_finding.message == f"`allow` names {word}, which is not a rule"
        assert f"did you mean `{nearest}`?" in refused_finding.hint

    @pytest.mark.parametrize("rule", ["release-without-image", "FL201"])
    def test_what_nothing_can_be_decided_without_cannot_be_allowed(
        self, locked_fleet: FleetFolder, rule: str
    ) -> None:
        locked_fleet.spec(f'allow: {{{rule}: "a hope"}}\n', base=SPEC.replace("25.04", "24.10"))
        assert set(findings_by_code(locked_fleet)) >= {"FL131", "FL201"}
        assert findings_by_code(locked_fleet)["FL131"].message.startswith(f"{rule} cannot be allowed")

    @pytest.mark.parametrize("reason", ['""', '"  "', "3"])
    def test_a_reason_is_written_out(self, locked_fleet: FleetFolder, reason: str) -> None:
        locked_fleet.spec(f"allow: {{FL204: {reason}}}\n")
        assert set(findings_by_code(locked_fleet)) == {"FL112"}


class TestLocks:
    def test_a_spec_without_a_lock_is_judged_by_its_repository(self, folder: FleetFolder) -> None:
        folder.write("repository/embed/config.pbtxt", 'backend: "python"\ninstance_group [{gpus: [3]}]\n')
        folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        codes = findings_by_code(folder)
        assert set(codes) == {"FL301", "FL252"}
        assert codes["FL301"].severity is Severity.WARNING, "the environment has no lock at all yet"
        folder.write("locks/dev/another.lock.yaml", "endpoint: another\narchives: {}\n")
        assert findings_by_code(folder)["FL301"].severity is Severity.ERROR

    def test_of_a_spec_without_a_lock_no_weights_are_read(self, folder: FleetFolder) -> None:
        folder.write("repository/embed/config.pbtxt", 'backend: "onnxruntime"\n')
        weights = folder.write("repository/embed/1/model.onnx", "")
        with weights.open("wb") as sparse:
            sparse.truncate((1 << 40) - (1 << 20))
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        assert set(findings_by_code(folder)) == {"FL301", "FL251", "FL262", "FL445"}

    def test_locks_can_be_taken_as_they_are(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
        project = open_project(locked_fleet.root, "dev")
        assert [finding.code for finding in all_findings(project)] == ["FL306"]
        assert all_findings(project, trusts_locks=True) == []

    def test_a_missing_lock_stops_a_deploy(self, folder: FleetFolder) -> None:
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        assert [(finding.code, finding.severity) for finding in folder.findings()] == [
            ("FL301", Severity.ERROR)
        ]

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
        findings = findings_by_code(folder)
        write_locks(open_project(folder.root, "dev"))
        locked_findings = findings_by_code(folder)
        assert set(findings) == {"FL301", "FL293"}
        assert set(locked_findings) == {"FL293"}
        assert locked_findings["FL293"] == findings["FL293"]
        assert "max_batch_size 8" in locked_findings["FL293"].message


class TestOdds:
    def test_a_host_image_that_does_not_exist_is_refused_without_a_gpu_too(
        self, locked_fleet: FleetFolder
    ) -> None:
        locked_fleet.spec(base=SPEC.replace("g5.xlarge", "c5.xlarge, ami: no-such-thing"))
        assert "FL223" in findings_by_code(locked_fleet)

    def test_no_message_repeats_a_secret(self, locked_fleet: FleetFolder) -> None:
        secret = f"hf_{'a' * 30}"
        locked_fleet.spec(
            f"environment: {{SAGEMAKER_TRITON_LOG_INFO: {secret}, SAGEMAKER_TRITON_X_API_KEY: '{secret} b'}}\n"
        )
        findings = locked_fleet.check()
        assert {"FL235", "FL236", "FL237", "FL242"} <= {finding.code for finding in findings}
        assert not [finding for finding in findings if secret in f"{finding.message} {finding.hint}"]

    def test_null_takes_a_default_of_the_environment_back(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.environment("defaults:\n  container: {inference_type: generate}\n")
        base = SPEC.replace("25.04", "24.09")
        locked_fleet.spec(base=base)
        assert set(findings_by_code(locked_fleet)) == {"FL238"}
        locked_fleet.spec("container: {inference_type: null}\n", base=base)
        assert findings_by_code(locked_fleet) == {}

    @pytest.mark.parametrize("key", ["9" * 5000, ".".join("a" * 20_000)])
    def test_a_raw_path_without_end_is_one_mistake(self, locked_fleet: FleetFolder, key: str) -> None:
        below = "".join(f"        k{number}: 1\n" for number in range(5000))
        locked_fleet.spec(
            f"cloudformation:\n  EndpointConfig:\n    ? ProductionVariants.0.{key}\n    :\n{below}", base=SPEC
        )
        assert set(findings_by_code(locked_fleet)) == {"FL268"}


class TestEnvironments:
    def test_two_environments_of_one_account_and_region_cannot_have_one_endpoint(
        self, locked_fleet: FleetFolder
    ) -> None:
        locked_fleet.environment(name="staging")
        assert findings_by_code(locked_fleet) == {}
        locked_fleet.lock("staging")
        clash = findings_by_code(locked_fleet)["FL124"]
        assert "'dev' and 'staging'" in clash.message
        assert (clash.file, clash.line) == (locked_fleet.root / "environments/dev.yaml", 2)

    def test_two_environments_cannot_have_one_artifact_bucket(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.environment("artifact_bucket: our-models\n")
        locked_fleet.environment("artifact_bucket: their-models\n", name="staging")
        assert findings_by_code(locked_fleet) == {}
        locked_fleet.environment("artifact_bucket: our-models\n", name="staging")
        shared_finding = findings_by_code(locked_fleet)["FL502"]
        assert shared_finding.message == "'staging' uses the artifact bucket 'our-models' too"
        assert (shared_finding.file, shared_finding.line) == (locked_fleet.root / "environments/dev.yaml", 4)

    def test_names_that_differ_by_case_alone_are_one_name(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.spec(name="Sentences", base=SPEC.replace("endpoint: s", "endpoint: S"))
        assert "FL123" in findings_by_code(locked_fleet)

    def test_one_in_another_folder_is_named_with_its_folder(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.write(
            "model_specs/search/Sentences.yaml",
            SPEC.replace("endpoint: s", "endpoint: S").replace("../repository", "../../repository"),
        )
        assert (
            "is in model_specs/search/Sentences.yaml already"
            in findings_by_code(locked_fleet)["FL123"].message
        )

    def test_a_resource_takes_no_more_than_50_tags(self, locked_fleet: FleetFolder) -> None:
        locked_fleet.environment("tags: {" + ", ".join(f"t{number}: x" for number in range(49)) + "}\n")
        assert findings_by_code(locked_fleet)["FL125"].line == 4


class TestPaths:
    def test_a_spec_that_lies_elsewhere_is_checked_as_if_it_were_one_of_them(
        self, locked_fleet: FleetFolder, tmp_path: Path
    ) -> None:
        draft = tmp_path / "any-name.yaml"
        text = WITHOUT_DRIVER.replace("../repository", str(locked_fleet.root / "repository"))
        draft.write_text(text + ALLOWED_FINDINGS)
        (finding,) = all_findings(open_project(locked_fleet.root, "dev"), [draft])
        assert (finding.code, finding.file, finding.line) == ("FL204", draft, 3)

    def test_the_environment_may_have_overrides_for_it(
        self, locked_fleet: FleetFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        locked_fleet.environment("overrides: {bert: {instance: {count: 3}}}\n")
        draft = tmp_path / "bert.yaml"
        draft.write_text(SPEC.replace("endpoint: sentences", "endpoint: bert"))
        monkeypatch.chdir(tmp_path)
        names = Selector(Fleet(locked_fleet.root), "dev", drafts=True).select(["bert.yaml"]).draft_names()
        assert names == ["bert"]
        assert Fleet(locked_fleet.root).open("dev", (), names).findings == ()
        assert [finding.code for finding in open_project(locked_fleet.root, "dev").findings] == ["FL120"]

    def test_an_endpoint_in_two_of_the_files_is_told_at_the_second(
        self, locked_fleet: FleetFolder, tmp_path: Path
    ) -> None:
        drafts = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
        for draft in drafts:
            draft.write_text(
                SPEC.replace("../repository", str(locked_fleet.root / "repository")) + ALLOWED_FINDINGS
            )
        (finding,) = all_findings(open_project(locked_fleet.root, "dev"), drafts)
        assert (finding.code, finding.file) == ("FL123", drafts[1])


def test_every_finding_has_a_file_and_a_line(folder: FleetFolder) -> None:
    folder.lock()
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    (stale,) = findings_by_code(folder).values()
    assert (stale.code, stale.line) == ("FL306", 1)


def test_a_lock_without_an_endpoint_is_a_warning_where_all_are_checked(folder: FleetFolder) -> None:
    folder.write("locks/dev/gone.lock.yaml", "endpoint: gone\narchives: {}\n")
    (orphan,) = [finding for finding in folder.check() if finding.code == "FL842"]
    assert (orphan.severity, orphan.file and orphan.file.name) == (Severity.WARNING, "gone.lock.yaml")
    assert "fleet destroy gone --env dev" in orphan.hint
    folder.spec(name="other", base=SPEC.replace("sentences", "other"))
    assert "FL842" not in {finding.code for finding in folder.check("dev", "sentences")}
