"""`fleet engines plan`, `explain`, `fleet show` and `fleet check` on a fleet with an engine, before anything is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.support.fleet_folder import FleetFolder
from tests.support.onnx_graphs import FLOAT, INT32, graph_bytes
from triton_fleet.cli.commands import app
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.endpoint_parts import resolved_engines
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.explain.decisions import decisions
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.prices import PriceBook
from triton_fleet.store.lock import write_locks

CONFIG = """\
platform: "tensorrt_plan"
max_batch_size: 128
input { name: "token_ids" data_type: TYPE_INT32 dims: [ 128 ] }
input { name: "attn_mask" data_type: TYPE_INT32 dims: [ 128 ] }
output { name: "output" data_type: TYPE_FP32 dims: [ 128, 768 ] }
dynamic_batching { preferred_batch_size: 16 }
"""
SPEC = """\
endpoint: sentences
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - archive: bert
    repository: ../repository
    engines:
      - model: bert
        onnx: ../bert.onnx
        precision: fp16
        workspace: 14000MiB
        shapes: {token_ids: [1x128, 16x128, 128x128], attn_mask: [1x128, 16x128, 128x128]}
"""
COMMAND = (
    "trtexec --onnx=bert.onnx --saveEngine=model.plan --minShapes=attn_mask:1x128,token_ids:1x128"
    " --optShapes=attn_mask:16x128,token_ids:16x128 --maxShapes=attn_mask:128x128,token_ids:128x128 --fp16"
    " --memPoolSize=workspace:14000 --skipInference"
)


@pytest.fixture
def bert(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """BERT with an ONNX model, without a plan and without a version directory, as git keeps it."""
    folder.write("repository/bert/config.pbtxt", CONFIG)
    inputs = {name: (INT32, ["n", 128]) for name in ("token_ids", "attn_mask")}
    (folder.root / "bert.onnx").write_bytes(graph_bytes(inputs, {"output": (FLOAT, ["n", 128, 768])}))
    folder.write("model_specs/sentences.yaml", SPEC)
    monkeypatch.chdir(folder.root)
    return folder


def lock_of(folder: FleetFolder) -> Lock:
    write_locks(open_project(folder.root, "dev"))
    return load_lock(folder.root / "locks/dev/sentences.lock.yaml")


def endpoint_context(folder: FleetFolder) -> EndpointContext:
    project = open_project(folder.root, "dev")
    context, _ = locked_context(project, project.load("sentences"))
    return context


def findings(folder: FleetFolder) -> dict[str, list[str]]:
    """The messages of `fleet check` by code."""
    lines: dict[str, list[str]] = {}
    for finding in folder.check():
        lines.setdefault(finding.code, []).append(finding.message)
    return lines


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["engines", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


class TestPlan:
    def test_without_a_lock_all_is_said_but_the_key(self, bert: FleetFolder) -> None:
        (bert.root / "locks/dev/sentences.lock.yaml").unlink()
        text = run("plan", "--env", "dev")
        assert f"command: {COMMAND}" in text
        assert "key: not locked: run `fleet lock --env dev sentences`" in text
        assert "built by: processing (ml.g5.xlarge)" in text
        assert "# a SageMaker Processing job runs the image on ml.g5.xlarge" in text

    def test_json_has_the_key_of_the_lock_and_the_exact_arguments(self, bert: FleetFolder) -> None:
        engine = lock_of(bert).archives["bert"].engines["bert"]
        [document] = json.loads(run("plan", "--env", "dev", "--format", "json"))
        assert document["key"] == engine.key
        assert document["onnx_digest"] == engine.onnx
        assert document["command"] == COMMAND
        assert document["command"].endswith(" ".join(document["arguments"]))
        assert (document["gpu"], document["image"]) == ("A10G", "sagemaker-tritonserver:25.04-py3")

    def test_an_environment_without_engines_says_so(self, bert: FleetFolder) -> None:
        bert.spec()
        assert run("plan", "--env", "dev") == "dev: no engines in sentences\n"

    def test_engines_that_nothing_builds_are_not_said_to_be_none(self, bert: FleetFolder) -> None:
        bert.spec(base=SPEC.replace("ml.g5.xlarge", "ml.c5.xlarge"))
        assert run("plan", "--env", "dev") == (
            "dev: the engines of sentences cannot be built: run `fleet check --env dev` to see why\n"
        )

    def test_a_model_is_told_with_an_archive_of_another_name(self, bert: FleetFolder) -> None:
        bert.spec(base=SPEC.replace("archive: bert", "archive: large"))
        assert run("plan", "--env", "dev").startswith("sentences / bert in large\n")


class TestExplain:
    def test_each_argument_has_its_reason_and_its_price(self, bert: FleetFolder) -> None:
        lock_of(bert)
        text = run("explain", "sentences", "bert", "--env", "dev")
        assert "# `precision: fp16`: layers may compute in fp16 where that is faster; rounded to" in text
        assert "samples/common/sampleOptions.cpp" in text
        assert "the GPU: A10G, compute capability 8.6" in text

    def test_an_unknown_model_is_answered_with_the_nearest(self, bert: FleetFolder) -> None:
        with pytest.raises(FindingsError, match=r"FL398.*'brt'[^`]*\n.*did you mean `bert`"):
            run("explain", "sentences", "brt", "--env", "dev")


class TestShow:
    def test_sizes_are_written_in_the_unit_that_fits(self, bert: FleetFolder) -> None:
        written_workspaces = [
            endpoint_context(bert).spec.model_dump(mode="json")["models"][0]["engines"][0]["workspace"]
        ]
        bert.spec(base=SPEC.replace("14000MiB", "8192MiB"))
        written_workspaces += [
            endpoint_context(bert).spec.model_dump(mode="json")["models"][0]["engines"][0]["workspace"]
        ]
        assert written_workspaces == ["14000MiB", "8GiB"]

    def test_what_is_decided_of_an_engine_has_its_reasons(self, bert: FleetFolder) -> None:
        lock, context = lock_of(bert), endpoint_context(bert)
        shown_decisions = {
            decision.what: decision
            for decision in decisions(context, Deployment.of(context.environment), PriceBook())
            if decision.group == "engines"
        }
        assert shown_decisions["engine of bert"].value == lock.archives["bert"].engines["bert"].key
        assert shown_decisions["built for bert by"].value == "processing on ml.g5.xlarge"
        assert shown_decisions["command for bert"].value == COMMAND
        assert not shown_decisions["command for bert"].certain  # no source says TensorRT's version in 25.04


class TestLock:
    def test_the_resolved_engine_is_the_one_of_the_lock(self, bert: FleetFolder) -> None:
        engine = lock_of(bert).archives["bert"].engines["bert"]
        [resolved_engine] = resolved_engines(endpoint_context(bert))
        assert (resolved_engine.build.key, resolved_engine.build.onnx, resolved_engine.size) == (
            engine.key,
            engine.onnx,
            engine.size,
        )
        assert (resolved_engine.model, resolved_engine.index, resolved_engine.onnx) == (
            "bert",
            0,
            "../bert.onnx",
        )
        assert resolved_engine.mark.line == 8

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("fp16", "fp32"),
            ("g5.xlarge", "g6.xlarge"),
            ('"25.04"', '"24.09"'),
            ("models:", f"image_digest: sha256:{0:064}\nmodels:"),
        ],
    )
    def test_a_spec_that_leads_to_another_engine_wants_another_lock(
        self, bert: FleetFolder, old: str, new: str
    ) -> None:
        lock_of(bert)
        assert "FL391" not in findings(bert)
        bert.write("model_specs/sentences.yaml", SPEC.replace(old, new))
        [message] = findings(bert)["FL391"]
        assert message.startswith("the lock has another engine of model 'bert' than")

    def test_all_copies_of_a_repository_share_one_engine(self, bert: FleetFolder) -> None:
        copies = SPEC.replace("archive: bert", "archive: bert\n    copies: 3")
        bert.write("model_specs/sentences.yaml", copies + "mode: multi-model\n")
        archives = lock_of(bert).archives
        [engine] = resolved_engines(endpoint_context(bert))
        keys = {engine.key for archive in archives.values() for engine in archive.engines.values()}
        assert len(archives) == 3 and keys == {engine.build.key}
        assert "FL391" not in findings(bert)

    def test_at_deploy_it_is_an_error(self, bert: FleetFolder) -> None:
        lock_of(bert)
        bert.write("model_specs/sentences.yaml", SPEC.replace("fp16", "fp32"))
        severities = {finding.code: finding.severity for finding in bert.findings()}
        assert severities["FL391"] is Severity.ERROR

    def test_a_promoted_lock_says_where_it_comes_from(self, bert: FleetFolder) -> None:
        lock = lock_of(bert).model_dump(mode="json", exclude_defaults=True)
        bert.write("locks/dev/sentences.lock.yaml", yaml.safe_dump({**lock, "promoted_from": "staging"}))
        bert.write("model_specs/sentences.yaml", SPEC.replace("g5.xlarge", "g6.xlarge"))
        [message] = findings(bert)["FL391"]
        assert message == (
            "the lock, promoted from staging, has another engine of model 'bert' than the spec needs on L4"
            " with sagemaker-tritonserver:25.04-py3"
        )

    def test_a_draft_has_no_keys_to_compare(self, bert: FleetFolder) -> None:
        (bert.root / "locks/dev/sentences.lock.yaml").unlink()
        assert set(findings(bert)) == {"FL301"}


class TestCheck:
    def test_an_engine_stands_in_for_the_plan_and_its_version_directory(self, bert: FleetFolder) -> None:
        lock_of(bert)
        assert findings(bert) == {}

    def test_a_wrong_input_name_is_said_at_its_line(self, bert: FleetFolder) -> None:
        bert.write("model_specs/sentences.yaml", SPEC.replace("{token_ids:", "{tokens:"))
        findings = [finding for finding in bert.check() if finding.code == "FL395"]
        assert [(finding.line, finding.message, finding.hint) for finding in findings] == [
            (
                12,
                "input 'token_ids' of the ONNX model of 'bert' has variable dimensions [-1, 128], but no `shapes`",
                "write `token_ids: [SMALLEST, USUAL, LARGEST]`; trtexec would use 1 for each variable dimension",
            ),
            (12, "the ONNX model of 'bert' has no input 'tokens'", "did you mean `token_ids`?"),
        ]

    def test_a_plan_that_lies_there_already_is_refused(self, bert: FleetFolder) -> None:
        bert.write("repository/bert/1/model.plan", "")
        assert findings(bert)["FL372"] == [
            "'bert/1/model.plan' exists already, and the spec has an engine to build for it"
        ]

    def test_an_onnx_model_that_is_not_there_is_said_once(self, bert: FleetFolder) -> None:
        (bert.root / "bert.onnx").unlink()
        [message] = findings(bert)["FL370"]
        assert message.endswith("bert.onnx does not exist")

    def test_engines_of_a_repository_in_s3_are_refused(self, bert: FleetFolder) -> None:
        digest = f"sha256:{1:064}"
        bert.write(
            "model_specs/sentences.yaml",
            SPEC.replace("../repository", f"s3://models/bert.tar.gz\n    digest: {digest}"),
        )
        assert findings(bert)["FL393"] == [
            "'bert' is at s3://models/bert.tar.gz: no engine can be added to it"
        ]


class TestEnvironment:
    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ("own_images: maybe", "own_images"),
            ("timeout: 1m", "timeout"),
            ("at_once: 0", "at_once"),
        ],
    )
    def test_what_cannot_build_is_refused_at_its_line(
        self, bert: FleetFolder, keys: str, message: str
    ) -> None:
        bert.environment(f"engine_builds: {{{keys}}}\n")
        [finding] = bert.findings()
        assert finding.file == Path(bert.root / "environments/dev.yaml") and finding.line == 4
        assert message in finding.message


class TestShapes:
    @pytest.mark.parametrize(
        ("written_text", "messages"),
        [("[1,128]", ["1", "128"]), ("[1*128, 1x128, 2x128]", ['"1*128"']), ("[[1, 128]]", ["a list"])],
    )
    def test_one_that_is_none_is_told_how_to_write_it_and_not_to_be_missing(
        self, bert: FleetFolder, written_text: str, messages: list[str]
    ) -> None:
        bert.spec(base=SPEC.replace("[1x128, 16x128, 128x128]", written_text, 1))
        with pytest.raises(FindingsError) as refusal:
            endpoint_context(bert)
        assert [finding.message for finding in refusal.value.findings] == [
            f"`models[0].engines[0].shapes.token_ids[{number}]` is {value}:"
            " write the dimensions with `x` between them, each 1 or more: `16x3x224x224`"
            for number, value in enumerate(messages)
        ]

    def test_too_few_are_counted(self, bert: FleetFolder) -> None:
        bert.spec(base=SPEC.replace("[1x128, 16x128, 128x128]", "[1x128, 16x128]", 1))
        with pytest.raises(FindingsError, match="must have at least 3 items, and has 2"):
            endpoint_context(bert)
