"""Differences of multi-model endpoints, and of those without a GPU."""

from __future__ import annotations

import json
import re

import pytest
from aws_cdk.assertions import Template

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.conftest import templates
from tests.synth.resources import BUCKET, MULTI_MODEL, only_resource, statements


class TestMultiModel:
    @pytest.fixture
    def multi(self, folder: FleetFolder) -> Template:
        folder.spec(base=MULTI_MODEL)
        return templates(folder)["triton-fleet-dev-sentences"]

    def test_the_model_is_one_over_the_prefix_of_its_set(self, multi: Template) -> None:
        container = only_resource(multi, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"]
        assert container["Mode"] == "MultiModel"
        assert re.fullmatch(f"s3://{BUCKET}/endpoints/sentences/[0-9a-f]{{64}}/", container["ModelDataUrl"])
        variables = container["Environment"]
        assert variables["SAGEMAKER_TRITON_PING_MODE"] == "live"
        assert variables["SAGEMAKER_TRITON_OVERRIDE_PING_MODE"] == "live"
        assert "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME" not in variables
        assert "SAGEMAKER_MULTI_MODEL" not in variables

    def test_its_role_reads_the_endpoints_own_prefix_alone(self, multi: Template) -> None:
        assert statements(multi)["ReadArchives"]["Resource"] == f"arn:aws:s3:::{BUCKET}/endpoints/sentences/*"

    def test_s3_tells_its_role_that_an_archive_is_missing_as_it_may_list_without_a_prefix(
        self, multi: Template
    ) -> None:
        archives = statements(multi)["ListArchives"]
        assert archives["Resource"] == f"arn:aws:s3:::{BUCKET}"
        assert "Condition" not in archives

    def test_its_dashboard_shows_loads_and_cache_hits(self, multi: Template) -> None:
        body = json.dumps(only_resource(multi, "AWS::CloudWatch::Dashboard"))
        for metric in ("LoadedModelCount", "ModelCacheHit", "ModelLoadingTime", "ModelUnloadingTime"):
            assert metric in body


class TestCpuEndpoint:
    def test_it_has_the_cpu_image_and_no_driver_and_no_gpu_on_its_dashboard(
        self, folder: FleetFolder
    ) -> None:
        folder.spec(
            "scaling: {min: 1, max: 2, invocations_per_instance: 60}\n", base=SPEC.replace("g5", "c5")
        )
        template = templates(folder)["triton-fleet-dev-sentences"]

        image = only_resource(template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"]["Image"]
        (variant,) = only_resource(template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "ProductionVariants"
        ]
        assert image.endswith(":25.04-py3-cpu")
        assert variant["InstanceType"] == "ml.c5.xlarge"
        assert "InferenceAmiVersion" not in variant
        assert "GPU" not in json.dumps(template.find_resources("AWS::CloudWatch::Dashboard"))
