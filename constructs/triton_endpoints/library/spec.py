"""The spec of a construct: plain props that become one in memory, or a file with its lock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aws_cdk import aws_kms as kms
from constructs import Construct

from triton_endpoints.library.environment import prop_name, source_of_props
from triton_endpoints.library.model import TritonModel, given_data, model_keys, packed_asset, url_findings
from triton_endpoints.library.props import (
    Alarms,
    Capture,
    Instance,
    Rollout,
    Scaling,
    scaling_keys,
    spec_keys,
    yaml_value,
)
from triton_endpoints.library.values import Values
from triton_fleet.endpoint.locks import read_lock_file
from triton_fleet.endpoint.resolved_endpoint import GivenData
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.reader import read_source
from triton_fleet.project.spec_files import root_of
from triton_fleet.spec.endpoint import S3, Compression, EndpointSpec, Mode
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.source import KeyPath, Source

NAMES: Mapping[KeyPath, str] = {
    ("endpoint",): "endpoint_name",
    ("environment",): "container_environment",
    ("models",): "model.archives",
    ("mode",): "model",
    ("default_model",): "model.default_model",
    ("network", "isolated"): "isolated",
    ("network", "subnets"): "vpc_subnets",
    ("network", "security_groups"): "security_groups",
    ("network",): "vpc",
}
"""Names of props by their keys, where the two differ."""


KEY = re.compile(
    rf"`({'|'.join(re.escape('.'.join(map(str, path))) for path in sorted(NAMES, reverse=True))})([`.\[])"
)
"""One of these keys at the beginning of what a message quotes."""


@dataclass(frozen=True)
class SpecData:
    """Where an endpoint's model data is: in a lock's archives, or given; and what is wrong with that."""

    lock: Lock | None
    model_data: GivenData | None
    findings: list[Finding]


@dataclass(frozen=True, kw_only=True)
class PropsSpec:
    """The props of a construct; `sections` are keys of a spec that have no class of their own."""

    endpoint_name: str
    triton: str
    instance: Instance
    model: TritonModel
    scaling: Scaling | None = None
    rollout: Rollout | None = None
    alarms: Alarms | None = None
    capture: Capture | None = None
    is_isolated: bool = False
    sections: Mapping[str, object] = field(default_factory=dict)

    def sources(self, values: Values) -> list[Source]:
        """The spec, each key at its prop, with each of the stand-ins for its values."""
        nouns = {"instance": self.instance, "rollout": self.rollout, "capture": self.capture}
        data: dict[str, object] = {
            "endpoint": self.endpoint_name,
            "triton": self.triton,
            **model_keys(self.model),
            **{key: spec_keys(noun) for key, noun in nouns.items() if noun is not None},
            "alarms": spec_keys(self.alarms) if self.alarms is not None else None,
            **({"scaling": scaling_keys(self.scaling)} if self.scaling else {}),
            **({"network": {"isolated": True}} if self.is_isolated else {}),
            **{key: yaml_value(value) for key, value in self.sections.items() if value not in (None, [], {})},
        }
        documents = values.documents(data, lambda path: prop_name(path, NAMES))
        return [source_of_props(document, NAMES, "") for document in documents]

    def in_props(self, finding: Finding) -> Finding:
        """A finding whose message names props, where it is about one."""
        if finding.line != 0 or finding.place.partition(".")[0] == "environment":
            return finding
        message = KEY.sub(lambda match: f"`{prop_name(_path(match[1]), NAMES)}{match[2]}", finding.message)
        return replace(finding, message=message)

    def data(self, scope: Construct, spec: EndpointSpec, environment: str) -> SpecData:
        """The model data in S3, and the lock of a folder that is packed.

        Raises:
            FindingsError: the folder cannot be packed.
        """
        if self.model.folder is not None:
            archive, asset = packed_asset(scope, self.model.folder)
            lock = Lock(endpoint=spec.endpoint, archives={spec.packed_archives[0].name: archive})
            url = f"{S3}{asset.s3_bucket_name}/{asset.s3_object_key}"
            return SpecData(lock, given_data(url, None, several=False), [])
        wrong = [
            replace(address_issue, file=Path("model.model_data_url"))
            for address_issue in url_findings(
                self.model.model_data_url, several=self.model.archives is not None
            )
        ]
        model_data = given_data(
            self.model.model_data_url,
            self.model.encryption_key,
            several=self.model.archives is not None,
        )
        return SpecData(None, model_data, wrong)


@dataclass(frozen=True, kw_only=True)
class FileSpec:
    """A spec's file, with the lock or the model data of its endpoint."""

    file: Path
    lock: Path | None
    model_data_url: str | None
    model_data_key: kms.IKey | None

    def sources(self, values: Values) -> list[Source]:
        """The spec, each key at its place in the file.

        Raises:
            FindingsError: the file cannot be read.
        """
        return [read_source(self.file)]

    def in_props(self, finding: Finding) -> Finding:
        """As it is: a message about a file names its keys."""
        return finding

    def endpoint_name(self, default: str) -> str:
        """The name in the file; the default where it cannot be read."""
        try:
            return str(read_source(self.file).data.get("endpoint", default))
        except FindingsError:
            return default

    def data(self, scope: Construct, spec: EndpointSpec, environment: str) -> SpecData:
        """The data of the lock, or the data that replaces it."""
        if self.model_data_url is None:
            lock, wrong = read_lock_file(self._lock_file(spec, environment), environment, spec)
            return SpecData(lock, None, wrong)
        several = spec.mode is Mode.MULTI_MODEL
        files = None if several else spec.models[0].compression is Compression.NONE
        wrong = list(url_findings(self.model_data_url, several=several, files=files))
        return SpecData(None, given_data(self.model_data_url, self.model_data_key, several=several), wrong)

    def _lock_file(self, spec: EndpointSpec, environment: str) -> Path:
        if self.lock is not None:
            return self.lock
        name, fleet = f"{spec.endpoint}.lock.yaml", root_of(self.file)
        return self.file.parent / name if fleet is None else fleet / "locks" / environment / name


def _path(key: str) -> KeyPath:
    return tuple(key.split("."))
