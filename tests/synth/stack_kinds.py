"""A template of each kind of stack, so that all roles and all of their statements are in one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.resources import MULTI_MODEL, ROLLOUT, STACK
from tests.synth.shipped_specs import deployed_spec

FOUNDATION = "triton-fleet-dev"
BOUNDARY = "arn:aws:iam::111122223333:policy/ml-platform-boundary"
SCALING_KEYS = "scaling: {min: 1, max: 4, invocations_per_instance: 60}\n"
LIVE = MULTI_MODEL.replace("mode:", "archive_set: live\nmode:").replace("{archive:", "{version: 1, archive:")
WATCHED_KEYS = f"{SCALING_KEYS}{ROLLOUT}\nalarms: {{latency_p99: 200ms}}\n"
NETWORK = "network: {subnets: [subnet-00000001, subnet-00000002], security_groups: [sg-00000001]}\n"
OWN_IMAGE = f"""\
image:
  uri: 111122223333.dkr.ecr.us-east-1.amazonaws.com/detector
  digest: sha256:{0:064}
"""
ALLOWED_NETWORKS = """\
allowed_networks: [subnet-00000001, subnet-00000002, sg-00000001]
allowed_invokers: ["444455556666"]
"""
CAPTURE_KEYS = f"{NETWORK}capture: {{sample: 10%}}\n"
INVOCATION_KEYS = """\
container: {inference_type: generate_stream}
access: {invokers: ["arn:aws:iam::444455556666:role/search"]}
"""
GUARD_KEYS = f"""\
kms_key: arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555
permissions_boundary: {BOUNDARY}
allowed_registries: ["444455556666"]
notifications:
  warning: [team@example.com]
  critical: ["arn:aws:sqs:us-east-1:111122223333:pages", "arn:aws:lambda:us-east-1:111122223333:function:page"]
access:
  github: {{repository: example@1/fleet@23, promotes_to: [prod]}}
  gitlab: {{project: example/fleet, provider: "arn:aws:iam::111122223333:oidc-provider/gitlab.com"}}
"""
FOUNDATION_WITH_GUARDS = (
    "Foundation in an environment with a key, a boundary, subscribers and repositories that deploy it"
)
SCALING = "An endpoint of one model, with scaling, a rollout and alarms"
VOLUMES = "The same on volumes, with an invoker, in an environment with a key and a boundary"
BOUNDED_STACKS = (FOUNDATION_WITH_GUARDS, VOLUMES)
ENDPOINTS = {
    SCALING: (SPEC, WATCHED_KEYS, ""),
    "An endpoint of one model that publishes no metrics of Triton's": (
        SPEC,
        "metrics: {triton: false}\n",
        "",
    ),
    "A multi-model endpoint": (MULTI_MODEL, SCALING_KEYS, ""),
    "A multi-model endpoint whose set of archives is live": (LIVE, "", ""),
    "An endpoint with an image of its own": (SPEC, OWN_IMAGE, ""),
    "An endpoint in a VPC that captures calls": (SPEC, CAPTURE_KEYS, ALLOWED_NETWORKS),
    VOLUMES: (SPEC.replace("g5", "c5"), CAPTURE_KEYS + INVOCATION_KEYS, GUARD_KEYS + ALLOWED_NETWORKS),
}
"""The spec, further keys of it, and further keys of its environment."""
FOUNDATIONS = {"Foundation": SCALING, FOUNDATION_WITH_GUARDS: VOLUMES}
"""Beside which endpoint each is made; it knows none."""


@cache
def stack_kinds() -> dict[str, dict[str, Any]]:
    """A template of each kind, by what it is called; synthesised once for all tests of a process."""
    values = {title: synth_templates(*keys) for title, keys in ENDPOINTS.items()}
    foundations = {title: values[endpoint][FOUNDATION] for title, endpoint in FOUNDATIONS.items()}
    return foundations | {title: stacks[STACK] for title, stacks in values.items()}


def synth_templates(base: str, keys: str, environment: str) -> dict[str, dict[str, Any]]:
    with TemporaryDirectory() as root:
        folder = FleetFolder(Path(root))
        folder.spec(keys, base=base)
        folder.environment(environment)
        folder.lock()
        return deployed_spec(folder.root, "dev")
