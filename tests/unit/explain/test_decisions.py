"""`fleet show`: each decision with its reason, also about what cannot be deployed as it is."""

from __future__ import annotations

import json
from itertools import groupby

import pytest
import typer
from typer.testing import CliRunner

from fleet.catalog.data_file import data_file
from fleet.cli.show.command import show
from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.locks import read_lock
from fleet.endpoint.resolve import resolve_fleet
from fleet.explain.decision import Decision
from fleet.explain.decisions import decisions
from fleet.spec.endpoint import Mode
from fleet.spec.environment import LOCAL
from fleet.spec.project import endpoint_names, environment_names, open_project
from fleet_folder import LOCK, ROOT, SPEC, FleetFolder

APP = typer.Typer()
APP.command()(show)
SHIPPED = [(name, env) for name in endpoint_names(ROOT) for env in environment_names(ROOT) if env != LOCAL]
MULTI = SPEC.replace("triton:", "mode: multi-model\ntriton:")
LIVE = MULTI.replace("triton:", "archive_set: live\ntriton:").replace(
    "../repository", "../repository, version: 2"
)
SCALED = "scaling: {min: 0, max: 3, gpu_utilization: 33.3, invocations_per_instance: 1234567}\n"


def made(folder: FleetFolder, name: str = "sentences", env: str = "dev") -> tuple[Decision, ...]:
    project = open_project(folder.root, env, [name])
    loaded = project.load(name)
    lock, wrong = read_lock(project, loaded.spec)
    return decisions(EndpointContext(loaded=loaded, environment=project.environment, lock=lock), wrong)


def decided(folder: FleetFolder) -> dict[str, Decision]:
    """Each decision by what it is about."""
    return {each.what: each for each in made(folder)}


def on(folder: FleetFolder, instance: str, release: str = "25.04", text: str = "") -> dict[str, Decision]:
    folder.spec(text, base=SPEC.replace("ml.g5.xlarge", instance).replace("25.04", release))
    return decided(folder)


@pytest.mark.parametrize(("name", "env"), SHIPPED)
def test_what_is_shown_is_what_is_deployed(name: str, env: str) -> None:
    endpoint = resolve_fleet(ROOT, env, [name]).endpoints[0]
    shown = made(FleetFolder(ROOT), name, env)
    values = {each.what: each.value for each in shown}
    metrics, scaling = endpoint.triton_metrics, endpoint.scaling
    assert metrics is not None
    assert (
        values.items()
        >= {
            "image": endpoint.image.uri,
            "instance": f"{endpoint.spec.instance.count} x {endpoint.instance.type}",
            "host image": endpoint.ami,
            "default model": endpoint.default_model or "none",
            "model data": endpoint.model_data_url,
            "instances": f"{scaling.min} to {scaling.max}" if scaling else str(endpoint.spec.instance.count),
            "namespace": metrics.namespace,
            "log group": metrics.log_group,
            "stack": endpoint.stack,
            "Foundation stack": endpoint.place.stack,
            "bucket": endpoint.place.bucket,
        }.items()
    )
    assert {each.what: each.value for each in shown if each.group == "variables"} == endpoint.variables
    targets = [each.value for each in shown if each.what == "target model"]
    of_models = groupby(endpoint.archives, lambda each: each.source.index)
    keys = [[each.key.rpartition("/")[2] for each in archives] for _, archives in of_models]
    told = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in keys]
    assert targets == (told if endpoint.spec.mode is Mode.MULTI_MODEL else [])
    tracked = [float((each.value or "").split()[0]) for each in shown if each.what.startswith("target of")]
    assert tracked == [each.value for each in (scaling.targets if scaling else ())]


@pytest.mark.parametrize(("name", "env"), SHIPPED)
def test_each_decision_has_a_reason_and_each_fact_the_date_of_its_file(name: str, env: str) -> None:
    shown = made(FleetFolder(ROOT), name, env)
    assert [each.what for each in shown if not each.reason or not each.value] == []
    facts = {fact for each in shown for fact in each.facts}
    assert {"amis.yaml", "images.json", "instances.yaml", "releases.yaml"} <= {each.file for each in facts}
    for fact in facts:
        assert fact.date == str(data_file(fact.file)["date"])


class TestImage:
    def test_the_release_says_what_is_inside_and_what_of_that_is_not_proved(
        self, folder: FleetFolder
    ) -> None:
        shown = decided(folder)
        assert (shown["CUDA"].value, shown["CUDA"].certain) == ("12.9.0", True)
        assert (shown["TensorRT"].value, shown["TensorRT"].certain) == ("10.9.0.34", False)
        assert "account 763104351884 has release 25.04 in us-east-1" in shown["image"].reason

    def test_what_no_source_says_is_not_known(self, folder: FleetFolder) -> None:
        shown = on(folder, "ml.g6.xlarge", "26.03")
        assert (shown["TensorRT"].value, shown["image"].certain) == ("not known", False)

    def test_without_a_gpu_it_is_the_image_for_cpus(self, folder: FleetFolder) -> None:
        shown = on(folder, "ml.c5.xlarge")
        assert (shown["image"].value or "").endswith("25.04-py3-cpu")
        assert "that for CPUs" in shown["image"].reason
        assert (shown["GPU"].value, shown["local storage"].value) == ("none", "none")

    def test_a_release_without_one_is_undecided_and_the_rest_is_still_shown(
        self, folder: FleetFolder
    ) -> None:
        shown = on(folder, "ml.g5.xlarge", "24.10")
        assert (shown["image"].value, shown["host image"].value) == (None, None)
        assert shown["image"].reason == "SageMaker has no image of Triton 24.10"
        assert shown["GPU"].value == "1 x A10G of 22888 MiB, compute capability 8.6"

    def test_a_region_without_one_is_named(self, folder: FleetFolder) -> None:
        folder.spec(base=SPEC.replace("25.04", "26.05"))
        file = folder.root / "environments/dev.yaml"
        file.write_text(file.read_text().replace("us-east-1", "cn-north-1"))
        assert decided(folder)["image"].reason == "SageMaker has no image of Triton 26.05 in cn-north-1"


class TestHostImage:
    @pytest.mark.parametrize(
        ("instance", "release", "value", "reason"),
        [
            ("ml.g5.xlarge", "25.04", "al2-ami-sagemaker-inference-gpu-3-1", "driver 470, is too old; al2-"),
            ("ml.g6.xlarge", "25.04", "al2-ami-sagemaker-inference-gpu-3-1", "driver 535, would do as well"),
            ("ml.g6e.xlarge", "25.04", "al2-ami-sagemaker-inference-gpu-3-1", "by default is not known"),
            ("ml.g6.xlarge", "25.09", "al2023-ami-sagemaker-inference-gpu-4-1", "have driver 580 or newer"),
            (
                "ml.g5.xlarge",
                "22.12",
                "SageMaker's own choice",
                "which runs on driver 470, the default of g5",
            ),
            ("ml.c5.xlarge", "25.04", "SageMaker's own choice", "has no NVIDIA GPU"),
            ("ml.g7e.2xlarge", "25.04", None, "no host image gives g7e instances a driver for it"),
            ("ml.zz9.xlarge", "25.04", None, "which cannot both be decided"),
            (
                "ml.g5.xlarge, ami: al2-gpu-2-1",
                "25.04",
                None,
                "names al2-gpu-2-1, which the catalog does not",
            ),
            (
                "ml.g7e.2xlarge, ami: al2-ami-sagemaker-inference-gpu-3-1",
                "25.09",
                "al2-ami-sagemaker-inference-gpu-3-1",
                "driver 550, for CUDA 12; Triton 25.09 is built for CUDA 13.0.1; SageMaker refuses it for g7e",
            ),
        ],
    )
    def test_it_is_explained_by_the_drivers_that_container_and_family_have(
        self, folder: FleetFolder, instance: str, release: str, value: str | None, reason: str
    ) -> None:
        shown = on(folder, instance, release)["host image"]
        assert shown.value == value
        assert reason in shown.reason

    def test_a_family_that_no_source_names_is_not_proved(self, folder: FleetFolder) -> None:
        assert not on(folder, "ml.g6e.xlarge")["host image"].certain
        assert on(folder, "ml.g6.xlarge")["host image"].certain

    def test_what_the_spec_allows_itself_is_told_as_it_is_deployed(self, folder: FleetFolder) -> None:
        shown = on(folder, "ml.g7e.2xlarge", "25.04", 'allow: {missing-driver: "tried on 3 May"}\n')[
            "host image"
        ]
        assert folder.resolve().ami is None
        assert shown.value == "SageMaker's own choice"
        assert "`allow` takes missing-driver upon itself" in shown.reason


class TestRawInstances:
    def test_the_types_that_raw_properties_bring_in_are_told(self, folder: FleetFolder) -> None:
        pools = "[{InstanceType: ml.g6.xlarge, Priority: 1}, {InstanceType: ml.g5.xlarge, Priority: 2}]"
        raw = f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InstancePools: {pools}}}}}\n"
        found = on(folder, "ml.g6.xlarge", text=raw)["instance"]
        assert found.reason == "from `instance.count` and `instance.type`; instance pool 2: ml.g5.xlarge"


class TestPriceAndScaling:
    def test_a_price_is_of_all_instances_from_the_fewest_on(self, folder: FleetFolder) -> None:
        shown = on(folder, "ml.g5.xlarge", text=SCALED)["price per hour"]
        assert (shown.value, shown.certain) == ("0.00 to 4.22 USD", True)
        assert on(folder, "ml.g5.xlarge, count: 2")["price per hour"].value == "2.82 USD"

    def test_a_price_is_of_the_range_that_schedules_leave(self, folder: FleetFolder) -> None:
        scaled = SCALED.replace("}", ", schedules: [{name: day, at: rate(1 day), max: 5}]}")
        assert on(folder, "ml.g5.xlarge", text=scaled)["price per hour"].value == "0.00 to 7.04 USD"

    def test_a_computed_price_and_one_of_another_region_say_so(self, folder: FleetFolder) -> None:
        file = folder.root / "environments/dev.yaml"
        file.write_text(file.read_text().replace("us-east-1", "eu-west-1"))
        shown = on(folder, "ml.g7.2xlarge")["price per hour"]
        assert "in us-east-1, eu-west-1 may differ; computed from EC2's price" in shown.reason
        assert not shown.certain

    def test_a_price_that_the_catalog_lacks_is_not_known(self, folder: FleetFolder) -> None:
        assert on(folder, "ml.c5.xlarge")["price per hour"].value == "not known"

    def test_a_gpu_target_is_that_of_one_gpu_times_the_machines(self, folder: FleetFolder) -> None:
        shown = on(folder, "ml.g5.12xlarge", text=SCALED)
        target = shown["target of GPUUtilization (/aws/sagemaker/Endpoints)"]
        assert target.value == "133.2 Percent"
        assert target.reason.startswith("33.3 % of one GPU x 4")
        assert shown["target of InvocationsPerInstance (AWS/SageMaker)"].value == "1234567"

    @pytest.mark.parametrize("instance", ["ml.c5.xlarge", "ml.zz9.xlarge"])
    def test_without_a_gpu_its_target_is_undecided(self, folder: FleetFolder, instance: str) -> None:
        shown = on(folder, instance, text=SCALED)
        assert shown["target of GPUUtilization (/aws/sagemaker/Endpoints)"].value is None

    @pytest.mark.parametrize(("release", "certain"), [("25.04", True), ("25.09", False), ("23.12", False)])
    def test_a_cold_start_stands_beside_the_range_and_is_certain_where_it_was_measured(
        self, folder: FleetFolder, release: str, certain: bool
    ) -> None:
        shown = on(folder, "ml.g4dn.xlarge", release, text=SCALED)["a new instance answers after"]
        assert (shown.value, shown.certain) == ("about 12 minutes", certain)
        assert "27.7 GB unpacked" in shown.reason

    def test_without_scaling_the_count_stays(self, folder: FleetFolder) -> None:
        assert on(folder, "ml.g5.xlarge, count: 2")["instances"].value == "2"


class TestModels:
    def test_without_a_lock_the_remedy_is_named_and_the_rest_is_shown(self, folder: FleetFolder) -> None:
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        shown = decided(folder)
        assert (shown["model data"].value, shown["default model"].value) == (None, None)
        assert "run `fleet lock --env dev sentences`" in shown["model data"].reason
        assert shown["archive"].reason == "not in a lock"
        assert shown["host image"].value == "al2-ami-sagemaker-inference-gpu-3-1"

    def test_a_lock_that_is_no_yaml_is_like_none(self, folder: FleetFolder) -> None:
        folder.write("locks/dev/sentences.lock.yaml", "archives: [")
        assert "this is not YAML" in decided(folder)["model data"].reason

    def test_the_default_model_is_named_or_the_only_one(self, folder: FleetFolder) -> None:
        shown = decided(folder)
        assert (shown["default model"].value, shown["default model"].reason) == (
            "embed",
            "the only model in the lock",
        )
        assert "only one in the lock" in shown["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"].reason
        folder.spec("default_model: other\n")
        assert decided(folder)["default model"].reason == "named in `default_model`"
        folder.spec()
        folder.write("locks/dev/sentences.lock.yaml", LOCK.replace("[embed]", "[embed, other]"))
        several = decided(folder)["default model"]
        assert (several.value, several.reason.partition(",")[0]) == (None, "the lock has embed")

    def test_copies_are_one_line(self, folder: FleetFolder) -> None:
        folder.spec(base=MULTI.replace("../repository", "../repository, copies: 3"))
        copy = LOCK.splitlines()[-1].replace("sentences:", "sentences-0:")
        folder.write("locks/dev/sentences.lock.yaml", f"{LOCK}{copy}\n")
        shown = decided(folder)
        assert shown["target model"].value == "sentences-0.tar.gz to sentences-2.tar.gz"
        assert "1 of 3 copies, the first 1000 bytes" in shown["target model"].reason
        assert shown["model data"].value is None
        assert "no archive 'sentences-1'" in shown["model data"].reason

    def test_a_live_set_has_one_prefix_and_a_version_in_each_target(self, folder: FleetFolder) -> None:
        folder.spec(base=LIVE)
        shown = decided(folder)
        assert (shown["model data"].value or "").endswith("/endpoints/sentences/live/")
        assert shown["target model"].value == "sentences-v2.tar.gz"


class TestVariables:
    def test_each_names_the_key_that_it_follows_from(self, folder: FleetFolder) -> None:
        folder.spec(
            "container: {thread_count: 4}\n"
            "environment: {MY_OWN: x, SAGEMAKER_TRITON_THREAD_COUNT: '5', SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: y}\n"
        )
        shown = decided(folder)
        assert shown["MY_OWN"].reason == "from `environment`"
        thread_count = shown["SAGEMAKER_TRITON_THREAD_COUNT"]
        assert thread_count.value == "5"
        assert thread_count.reason == "from `environment`, laid over `container.thread_count`"
        default = shown["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"]
        assert (default.value, default.reason) == ("y", "from `environment`, laid over `default_model`")
        assert shown["SAGEMAKER_TRITON_ALLOW_METRICS"].reason == "from `metrics.triton`"

    def test_those_that_no_source_of_the_container_has_are_not_proved(self, folder: FleetFolder) -> None:
        shown = decided(folder)
        assert not shown["SAGEMAKER_TRITON_CLOUDWATCH_METRIC_NAMESPACE"].certain
        assert shown["SAGEMAKER_TRITON_LOG_VERBOSE"].certain

    def test_without_metrics_nothing_is_published(self, folder: FleetFolder) -> None:
        folder.spec("metrics: {triton: false}\n")
        shown = decided(folder)
        assert shown["namespace"].value == "none"
        assert "log group" not in shown
        assert "SAGEMAKER_TRITON_ALLOW_METRICS" not in shown


def test_what_is_undecided_names_the_command_that_says_why(
    folder: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.spec(base=SPEC.replace("25.04", "24.10"))
    monkeypatch.chdir(folder.root)
    arguments = ["sentences", "--env", "dev"]
    said = CliRunner().invoke(APP, arguments, catch_exceptions=False).output
    assert "  image: none: see `fleet check --env dev sentences`" in said
    machine = CliRunner().invoke(APP, [*arguments, "--format", "json"], catch_exceptions=False).output
    assert json.loads(machine)["decisions"][0]["value"] is None
