"""`fleet show`: each decision with its reason, also about what cannot be deployed as it is."""

from __future__ import annotations

import json
from itertools import groupby

import pytest
import typer
from typer.testing import CliRunner

from tests.support.fleet_folder import LOCK, ROOT, SPEC, FleetFolder
from tests.support.spec_decisions import decide_spec, decisions_by_key
from triton_fleet.catalog.data_file import data_file
from triton_fleet.cli.show.command import show
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.fleet_files import environment_names
from triton_fleet.project.project import open_project
from triton_fleet.project.spec_files import spec_files
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import LOCAL

APP = typer.Typer()
APP.command()(show)
SHIPPED_SPECS = [
    (name, env) for name in spec_files(ROOT).by_endpoint for env in environment_names(ROOT) if env != LOCAL
]
MULTI = SPEC.replace("triton:", "mode: multi-model\ntriton:")
LIVE = MULTI.replace("triton:", "archive_set: live\ntriton:").replace(
    "../repository", "../repository, version: 2"
)


@pytest.mark.parametrize(("name", "env"), SHIPPED_SPECS)
def test_what_is_shown_is_what_is_deployed(name: str, env: str) -> None:
    endpoint = resolve_project(open_project(ROOT, env, [name])).endpoints[0]
    decisions = decide_spec(FleetFolder(ROOT), name, env)
    values = {decision.what: decision.value for decision in decisions}
    metrics, scaling = endpoint.triton_metrics, endpoint.scaling
    assert metrics is not None
    is_shared = endpoint.spec.mode is Mode.SHARED_CONTAINER
    default = {} if is_shared else {"default model": endpoint.default_model or "none"}
    assert (
        values.items()
        >= {
            "image": endpoint.image.uri,
            "instance": f"{endpoint.spec.instance.count} x {endpoint.instance.type}",
            "host image": endpoint.ami,
            "model data": endpoint.model_data_url,
            "instances": f"{scaling.min} to {scaling.max}" if scaling else str(endpoint.spec.instance.count),
            "stack": endpoint.stack,
            "Foundation stack": endpoint.deployment.stack,
            "bucket": endpoint.deployment.bucket,
            "namespace": metrics.namespace,
            "log group": metrics.log_group,
            **default,
        }.items()
    )
    assert {
        decision.what: decision.value for decision in decisions if decision.group == "variables"
    } == endpoint.variables
    targets = [decision.value for decision in decisions if decision.what == "target model"]
    of_models = groupby(endpoint.archives, lambda item: item.source.index)
    keys = [[archive.key.rpartition("/")[2] for archive in archives] for _, archives in of_models]
    told_names = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in keys]
    assert targets == (told_names if endpoint.spec.mode is Mode.MULTI_MODEL else [])
    tracked_files = [
        float((decision.value or "").split()[0])
        for decision in decisions
        if decision.what.startswith("target of")
    ]
    assert tracked_files == [target.value for target in (scaling.targets if scaling else ())]


@pytest.mark.parametrize(("name", "env"), SHIPPED_SPECS)
def test_each_decision_has_a_reason_and_each_fact_the_date_of_its_file(name: str, env: str) -> None:
    decisions = decide_spec(FleetFolder(ROOT), name, env)
    assert [decision.what for decision in decisions if not decision.reason or not decision.value] == []
    facts = {fact for decision in decisions for fact in decision.facts}
    is_own = resolve_project(open_project(ROOT, env, [name])).endpoints[0].image.is_own
    registries = set() if is_own else {"images.json"}
    assert {"amis.yaml", "instances.yaml", "releases.yaml"} | registries <= {fact.file for fact in facts}
    for fact in facts:
        assert fact.date == str(data_file(fact.file)["date"])


class TestModels:
    def test_without_a_lock_the_remedy_is_named_and_the_rest_is_shown(self, folder: FleetFolder) -> None:
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        decisions = decisions_by_key(folder)
        assert (decisions["model data"].value, decisions["default model"].value) == (None, None)
        assert "run `fleet lock --env dev sentences`" in decisions["model data"].reason
        assert decisions["archive"].reason == "not in a lock"
        assert decisions["host image"].value == "al2-ami-sagemaker-inference-gpu-3-1"

    def test_a_lock_that_is_no_yaml_is_like_none(self, folder: FleetFolder) -> None:
        folder.write("locks/dev/sentences.lock.yaml", "archives: [")
        assert "this is not YAML" in decisions_by_key(folder)["model data"].reason

    def test_the_default_model_is_named_or_the_only_one(self, folder: FleetFolder) -> None:
        decisions = decisions_by_key(folder)
        assert (decisions["default model"].value, decisions["default model"].reason) == (
            "embed",
            "the only model in the lock",
        )
        assert "only one in the lock" in decisions["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"].reason
        folder.spec("default_model: other\n")
        assert decisions_by_key(folder)["default model"].reason == "named in `default_model`"
        folder.spec()
        folder.write("locks/dev/sentences.lock.yaml", LOCK.replace("[embed]", "[embed, other]"))
        several = decisions_by_key(folder)["default model"]
        assert (several.value, several.reason.partition(",")[0]) == (None, "the lock has embed")

    def test_copies_are_one_line(self, folder: FleetFolder) -> None:
        folder.spec(base=MULTI.replace("../repository", "../repository, copies: 3"))
        copy = LOCK.splitlines()[-1].replace("sentences:", "sentences-0:")
        folder.write("locks/dev/sentences.lock.yaml", f"{LOCK}{copy}\n")
        decisions = decisions_by_key(folder)
        assert decisions["target model"].value == "sentences-0.tar.gz to sentences-2.tar.gz"
        assert "1 of 3 copies, the first 1000 bytes" in decisions["target model"].reason
        assert decisions["model data"].value is None
        assert "no archive 'sentences-1'" in decisions["model data"].reason

    def test_a_live_set_has_one_prefix_and_a_version_in_each_target(self, folder: FleetFolder) -> None:
        folder.spec(base=LIVE)
        decisions = decisions_by_key(folder)
        assert (decisions["model data"].value or "").endswith("/endpoints/sentences/live/")
        assert decisions["target model"].value == "sentences-v2.tar.gz"


class TestVariables:
    def test_each_names_the_key_that_it_follows_from(self, folder: FleetFolder) -> None:
        folder.spec(
            "container: {thread_count: 4}\n"
            "environment: {MY_OWN: x, SAGEMAKER_TRITON_THREAD_COUNT: '5', SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: y}\n"
        )
        decisions = decisions_by_key(folder)
        assert decisions["MY_OWN"].reason == "from `environment`"
        thread_count = decisions["SAGEMAKER_TRITON_THREAD_COUNT"]
        assert thread_count.value == "5"
        assert thread_count.reason == "from `environment`, laid over `container.thread_count`"
        default = decisions["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"]
        assert (default.value, default.reason) == ("y", "from `environment`, laid over `default_model`")
        assert decisions["SAGEMAKER_TRITON_ALLOW_METRICS"].reason == "from `metrics.triton`"

    def test_those_that_no_source_of_the_container_has_are_not_proved(self, folder: FleetFolder) -> None:
        decisions = decisions_by_key(folder)
        assert not decisions["SAGEMAKER_TRITON_CLOUDWATCH_METRIC_NAMESPACE"].certain
        assert decisions["SAGEMAKER_TRITON_LOG_VERBOSE"].certain

    def test_without_metrics_nothing_is_published(self, folder: FleetFolder) -> None:
        folder.spec("metrics: {triton: false}\n")
        decisions = decisions_by_key(folder)
        assert decisions["namespace"].value == "none"
        assert "log group" not in decisions
        assert "SAGEMAKER_TRITON_ALLOW_METRICS" not in decisions


def test_what_is_undecided_names_the_command_that_says_why(
    folder: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.spec(base=SPEC.replace("25.04", "24.10"))
    monkeypatch.chdir(folder.root)
    arguments = ["sentences", "--env", "dev"]
    output = CliRunner().invoke(APP, arguments, catch_exceptions=False).output
    assert "  image: none: see `fleet check --env dev sentences`" in output
    machine = CliRunner().invoke(APP, [*arguments, "--format", "json"], catch_exceptions=False).output
    assert json.loads(machine)["decisions"][0]["value"] is None
