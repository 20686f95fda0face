"""The part of the version policy that can be checked without the versions.

Source: triton-inference-server/core, r26.06, src/model_repository_manager/model_lifecycle.cc, AsyncLoad and
VersionsToLoad.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL426"
NONE_LOADED = "at least one version must be available under the version policy of model '{}'"


def version_policy(config: ParsedConfig) -> Iterator[Finding]:
    """A policy that takes no version at all, or no version that there can be."""
    policy = config.message.version_policy
    choice = policy.WhichOneof("policy_choice")
    message = NONE_LOADED.format(config.name)
    if choice == "latest" and policy.latest.num_versions == 0:
        hint = "write `latest { num_versions: 1 }`, or leave the policy out"
        yield config.finding(CODE, message, "version_policy", hint=hint)
    if choice == "specific" and not any(version >= 0 for version in policy.specific.versions):
        hint = "name the versions: `specific { versions: [ 1 ] }`"
        yield config.finding(CODE, message, "version_policy", hint=hint)
