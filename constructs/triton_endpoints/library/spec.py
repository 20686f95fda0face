"""The spec of a construct: plain props that become one in memory, or a file with its lock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aws_cdk import aws_kms as kms
from constructs import Construct

from triton_endpoints.engines.assembly import AssembledModel
from triton_endpoints.library.engine_builds import assembler_of
from triton_endpoints.library.environment import prop_name, source_of_props
from triton_endpoints.library.keys import yaml_value
from triton_endpoints.library.model import ARCHIVE, TritonModel, given_data, mode_of, model_keys, url_findings
from triton_endpoints.library.props import Alarms, Instance, Scaling
from triton_endpoints.library.repository import FolderData, folder_data
from triton_endpoints.library.values import Values, is_token
from triton_fleet.endpoint.locks import read_lock_file
from triton_fleet.endpoint.resolved_endpoint import GivenData, ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.project.reader import read_source
from triton_fleet.project.spec_files import root_of
from triton_fleet.spec.endpoint import S3, Compression, EndpointSpec, Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import NO_DIGEST, Lock, LockedArchive, LockedModel
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
    ("routes",): "model.routes",
    ("models", 0, "repository"): "model.folder",
}
"""Names of props by their keys, where the two differ."""


KEY = re.compile(
    rf"`({'|'.join(re.escape('.'.join(map(str, path))) for path in sorted(NAMES, reverse=True))})([`.\[])"
)
"""One of these keys at the beginning of what a message quotes."""


@dataclass(frozen=True)
class SpecData:
    """Where an endpoint's model data is: in a lock's archives, or given; and what is wrong with that.

    `assemble` declares what puts the data of a resolved endpoint there during the deploy.
    """

    lock: Lock | None
    model_data: GivenData | None
    findings: list[Finding]
    assemble: Callable[[ResolvedEndpoint], GivenData] | None = None


@dataclass(frozen=True, kw_only=True)
class PropsSpec:
    """The props of a construct.

    Attributes:
        sections: Further keys of a spec; what is None or empty has the spec's default.
    """

    endpoint_name: str
    triton: str
    instance: Instance
    model: TritonModel
    scaling: Scaling | None = None
    alarms: Alarms | None = None
    is_isolated: bool = False
    sections: Mapping[str, object] = field(default_factory=dict)

    def sources(self, values: Values) -> list[Source]:
        """The spec, each key at its prop, with each of the stand-ins for its values."""
        data: dict[str, object] = {
            "endpoint": self.endpoint_name,
            "triton": self.triton,
            **model_keys(self.model),
            "instance": yaml_value(self.instance),
            "alarms": yaml_value(self.alarms),
            **({"scaling": yaml_value(self.scaling)} if self.scaling else {}),
            **({"network": {"isolated": True}} if self.is_isolated else {}),
            **{
                key: yaml_value(value)
                for key, value in self.sections.items()
                if value not in (None, (), [], {})
            },
        }
        names = {**NAMES, **self._engine_names()}
        documents = values.documents(data, lambda path: prop_name(path, names))
        return [source_of_props(document, names, "") for document in documents]

    def _engine_names(self) -> dict[KeyPath, str]:
        """The props of engines, which a spec has in a list."""
        return {
            ("models", 0, "engines", number): f"model.engines.{model}"
            for number, model in enumerate(self.model.engines)
        }

    def in_props(self, finding: Finding) -> Finding:
        """A finding whose message names props, where it is about one."""
        if finding.line != 0 or finding.place.partition(".")[0] == "environment":
            return finding
        message = KEY.sub(lambda match: f"`{prop_name(_path(match[1]), NAMES)}{match[2]}", finding.message)
        return replace(finding, message=message)

    def data(self, scope: Construct, loaded_spec: LoadedSpec, environment: Environment) -> SpecData:
        """The model data in S3, and the lock of a folder that is packed.

        Raises:
            FindingsError: the folder cannot be packed, or nothing can build its engines.
        """
        model = self.model
        wrong = [*self._engine_findings(), *self._version_findings()]
        if wrong:
            raise FindingsError(wrong)
        if model.folder is None:
            several = model.archives is not None
            wrong = [
                replace(address_issue, file=Path("model.model_data_url"))
                for address_issue in url_findings(model.model_data_url, several=several)
            ]
            data = given_data(model.model_data_url, model.encryption_key, several=several)
            return SpecData(self._lock_of_versions(loaded_spec.spec), data, wrong)
        folder = folder_data(scope, model.folder, loaded_spec, environment)
        if folder.archive is not None:
            url = f"{S3}{folder.archive.s3_bucket_name}/{folder.archive.s3_object_key}"
            return SpecData(folder.lock, given_data(url, None, several=False), folder.findings)
        return self._with_engines(scope, folder)

    def _with_engines(self, scope: Construct, folder: FolderData) -> SpecData:
        """The data of a folder whose engines a deploy builds."""
        builds, assets = self.model.engine_builds, folder.assets
        assembler = assembler_of(builds) if builds is not None else None
        unknown = given_data(f"{S3}unresolved/", None, several=False)
        if assembler is None or assets is None:  # the builds themselves report why
            return SpecData(folder.lock, unknown, folder.findings)

        def assemble(endpoint: ResolvedEndpoint) -> GivenData:
            own, builder = endpoint.deployment, assembler.deployment
            if (own.account, own.region) != (builder.account, builder.region):
                message = (
                    f"`model.engine_builds` is of account {builder.account} and region {builder.region!r},"
                    f" and the stack of {own.account} and {own.region!r}"
                )
                hint = "declare an EngineBuilds in a stack of that account and region"
                raise FindingsError([Finding(code="FL608", message=message, hint=hint)])
            resource = AssembledModel(
                scope, "Assembly", assembler=assembler, endpoint=endpoint, assets=assets
            )
            return resource.model_data

        return SpecData(folder.lock, unknown, folder.findings, assemble)

    def _engine_findings(self) -> list[Finding]:
        """Mistakes of engines: nobody builds them, or their keys cannot be computed."""
        if not self.model.engines:
            return []
        findings = []
        if self.model.engine_builds is None:
            message = "`model.engines` has engines to build, and `model.engine_builds` is not given"
            hint = "give an EngineBuilds, or the EndpointSupport that this app declares"
            findings.append(Finding(code="FL608", message=message, hint=hint))
        for model, engine in self.model.engines.items():
            if str(engine.onnx).startswith(S3):
                message = f"{engine.onnx} is in S3, and a deploy builds from files that the app publishes"
                hint = "download the ONNX model, and name its file"
                place = Path(f"model.engines.{model}.onnx")
                findings.append(Finding(code="FL370", message=message, hint=hint, file=place))
        values = {
            "instance.type": self.instance.type,
            "triton": self.triton,
            "image": self.sections.get("image_digest"),
        }
        for name, value in values.items():
            if is_token(value):
                message = (
                    f"the deploy decides `{name}`, of which the synth has to compute the keys of engines"
                )
                findings.append(Finding(code="FL616", message=message, hint="write the value itself"))
        return findings

    def _version_findings(self) -> list[Finding]:
        """A shared container in S3 without versions, for which it could not wait; or a folder with some."""
        model, place = self.model, Path("model.versions")
        numbers = [(name, number) for name, versions in model.versions.items() for number in versions]
        if wrong := [_version_finding(*pair) for pair in numbers if not _is_version(pair[1])]:
            return wrong
        if mode_of(model) is not Mode.SHARED_CONTAINER or bool(model.versions) is (model.folder is None):
            return []
        message = "nothing shows which versions of the models in S3 Triton loads"
        hint = 'write `versions={"MODEL": [1]}` with each model: the container waits until all are ready'
        if model.folder is not None:
            message, hint = "the versions of models in a folder are those of its files", "leave it out"
        return [Finding(code="FL735", message=message, hint=hint, file=place)]

    def _lock_of_versions(self, spec: EndpointSpec) -> Lock | None:
        """The models of a shared container in S3, as a lock would have them."""
        if not self.model.versions:
            return None
        models = {
            name: LockedModel(versions=tuple(map(str, sorted(versions))))
            for name, versions in self.model.versions.items()
        }
        return Lock(
            endpoint=spec.endpoint,
            archives={ARCHIVE: LockedArchive(digest=NO_DIGEST, size=0, models=models)},
        )


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

    def data(self, scope: Construct, loaded_spec: LoadedSpec, environment: Environment) -> SpecData:
        """The data of the lock, or the data that replaces it."""
        spec = loaded_spec.spec
        if self.model_data_url is None:
            name = environment.environment
            lock, wrong = read_lock_file(self._lock_file(spec, name), name, spec)
            return SpecData(lock, None, wrong)
        several = spec.mode is Mode.MULTI_MODEL
        files = None if several else spec.models[0].compression is Compression.NONE
        wrong = list(url_findings(self.model_data_url, several=several, files=files))
        if spec.mode is Mode.SHARED_CONTAINER:
            message = (
                "`model_data_url` replaces the lock, which has the versions for which the container waits"
            )
            hint = "leave it out, or give `TritonModel.shared_container` the `versions` of its models"
            wrong.append(Finding(code="FL735", message=message, hint=hint, file=Path("model_data_url")))
        return SpecData(None, given_data(self.model_data_url, self.model_data_key, several=several), wrong)

    def _lock_file(self, spec: EndpointSpec, environment: str) -> Path:
        if self.lock is not None:
            return self.lock
        name, fleet = f"{spec.endpoint}.lock.yaml", root_of(self.file)
        return self.file.parent / name if fleet is None else fleet / "locks" / environment / name


def _is_version(number: float) -> bool:
    return isinstance(number, int) and number >= 0


def _version_finding(model: str, number: float) -> Finding:
    place = f"model.versions.{model}"
    if is_token(number):
        message = f"the deploy decides `{place}`, of which the synth has to compute what the container loads"
        return Finding(code="FL616", message=message, hint="write the value itself", file=Path(place))
    message = f"`{place}` has {number}, and a version is a whole number, at least 0"
    return Finding(code="FL112", message=message, hint="write the name of its folder", file=Path(place))


def _path(key: str) -> KeyPath:
    return tuple(key.split("."))
