"""Application Auto Scaling's API calls that moto does not know."""

from __future__ import annotations

import json

from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse


class EmbeddedAutoScalingResponse(ApplicationAutoScalingResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def describe_scaling_activities(self) -> str:
        """DescribeScalingActivities: there are none, as nothing scales by itself here."""
        return json.dumps({"ScalingActivities": []})
