"""Spec and environment become one endpoint with everything decided."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from triton_fleet.catalog.images import releases
from triton_fleet.endpoint.endpoint_parts import TrackedTarget


def test_the_image_comes_from_the_account_that_keeps_it_in_the_region(folder: FleetFolder) -> None:
    endpoint = folder.resolve()
    assert (
        endpoint.image.uri == "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
    )
    assert endpoint.ami == "al2-ami-sagemaker-inference-gpu-3-1"
    assert (endpoint.instance.gpu, endpoint.instance.gpus) == ("A10G", 1)


@pytest.mark.parametrize(
    ("region", "registry"),
    [
        ("af-south-1", "626614931356.dkr.ecr.af-south-1.amazonaws.com"),
        ("ap-east-1", "871362719292.dkr.ecr.ap-east-1.amazonaws.com"),
        ("cn-north-1", "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_regions_with_a_registry_of_their_own_have_it_named(
    folder: FleetFolder, region: str, registry: str
) -> None:
    folder.write("environments/dev.yaml", f'environment: dev\naccount: "111122223333"\nregion: {region}\n')
    folder.spec(base=SPEC.replace("g5", "g4dn"))
    assert folder.resolve().image.uri.startswith(registry)


@pytest.mark.parametrize("instance", ["ml.g7.2xlarge", "ml.g7e.2xlarge", "ml.p6-b300.48xlarge"])
def test_a_container_without_a_driver_for_its_gpu_is_refused_with_a_release_that_fits(
    folder: FleetFolder, instance: str
) -> None:
    folder.spec(base=SPEC.replace("ml.g5.xlarge", instance))
    finding = next(finding for finding in folder.findings() if finding.code == "FL204")
    assert finding.line == 3
    assert "built for CUDA 12" in finding.message
    assert f'write `triton: "{releases()[-1]}"`' in finding.hint


@pytest.mark.parametrize("instance", ["ml.g5.xlarge", "ml.p4d.24xlarge", "ml.p4de.24xlarge"])
def test_a_host_image_of_which_sources_contradict_each_other_is_deployed(
    folder: FleetFolder, instance: str
) -> None:
    folder.spec(base=SPEC.replace("25.04", "25.09").replace("ml.g5.xlarge", instance))
    assert folder.resolve().ami == "al2023-ami-sagemaker-inference-gpu-4-1"


def test_a_host_image_that_is_proved_for_a_family_is_taken_without_a_word(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace("25.04", "25.09").replace("ml.g5.xlarge", "ml.g4dn.xlarge"))
    assert folder.findings() == []


def test_a_family_with_the_newer_driver_takes_the_newer_container(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace("25.04", "25.09").replace("ml.g5.xlarge", "ml.g6.xlarge"))
    assert folder.resolve().ami == "al2023-ami-sagemaker-inference-gpu-4-1"


@pytest.mark.parametrize(
    ("old", "new", "code", "hint"),
    [
        ("25.04", "25.05", "FL201", "the nearest releases: 24.09, 25.04, 25.09, 25.12"),
        ("ml.g5.xlarge", "ml.g5.xlarg", "FL203", "did you mean `ml.g5.xlarge`?"),
        ("ml.g5.xlarge", "ml.g4.xlarge", "FL203", "did you mean"),
    ],
)
def test_what_the_catalog_does_not_know_is_refused(
    folder: FleetFolder, old: str, new: str, code: str, hint: str
) -> None:
    folder.spec(base=SPEC.replace(old, new))
    (finding,) = folder.findings()
    assert finding.code == code
    assert hint in finding.hint


def test_a_release_without_an_image_in_the_region_names_those_that_have_one(folder: FleetFolder) -> None:
    folder.write("environments/dev.yaml", 'environment: dev\naccount: "111122223333"\nregion: cn-north-1\n')
    folder.spec(base=SPEC.replace("25.04", "25.09"))
    (finding,) = folder.findings()
    assert finding.code == "FL202"
    assert finding.hint == "the newest releases in cn-north-1: 23.12, 24.01, 24.03, 24.05, 24.09, 25.04"


def test_environment_defaults_lie_below_the_spec_and_overrides_above_it(folder: FleetFolder) -> None:
    folder.environment(
        """\
        defaults:
          container: {thread_count: 4, buffer_manager_thread_count: 2}
        overrides:
          sentences:
            instance: {count: 3}
        """
    )
    folder.spec("container: {thread_count: 16}\n")
    endpoint = folder.resolve()
    assert endpoint.variables["SAGEMAKER_TRITON_THREAD_COUNT"] == "16"
    assert endpoint.variables["SAGEMAKER_TRITON_BUFFER_MANAGER_THREAD_COUNT"] == "2"
    assert (endpoint.instance.type, endpoint.spec.instance.count) == ("ml.g5.xlarge", 3)


def test_the_containers_environment_is_decided_to_the_last_variable(folder: FleetFolder) -> None:
    folder.spec(
        """\
        container:
          buffer_manager_thread_count: 0
          model_load_gpu_limit: 0
          additional_args: [--exit-timeout-secs=5]
        environment: {TOKENIZERS_PARALLELISM: "false"}
        """
    )
    assert folder.resolve().variables == {
        "SAGEMAKER_TRITON_ADDITIONAL_ARGS": "--exit-timeout-secs=5",
        "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
        "SAGEMAKER_TRITON_BUFFER_MANAGER_THREAD_COUNT": "0",
        "SAGEMAKER_TRITON_CLOUDWATCH_LOG_GROUP": "/triton-fleet/sentences/metrics",
        "SAGEMAKER_TRITON_CLOUDWATCH_METRIC_NAMESPACE": "TritonFleet/sentences",
        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "embed",
        "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
        "SAGEMAKER_TRITON_METRICS_PORT": "23000",
        "SAGEMAKER_TRITON_METRIC_NAMESPACE": "TritonFleet/sentences",
        "SAGEMAKER_TRITON_MODEL_LOAD_GPU_LIMIT": "0.0",
        "SAGEMAKER_TRITON_PUBLISH_METRICS_TO_CLOUDWATCH": "true",
        "TOKENIZERS_PARALLELISM": "false",
    }


@pytest.mark.parametrize(
    "keys", ["container: {metrics_port: 23002}\n", 'environment: {SAGEMAKER_TRITON_METRICS_PORT: "23002"}\n']
)
def test_tritons_metrics_have_the_port_that_the_spec_names(folder: FleetFolder, keys: str) -> None:
    folder.spec(keys)
    assert folder.resolve().variables["SAGEMAKER_TRITON_METRICS_PORT"] == "23002"


@pytest.mark.parametrize("name", ["CLOUDWATCH_METRIC_NAMESPACE", "METRIC_NAMESPACE"])
def test_the_namespace_is_said_in_every_spelling_and_cannot_be_another(
    folder: FleetFolder, name: str
) -> None:
    folder.spec(f"environment: {{SAGEMAKER_TRITON_{name}: Mine}}\n")
    (finding,) = folder.findings()
    assert finding.code == "FL207"


def test_without_tritons_metrics_nothing_of_them_is_set(folder: FleetFolder) -> None:
    folder.spec("metrics: {triton: false}\n")
    endpoint = folder.resolve()
    assert endpoint.triton_metrics is None
    assert not [name for name in endpoint.variables if "METRIC" in name]


def test_a_variable_that_another_key_decides_is_refused(folder: FleetFolder) -> None:
    folder.spec("container: {thread_count: 8}\nenvironment: {SAGEMAKER_TRITON_THREAD_COUNT: '16'}\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL207", 7)


def test_a_variable_stands_above_a_default_of_ours(folder: FleetFolder) -> None:
    folder.spec("environment: {SAGEMAKER_TRITON_LOG_VERBOSE: '2'}\n")
    assert folder.resolve().variables["SAGEMAKER_TRITON_LOG_VERBOSE"] == "2"


def test_a_gpu_target_counts_all_gpus_of_the_instance(folder: FleetFolder) -> None:
    folder.spec(
        "scaling: {min: 1, max: 4, gpu_utilization: 60, invocations_per_instance: 600}\n",
        base=SPEC.replace("ml.g5.xlarge", "ml.g5.12xlarge"),
    )
    scaling = folder.resolve().scaling
    assert scaling is not None
    assert scaling.targets == (
        TrackedTarget(measure="invocations_per_instance", value=600),
        TrackedTarget(measure="gpu_utilization", value=240),
    )


def test_the_artifact_lies_in_the_endpoints_own_prefix_under_its_digest(folder: FleetFolder) -> None:
    url = f"s3://triton-fleet-dev-111122223333-us-east-1/endpoints/sentences/{'a' * 64}.tar.gz"
    assert folder.resolve().model_data_url == url


def test_a_missing_lock_names_the_command_that_writes_it(folder: FleetFolder) -> None:
    (folder.root / "locks/dev/sentences.lock.yaml").unlink()
    (finding,) = folder.findings()
    assert (finding.code, finding.hint) == ("FL301", "run `fleet lock --env dev sentences`")


def test_a_lock_of_another_archive_is_refused(folder: FleetFolder) -> None:
    folder.write("locks/dev/sentences.lock.yaml", LOCK.replace("  sentences:", "  others:"))
    (finding,) = folder.findings()
    assert finding.code == "FL302"


def test_several_models_need_one_to_be_named(folder: FleetFolder) -> None:
    folder.write("locks/dev/sentences.lock.yaml", LOCK.replace("[embed]", "[embed, rank]"))
    (finding,) = folder.findings()
    assert (finding.code, finding.hint) == ("FL205", "write `default_model:` and one of embed, rank")
    folder.spec("default_model: rank\n")
    assert folder.resolve().default_model == "rank"


def test_a_lock_that_says_it_is_anothers_is_refused(folder: FleetFolder) -> None:
    folder.write("locks/dev/sentences.lock.yaml", LOCK.replace("endpoint: sentences", "endpoint: others"))
    (finding,) = folder.findings()
    assert (finding.code, finding.message) == ("FL302", "this is the lock of 'others'")


def test_more_than_sagemaker_takes_as_environment_is_refused(folder: FleetFolder) -> None:
    many = "".join(f"  V{number}: x\n" for number in range(99))
    folder.spec(f"environment:\n{many}")
    assert [finding.code for finding in folder.findings()] == ["FL209"]
    folder.spec("container:\n  additional_args:\n" + "    - --flag\n" * 200)
    assert "longer than SageMaker's 1024 characters" in folder.findings()[0].message


def test_an_inference_type_that_the_release_does_not_know_is_refused(folder: FleetFolder) -> None:
    folder.spec("container: {inference_type: generate}\n", base=SPEC.replace("25.04", "24.09"))
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL238", 6)
