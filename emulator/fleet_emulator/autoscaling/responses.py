"""Application Auto Scaling's API calls that moto does not know."""

from __future__ import annotations

import json

from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse
from moto.applicationautoscaling.urls import url_bases

__all__ = ["EmbeddedAutoScalingResponse", "url_bases", "url_paths"]


class EmbeddedAutoScalingResponse(ApplicationAutoScalingResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def describe_scaling_activities(self) -> str:
        """DescribeScalingActivities: there are none, as nothing scales by itself here."""
        return json.dumps({"ScalingActivities": []})


url_paths = {"{0}/$": EmbeddedAutoScalingResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
