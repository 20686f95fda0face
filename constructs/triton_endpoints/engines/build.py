"""Builders of TensorRT engines: a CodeBuild project, and a role for the SageMaker jobs that it starts.

Nothing of it runs or costs while no engine is built.
"""

from __future__ import annotations

from aws_cdk import aws_ssm as ssm
from constructs import Construct

from triton_endpoints.builds.failures import BuildFailures
from triton_endpoints.builds.project import STARTS_A_JOB, BuildProject, build_log
from triton_endpoints.engines.permissions import job_statements, starter_statements
from triton_endpoints.policy import service_role
from triton_fleet.spec.deployment import Deployment


class EngineBuild(Construct):
    """The project of an environment, which publishing knows by its name.

    `topic` is the ARN of the one that is notified of failed builds.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment, topic: str) -> None:
        super().__init__(scope, id)
        log = build_log(self, deployment, deployment.engine_log_group)
        job = service_role(
            self,
            "JobRole",
            service="sagemaker",
            deployment=deployment,
            description=f"Role of SageMaker jobs that build the engines of {deployment.environment}",
            statements=job_statements(deployment),
        )
        ssm.CfnParameter(
            self,
            "JobRoleArn",
            type="String",
            name=deployment.engine_job_role,
            value=job.attr_arn,
            description="ARN of the role of SageMaker jobs that build engines",
        )
        starter = service_role(
            self,
            "StarterRole",
            service="codebuild",
            deployment=deployment,
            description=f"Role of CodeBuild that starts the engine jobs of {deployment.environment}",
            statements=starter_statements(deployment, job_role=job.attr_arn),
        )
        BuildProject(self, "Jobs", deployment=deployment, kind=STARTS_A_JOB, role=starter, log=log)
        BuildFailures(self, "Failures", deployment=deployment, what="engine", projects=("job",), topic=topic)
