"""Two stacks of a CDK app: one with the CDK's providers of custom resources, one with such resources."""

from __future__ import annotations

import sys
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_ssm as ssm
from aws_cdk.custom_resources import Provider

ENVIRONMENT = cdk.Environment(account="123456789012", region="us-east-1")
VARIANTS = ("first", "changed")


class SharedStack(cdk.Stack):
    """A provider with one handler, and one that waits; their service tokens are in the parameter store."""

    def __init__(self, app: cdk.App) -> None:
        super().__init__(app, "Shared", env=ENVIRONMENT)
        on_event = self._function("OnEvent", "recorder.handler.on_event")
        is_complete = self._function("IsComplete", "recorder.handler.is_complete")
        plain = Provider(self, "Plain", on_event_handler=on_event)
        waiting_provider = Provider(
            self,
            "Waiting",
            on_event_handler=on_event,
            is_complete_handler=is_complete,
            query_interval=cdk.Duration.seconds(10),
            total_timeout=cdk.Duration.minutes(2),
        )
        for name, provider in {"plain": plain, "waiting": waiting_provider}.items():
            ssm.StringParameter(
                self, f"Token-{name}", parameter_name=f"/tokens/{name}", string_value=provider.service_token
            )

    def _function(self, id: str, handler: str) -> lambda_.Function:
        code = lambda_.Code.from_asset(
            str(Path(__file__).parent),
            exclude=["*", "!recorder", "!recorder/*.py"],
            ignore_mode=cdk.IgnoreMode.GIT,
        )
        return lambda_.Function(
            self,
            id,
            runtime=lambda_.Runtime.PYTHON_3_12,
            handler=handler,
            code=code,
            timeout=cdk.Duration.seconds(20),
            environment={"BUCKET": "data"},
        )


class UsingStack(cdk.Stack):
    """A custom resource of each provider."""

    def __init__(self, app: cdk.App, variant: str) -> None:
        super().__init__(app, "Using", env=ENVIRONMENT)
        for name in ("plain", "waiting"):
            token = ssm.StringParameter.value_for_string_parameter(self, f"/tokens/{name}")
            resource = cdk.CustomResource(
                self,
                name.title(),
                service_token=token,
                resource_type="Custom::Thing",
                properties={"Id": name, "Variant": variant},
            )
            resource.node.default_child.override_logical_id(name.title())  # type: ignore[union-attr]
            cdk.CfnOutput(self, f"{name}Greeting", value=resource.get_att_string("Greeting"))


def synthesize(folder: Path) -> None:
    """Write one cloud assembly for each variant."""
    for variant in VARIANTS:
        app = cdk.App(outdir=str(folder / variant), builtin_cloud_formation_validation=False)
        shared_files = SharedStack(app)
        UsingStack(app, variant).add_stack_dependency(shared_files)
        app.synth()


if __name__ == "__main__":
    synthesize(Path(sys.argv[1]))
