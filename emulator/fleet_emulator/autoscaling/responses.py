"""Application Auto Scaling's API calls that moto does not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse
from moto.applicationautoscaling.urls import url_bases

if TYPE_CHECKING:
    from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling

__all__ = ["EmbeddedAutoScalingResponse", "url_bases", "url_paths"]


class EmbeddedAutoScalingResponse(ApplicationAutoScalingResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def describe_scaling_activities(self) -> str:
        """DescribeScalingActivities, the newest first; all on one page."""
        names = ("ServiceNamespace", "ResourceId", "ScalableDimension")
        backend = cast("EmbeddedAutoScaling", self.applicationautoscaling_backend)
        return json.dumps({"ScalingActivities": backend.activities.answers(*map(self._get_param, names))})


url_paths = {"{0}/$": EmbeddedAutoScalingResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
