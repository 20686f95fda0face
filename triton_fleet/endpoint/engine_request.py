"""The request to a build of an engine, and the build's start, for publishers and for an app's deploy."""

from __future__ import annotations

from triton_fleet.builds.engines.artifacts import (
    FAILURE,
    JOBS,
    MANIFEST,
    PLAN,
    REQUEST,
    built_key,
    onnx_key,
)
from triton_fleet.builds.engines.request import EngineJob, EngineRequest
from triton_fleet.builds.script import buildspec
from triton_fleet.builds.start import BuildStart
from triton_fleet.catalog.amis import least_driver
from triton_fleet.endpoint.endpoint_parts import ResolvedEngine
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import S3

VOLUME_GB = 30
"""For a job's scratch files, beside four times the ONNX model; the image has its own space."""
REQUEST_VARIABLE, ENDPOINT_VARIABLE = "FLEET_ENGINE_REQUEST", "FLEET_ENGINE_ENDPOINT"


def engine_request(
    endpoint: ResolvedEndpoint,
    engine: ResolvedEngine,
    deployment: Deployment,
    *,
    script: str,
    job_role: str,
) -> EngineRequest:
    """The request to the build of one of an endpoint's engines.

    Args:
        endpoint: The endpoint.
        engine: The engine.
        deployment: Whose bucket has the engine, and whose jobs build it.
        script: The key of the build script.
        job_role: The ARN of the role of jobs.
    """
    build = engine.build
    return EngineRequest(
        key=build.key,
        model=engine.model,
        bucket=deployment.bucket,
        onnx=onnx_key(build.onnx),
        onnx_digest=build.onnx,
        onnx_size=engine.size,
        script=script,
        arguments=build.arguments,
        gpu=build.gpu,
        compute_capability=build.compute_capability,
        image=endpoint.engine_image.uri,
        least_driver=least_driver(endpoint.engine_image.cuda),
        plan=built_key(build.key, PLAN),
        manifest=built_key(build.key, MANIFEST),
        failure=built_key(build.key, FAILURE),
        seconds=deployment.build_seconds,
        job=EngineJob(
            kind=engine.runner.way,
            instance_type=engine.runner.instance_type,
            role=job_role,
            volume_gb=VOLUME_GB + -(-4 * engine.size // 10**9),
            # By the job's instance type: SageMaker refuses a key with local storage. Source: botocore
            # 1.44.5, CreateTrainingJob and CreateProcessingJob, VolumeKmsKeyId.
            volume_key=None if endpoint.instance.nvme_gb else deployment.kms_key,
            prefix=JOBS,
            tags=dict(deployment.tags),
        ),
    )


def engine_start(deployment: Deployment, endpoint: str, *, key: str, script: str) -> BuildStart:
    """The start of an engine's build, whose request is in the bucket.

    Args:
        deployment: Whose project builds it.
        endpoint: For which endpoint, as reports of failures name it.
        key: The engine's.
        script: The key of the build script.
    """
    address = f"{S3}{deployment.bucket}/{built_key(key, REQUEST)}"
    return BuildStart(
        project=deployment.build_project("job"),
        script=f"{deployment.bucket}/{script}",
        buildspec=buildspec("job"),
        variables={REQUEST_VARIABLE: address, ENDPOINT_VARIABLE: endpoint},
        foundation=f"run `fleet deploy --env {deployment.environment} --foundation` to create it",
    )
