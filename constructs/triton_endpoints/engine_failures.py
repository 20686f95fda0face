"""Who hears of builds of engines that failed: those who hear of warnings, as all that serves goes on."""

from __future__ import annotations

from aws_cdk import aws_events as events
from constructs import Construct

from fleet.resolve.endpoint import Place
from fleet.spec.alarms import Severity

SEVERITY: Severity = "warning"
FAILED = ("FAILED", "FAULT", "TIMED_OUT")
"""STOPPED is not among them: whoever stops a build knows."""
TEXT = (
    '"The build of a TensorRT engine ended as <status> (<project>). All that serves goes on; what was to be'
    ' deployed with the engine is not published. It was told: <request>. Its log: <log>"'
)
_TOLD = "$.detail.additional-information"
PATHS = {
    "status": "$.detail.build-status",
    "project": "$.detail.project-name",
    "request": f"{_TOLD}.environment.environment-variables[0].value",
    "log": f"{_TOLD}.logs.deep-link",
}
"""Source: CodeBuild user guide, sample-build-notifications-ref.html."""


class EngineFailures(Construct):
    """A rule of EventBridge that publishes to the topic of warnings, which lets it by the rule's name."""

    def __init__(self, scope: Construct, id: str, *, place: Place, topic: str) -> None:
        super().__init__(scope, id)
        events.CfnRule(
            self,
            "Resource",
            name=place.engine_failures,
            description=f"Builds of engines of {place.environment} that failed",
            event_pattern={
                "source": ["aws.codebuild"],
                "detail-type": ["CodeBuild Build State Change"],
                "detail": {
                    "build-status": list(FAILED),
                    "project-name": [place.engine_project("gpu"), place.engine_project("job")],
                },
            },
            targets=[
                events.CfnRule.TargetProperty(
                    id=SEVERITY,
                    arn=topic,
                    input_transformer=events.CfnRule.InputTransformerProperty(
                        input_paths_map=PATHS, input_template=TEXT
                    ),
                )
            ],
        )
