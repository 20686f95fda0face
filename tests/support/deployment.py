"""Where the environment `dev` of most tests is."""

from __future__ import annotations

from triton_fleet.catalog.images import partition_of
from triton_fleet.spec.deployment import Deployment

ACCOUNT, REGION = "123456789012", "us-east-1"
DEPLOYMENT = Deployment(
    environment="dev", account=ACCOUNT, region=REGION, partition=partition_of(REGION), tags={}
)
