"""Rules about data capture."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.endpoint import Mode


@rule(
    "FL343",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-deploy-feature-matrix.html",
)
def capture_in_multi_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """Only endpoints that host a single model have data capture.

    AWS's feature matrix lists data capture and Model Monitor for single-model endpoints, not for multi-model
    ones, although the API accepts both.
    """
    spec = endpoint.spec
    if spec.capture is not None and spec.mode is Mode.MULTI_MODEL:
        message = "AWS lists data capture for endpoints with a single model, not for mode `multi-model`"
        hint = 'leave it out, or try it once and write `allow: {capture-in-multi-model: "tried on …"}`'
        yield Problem(("capture",), message, hint)
