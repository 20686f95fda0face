"""The functions that have engines built during a deploy, and assemble an endpoint's model data with them.

Only apps of others declare them: the shipped stacks build nothing while CloudFormation deploys them
(docs/decisions/0069-an-engine-is-built-by-a-deploy-in-apps-of-others-alone.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct, IDependable

from triton_endpoints.lambda_function import Step, service_token, waiting_provider
from triton_endpoints.policy import Statement, use_key
from triton_endpoints.wildcards import ASSEMBLY
from triton_fleet.builds.engines.artifacts import ONNX, PLANS, REQUEST, SCRIPTS, built_key, script_key
from triton_fleet.endpoint.bucket_keys import REPOSITORIES
from triton_fleet.endpoint.endpoint_parts import ResolvedEngine
from triton_fleet.endpoint.engine_request import engine_request, engine_start
from triton_fleet.endpoint.resolved_endpoint import GivenData, ResolvedEndpoint
from triton_fleet.spec.deployment import Deployment

NOUN = "model-assembly"
SECONDS_TO_BEGIN = 60
SECONDS_OF_A_LOOK = 600
SECONDS_TO_COMPLETE = 2880
"""From then on a look that finds a build under way fails: a later one could outlast CloudFormation's hour."""
TOTAL_MINUTES = 59
SECONDS_BETWEEN = 15
MEMORY_MIB = 512
"""For boto3, and small files that are copied through it."""


class ModelAssembler(Construct):
    """The functions of an environment's engine builds, which custom resources know by name."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        deployment: Deployment,
        job_role: str,
        needs: Sequence[IDependable],
    ) -> None:
        """Declare the functions.

        Args:
            scope: The parent.
            id: The construct's own.
            deployment: Whose bucket and project they use.
            job_role: The ARN of the role of the jobs that build engines.
            needs: What has to exist before they are called: the project, and the bucket.
        """
        super().__init__(scope, id)
        self.deployment, self._needs = deployment, needs
        waiting_provider(
            self,
            NOUN,
            deployment=deployment,
            module="model_assembly.handler",
            begin=Step("Begin", "handler", "Starts the assembly of model data", SECONDS_TO_BEGIN),
            look=Step("Look", "is_complete", "Has engines built, and copies model data", SECONDS_OF_A_LOOK),
            statements=_statements(deployment),
            further=[ASSEMBLY],
            environment={
                "SECONDS": str(SECONDS_TO_COMPLETE),
                "PROJECT": deployment.build_project("job"),
                "JOB_ROLE": job_role,
            },
            seconds_between=SECONDS_BETWEEN,
            total_minutes=TOTAL_MINUTES,
            is_shared=True,
            memory_mib=MEMORY_MIB,
        )
        self._role = cast(iam.Role, self.node.find_child("Role"))

    def serve(self, resource: CfnResource, assets: Sequence[s3_assets.Asset]) -> None:
        """Let the functions read the assets that a custom resource names, which is deployed after them."""
        arns = [asset.bucket.arn_for_objects(asset.s3_object_key) for asset in assets]
        grant = iam.Grant.add_to_principal(
            grantee=self._role, actions=["s3:GetObject"], resource_arns=list(dict.fromkeys(arns))
        )
        grant.apply_before(resource)
        resource.node.add_dependency(self, *self._needs)


@dataclass(frozen=True, kw_only=True)
class RepositoryAssets:
    """A model repository as the app publishes it.

    Attributes:
        digest: The model data's, in hexadecimal: of the files, and of the keys of engines.
        files: The tar stream of the files.
        script: The build script of engines.
        script_digest: Its digest, `sha256:...`.
        onnx: The ONNX models, by the models whose engines are built of them.
        places: Where the plans go in the repository, by model.
    """

    digest: str
    files: s3_assets.Asset
    script: s3_assets.Asset
    script_digest: str
    onnx: dict[str, s3_assets.Asset]
    places: dict[str, str]


class AssembledModel(CfnResource):
    """The model data of an endpoint, with the plans of its engines; a Model that names its address waits."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        assembler: ModelAssembler,
        endpoint: ResolvedEndpoint,
        assets: RepositoryAssets,
    ) -> None:
        """Declare the resource.

        Args:
            scope: The parent.
            id: The construct's own.
            assembler: The functions.
            endpoint: The endpoint, whose engines are built.
            assets: What the app publishes.
        """
        self._deployment, self._prefix = assembler.deployment, f"{REPOSITORIES}{assets.digest}/"
        self._endpoint, self._assets, self._stack = endpoint, assets, Stack.of(scope)
        super().__init__(
            scope,
            id,
            type="Custom::ModelAssembly",
            properties={
                "ServiceToken": service_token(self._deployment, NOUN),
                "Bucket": self._deployment.bucket,
                "Prefix": self._prefix,
                "Repository": _place(assets.files),
                "Script": _place(assets.script),
                "Engines": [self._engine(engine) for engine in endpoint.engines],
            },
        )
        assembler.serve(self, [assets.files, assets.script, *assets.onnx.values()])

    @property
    def model_data(self) -> GivenData:
        """The data for a Model."""
        bucket, keys = self._deployment.bucket, f"{self._prefix}*"
        return GivenData(
            self.get_att("Url").to_string(),
            self._deployment.bucket_key,
            path=f"{bucket}/{keys}",
            bucket_name=bucket,
            key_pattern=keys,
        )

    def _engine(self, engine: ResolvedEngine) -> dict[str, str]:
        """An engine, with its request and its start as JSON: CloudFormation makes texts of numbers."""
        deployment, script, key = self._deployment, script_key(self._assets.script_digest), engine.build.key
        # The function knows the role: no stack has to export it.
        request = engine_request(self._endpoint, engine, deployment, script=script, job_role="")
        start = engine_start(deployment, self._endpoint.name, key=key, script=script)
        return {
            "Path": self._assets.places[engine.model],
            "Onnx": _place(self._assets.onnx[engine.model]),
            "RequestKey": built_key(key, REQUEST),
            "Request": self._stack.to_json_string(json.loads(request.json())),
            "Start": self._stack.to_json_string(start.request),
        }


def _place(asset: s3_assets.Asset) -> str:
    return f"{asset.s3_bucket_name}/{asset.s3_object_key}"


def _statements(deployment: Deployment) -> list[Statement]:
    bucket = deployment.bucket_arn
    inputs = [f"{bucket}/{ONNX}*", f"{bucket}/{SCRIPTS}*", f"{bucket}/{PLANS}*/{REQUEST}"]
    return [
        Statement(
            sid="ReadEngines",
            actions=["s3:GetObject"],
            resources=[f"{bucket}/{prefix}*" for prefix in (ONNX, PLANS, SCRIPTS)],
        ),
        Statement(
            sid="HandOverBuilds", actions=["s3:AbortMultipartUpload", "s3:PutObject"], resources=inputs
        ),
        Statement(
            sid="AssembleModels",
            actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
            resources=[f"{bucket}/{REPOSITORIES}*"],
        ),
        # Without a condition: S3 reports a missing object as missing only to a caller that may list, and a
        # request for one object has no prefix.
        Statement(sid="SeeBucket", actions=["s3:ListBucket"], resources=[bucket]),
        Statement(
            sid="BuildEngines",
            actions=["codebuild:BatchGetBuilds", "codebuild:ListBuildsForProject", "codebuild:StartBuild"],
            resources=[deployment.arn("codebuild", f"project/{deployment.build_project('job')}")],
        ),
        *use_key(deployment, "kms:Decrypt", "kms:GenerateDataKey"),
    ]
