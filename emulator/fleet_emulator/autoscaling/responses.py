"""Application Auto Scaling's API calls that moto does not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.applicationautoscaling.responses import ApplicationAutoScalingResponse
from moto.applicationautoscaling.urls import url_bases

if TYPE_CHECKING:
    from fleet_emulator.autoscaling.backend import EmbeddedAutoScaling

_TARGET = ("ServiceNamespace", "ResourceId", "ScalableDimension")

__all__ = ["EmbeddedAutoScalingResponse", "url_bases", "url_paths"]


class EmbeddedAutoScalingResponse(ApplicationAutoScalingResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def register_scalable_target(self) -> str:
        """RegisterScalableTarget with its tags, which moto does not read."""
        self._validate_params()
        target = self._backend.register_scalable_target(
            *map(self._get_param, _TARGET),
            *map(self._get_int_param, ("MinCapacity", "MaxCapacity")),
            *map(self._get_param, ("RoleARN", "SuspendedState", "Tags")),
        )
        return json.dumps({"ScalableTargetARN": target.arn})

    def list_tags_for_resource(self) -> str:
        """ListTagsForResource of a scalable target."""
        return json.dumps({"Tags": self._backend.tags.of(self._get_param("ResourceARN"))})

    def tag_resource(self) -> str:
        """TagResource of a scalable target."""
        self._backend.tags.of(self._get_param("ResourceARN")).update(self._get_param("Tags"))
        return "{}"

    def untag_resource(self) -> str:
        """UntagResource of a scalable target."""
        self._backend.tags.remove(self._get_param("ResourceARN"), self._get_param("TagKeys"))
        return "{}"

    def describe_scaling_activities(self) -> str:
        """DescribeScalingActivities, the newest first; all on one page."""
        return json.dumps(
            {"ScalingActivities": self._backend.activities.answers(*map(self._get_param, _TARGET))}
        )

    @property
    def _backend(self) -> EmbeddedAutoScaling:
        return cast("EmbeddedAutoScaling", self.applicationautoscaling_backend)


url_paths = {"{0}/$": EmbeddedAutoScalingResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
