"""Two values of every key of an environment, and of those of a spec that act elsewhere; and what they change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from aws_cdk import App

from fleet_stacks.fleet_app import EndpointStack, add_fleet
from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.flips import Flip, archive, engine, flip
from triton_fleet.check.run import all_findings
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.local.supervisor import Limits
from triton_fleet.project.project import open_project
from triton_fleet.store.images.source import image_source
from triton_fleet.store.lock import write_locks

Observation: TypeAlias = Callable[[FleetFolder, str], object]
"""What a fleet leads to in an environment."""


def template(folder: FleetFolder, environment: str) -> object:
    """The endpoint's template; Foundation's knows no endpoint."""
    app = App()
    EndpointStack(app, endpoint=folder.resolve(environment))
    return app.synth().stacks[0].template


def templates(folder: FleetFolder, environment: str) -> object:
    """Foundation's and the endpoint's."""
    app = App()
    add_fleet(app, resolve_project(open_project(folder.root, environment)))
    return [stack.template for stack in app.synth().stacks]


def protection(folder: FleetFolder, environment: str) -> object:
    """Whether the endpoint's stack is protected against deletion, which no template has in it."""
    app = App()
    return EndpointStack(app, endpoint=folder.resolve(environment)).termination_protection


def lock(folder: FleetFolder, environment: str) -> object:
    """The lock that is written of the repositories."""
    project = open_project(folder.root, environment)
    write_locks(project)
    return project.lock_file(project.endpoints[0]).read_text()


def keys_in_the_bucket(folder: FleetFolder, environment: str) -> object:
    return [archive.key for archive in folder.resolve(environment).archives]


def image_key(folder: FleetFolder, environment: str) -> object:
    """The key of the image that the endpoint builds, of folders with a model's labels each."""
    for name in ("detector", "reader"):
        folder.write(f"images/{name}/Dockerfile", DOCKERFILE)
        folder.write(f"images/{name}/labels.txt", name)
    project = open_project(folder.root, environment)
    source = image_source(project.load(project.endpoints[0]), project.environment)
    return source.key if source else None


def build_concurrency(folder: FleetFolder, environment: str) -> object:
    """How many builds a publish has under way; that it does so is in test_engine_starts.py."""
    return open_project(folder.root, environment).environment.engine_builds.at_once


def finding(code: str) -> Observation:
    """Whether `fleet check` finds something of the code."""

    def observe(folder: FleetFolder, environment: str) -> object:
        findings = all_findings(open_project(folder.root, environment), trusts_locks=code != STALE)
        return code in {finding.code for finding in findings}

    return observe


def shared_repository(folder: FleetFolder, environment: str) -> object:
    """Whether another owner's spec may name the repository, too."""
    text = SPEC.replace("endpoint: sentences", "endpoint: other")
    owner = 'owner: {team: other, contact: other@example.com, shared_with: ["search@example.com"]}\n'
    folder.write("model_specs/other.yaml", text + owner)
    return finding("FL572")(folder, environment)


def limits(folder: FleetFolder, environment: str) -> object:
    """The values that the local endpoints may take."""
    return Limits(folder.root)()


def key(id: str) -> str:
    """The ARN of a KMS key."""
    return f"arn:aws:kms:us-east-1:111122223333:key/{id}"


def members(folder: FleetFolder, environment: str) -> object:
    """The endpoints that the environment has."""
    return open_project(folder.root, environment).endpoints


def merged_tags(folder: FleetFolder, environment: str) -> object:
    """The tags of the spec over the profiles that the fleet has."""
    for name in ("search", "ranking"):
        folder.write(f"profiles/{name}.yaml", f"tags: {{team: {name}}}\n")
    return open_project(folder.root, environment).load("sentences").spec.tags


STALE = "FL306"
DOCKERFILE = """\
ARG TRITON_IMAGE
FROM ${TRITON_IMAGE}
ARG LANG=en
ENV LANG=${LANG}
COPY labels.txt /opt/
"""
PLANS = {"embed": {"backend": "tensorrt", "plans": {"1/model.plan": "10.9.0.34"}}}
ELSEWHERE: Mapping[str, tuple[Flip, Observation]] = {
    "environments": (flip(["dev"], []), members),
    "profile": (flip("search", "ranking"), merged_tags),
    "owner.shared_with": (
        flip([], ["other@example.com"], owner={"team": "search", "contact": "search@example.com"}),
        shared_repository,
    ),
    "overrides": (
        flip({"dev": {"tags": {"team": "search"}}}, {"dev": {"tags": {"team": "ranking"}}}),
        merged_tags,
    ),
    "image.build": (flip("../images/detector", "../images/reader"), image_key),
    "image.args": (flip({"LANG": "en"}, {"LANG": "de"}, image={"build": "../images/detector"}), image_key),
    "models[].repository": (flip("../repository", "../other"), lock),
    "models[].digest": (
        flip(
            f"sha256:{sha256(b'sentences').hexdigest()}",
            f"sha256:{'b' * 64}",
            models=archive(repository="s3://models/a/"),
        ),
        finding(STALE),
    ),
    "models[].version": (
        flip(1, 2, mode="multi-model", archive_set="live"),
        keys_in_the_bucket,
    ),
    "models[].built_on": (Flip(first="ml.g5.xlarge", second="ml.g4dn.xlarge", facts=PLANS), finding("FL297")),
    "models[].engines[].model": (engine("embed", "rank"), finding("FL293")),
    "models[].engines[].onnx": (engine("m.onnx", "m.plan"), finding("FL112")),
    "models[].engines[].digest": (engine(None, f"sha256:{1:064}"), finding("FL397")),
    "models[].engines[].workspace": (engine("1GiB", "100GiB"), finding("FL390")),
    "models[].engines[].precision": (engine("fp16", "fp8"), finding("FL290")),
    "models[].engines[].shapes": (
        engine({"x": ["1x8", "4x8", "8x8"]}, {"x": ["1x8", "8x8", "4x8"]}),
        finding("FL292"),
    ),
    "models[].engines[].compatibility": (
        engine("none", "same-compute-capability", triton="24.09"),
        finding("FL291"),
    ),
    "language": (flip(1, 2), finding("FL112")),
    "allow": (
        flip({"FL204": "tried on 3 May"}, {"FL223": "tried on 3 May"}, instance={"type": "ml.g7e.2xlarge"}),
        finding("FL204"),
    ),
}
"""Keys of the spec that change no template."""


def allow_code(code: str, **keys: object) -> Observation:
    """Whether `fleet check` finds something of the code in a spec with further keys."""

    def observe(folder: FleetFolder, environment: str) -> object:
        (spec,) = (folder.root / "model_specs").glob("*.yaml")
        further = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
        if further not in spec.read_text():
            spec.write_text(f"{spec.read_text()}{further}")
        return finding(code)(folder, environment)

    return observe


def raw(resource: str, **properties: object) -> dict[str, object]:
    """The raw properties of a resource; `__` stands for a period."""
    return {resource: {name.replace("__", "."): value for name, value in properties.items()}}


ROLE = "arn:aws:iam::111122223333:role/reader"
PROVIDER = "arn:aws:iam::111122223333:oidc-provider/"
ENVIRONMENT_KEYS: Mapping[str, tuple[Any, Any, Observation]] = {
    "environment": ("dev", "qa", templates),
    "account": ("111122223333", "444455556666", templates),
    "region": ("us-east-1", "us-west-2", templates),
    "tags": ({"team": "search"}, {"team": "ranking"}, templates),
    "kms_key": (key("a"), key("b"), templates),
    "permissions_boundary": (
        "arn:aws:iam::111122223333:policy/a",
        "arn:aws:iam::111122223333:policy/b",
        templates,
    ),
    "artifact_bucket": ("bucket-a", "bucket-b", templates),
    "allowed_roles": ([], [ROLE], allow_code("FL346", cloudformation=raw("Model", ExecutionRoleArn=ROLE))),
    "allowed_registries": (
        [],
        ["registry.example.com"],
        allow_code(
            "FL349", cloudformation=raw("Model", PrimaryContainer__Image="registry.example.com/own:1")
        ),
    ),
    "allowed_invokers": ([], ["111122223333"], allow_code("FL570", access={"invokers": [ROLE]})),
    "allowed_networks": (
        ["subnet-00000001"],
        ["subnet-00000001", "sg-00000001"],
        allow_code("FL550", network={"subnets": ["subnet-00000001"], "security_groups": ["sg-00000001"]}),
    ),
    "protected_tags": ([], ["team"], allow_code("FL571", tags={"team": "search"})),
    "shell_access": (
        False,
        True,
        allow_code(
            "FL563", cloudformation=raw("EndpointConfig", ProductionVariants__0__EnableSSMAccess=True)
        ),
    ),
    "allowed_core_dumps": (
        [],
        ["s3://dumps"],
        allow_code(
            "FL564",
            cloudformation=raw(
                "EndpointConfig", ProductionVariants__0__CoreDumpConfig={"DestinationS3Uri": "s3://dumps/a"}
            ),
        ),
    ),
    "promoted_from": (None, "staging", members),
    "endpoints": (["sentences"], ["ranking*"], members),
    "access.github.repository": ("example@1/fleet@23", "example@1/models@24", templates),
    "access.github.former_repository": (None, "example/fleet", templates),
    "access.github.environment": ("dev", "development", templates),
    "access.github.branch": ("main", "trunk", templates),
    "access.github.promotes_to": ([], ["prod"], templates),
    "access.github.provider": (None, f"{PROVIDER}token.actions.githubusercontent.com", templates),
    "access.gitlab.project": ("example/fleet", "example/models", templates),
    "access.gitlab.branch": ("main", "trunk", templates),
    "access.gitlab.provider": (None, f"{PROVIDER}gitlab.com", templates),
    "defaults": ({"metrics": {"triton": True}}, {"metrics": {"triton": False}}, templates),
    "overrides": (
        {"sentences": {"instance": {"count": 1}}},
        {"sentences": {"instance": {"count": 2}}},
        templates,
    ),
    "notifications.warning": (["team@example.com"], ["others@example.com"], templates),
    "notifications.critical": (["team@example.com"], ["others@example.com"], templates),
    "notifications.owners": ({}, {"search": {"warning": ["search@example.com"]}}, templates),
    "engine_builds.timeout": ("1h", "2h", templates),
    "engine_builds.at_once": (4, 5, build_concurrency),
    "engine_builds.own_images": (False, True, templates),
    "runbook": ("https://wiki.example/a", "https://wiki.example/b", templates),
    "dashboards": (True, False, templates),
    "termination_protection": (False, True, protection),
    "local.model_memory": ("1GiB", "2GiB", limits),
    "local.model_disk": ("1GiB", "2GiB", limits),
}
"""Keys of an environment."""
