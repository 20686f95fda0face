"""Notifies those who get warnings of builds that failed; every endpoint keeps serving."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_events as events
from constructs import Construct

from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.deployment import BuildKind, Deployment

SEVERITY: AlarmSeverity = "warning"
FAILED = ("FAILED", "FAULT", "TIMED_OUT")
"""STOPPED is not among them: the person who stops a build knows."""
TEXT = (
    '"The build of WHAT ended as <status> (<endpoint>, <request>). Running endpoints are not affected;'
    ' the pending release is not published. Build: <build>. Log: <log>"'
)
_REASON_PATH = "$.detail.additional-information"
_VARIABLES = f"{_REASON_PATH}.environment.environment-variables"
NOUNS = {"engine": "a TensorRT engine", "image": "a container image"}
PATHS = {
    "status": "$.detail.build-status",
    "build": "$.detail.build-id",
    "request": f"{_VARIABLES}[0].value",
    "endpoint": f"{_VARIABLES}[1].value",
    "log": f"{_REASON_PATH}.logs.deep-link",
}
"""EventBridge escapes nothing: only what never has a quotation mark or a backslash may be here. The variables
are those of StartBuild, an address in S3 and a name.

Source: CodeBuild user guide, sample-build-notifications-ref.html.
"""


class BuildFailures(Construct):
    """A rule of EventBridge that publishes to the topic of warnings, which lets EventBridge publish."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        deployment: Deployment,
        what: str,
        projects: Sequence[BuildKind],
        topic: str,
    ) -> None:
        """Declare the rule.

        Args:
            scope: The parent.
            id: The construct's own.
            deployment: The environment.
            what: What is built, in the singular: `engine` or `image`.
            projects: The projects that build it.
            topic: The ARN of who is notified.
        """
        super().__init__(scope, id)
        events.CfnRule(
            self,
            "Resource",
            name=deployment.build_failures(what),
            description=f"Failed {what} builds of {deployment.environment}",
            event_pattern={
                "source": ["aws.codebuild"],
                "detail-type": ["CodeBuild Build State Change"],
                "detail": {
                    "build-status": list(FAILED),
                    "project-name": [deployment.build_project(project) for project in projects],
                },
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id=SEVERITY,
                    arn=topic,
                    input_transformer=events.CfnRule.InputTransformerProperty(
                        input_paths_map=PATHS, input_template=TEXT.replace("WHAT", NOUNS[what])
                    ),
                )
            ],
        )
