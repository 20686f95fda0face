"""All that the emulator takes from the product; no other module of it imports `fleet`."""

from __future__ import annotations

from triton_fleet.awsapi.emulator import Keys, local_session, local_variables
from triton_fleet.builds.engines.endpoint_engines import expected_tensorrt
from triton_fleet.catalog.images import Image, image, regions_of, release, releases
from triton_fleet.catalog.instances import Instance, instance, instance_types
from triton_fleet.catalog.limits import all_instances_quota, instance_quota
from triton_fleet.catalog.properties import property_at
from triton_fleet.process_guard import start_with_guard
from triton_fleet.repository.unpacking import UnpackingError, budget_of_disk, unpack_zip
from triton_fleet.spec.schedule import time_zones

__all__ = [
    "Image",
    "Instance",
    "Keys",
    "UnpackingError",
    "all_instances_quota",
    "budget_of_disk",
    "expected_tensorrt",
    "image",
    "instance",
    "instance_quota",
    "instance_types",
    "local_session",
    "local_variables",
    "property_at",
    "regions_of",
    "release",
    "releases",
    "start_with_guard",
    "time_zones",
    "unpack_zip",
]
