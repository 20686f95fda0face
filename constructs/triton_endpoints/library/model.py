"""Model data as plain props: what is in S3 already, packed by whoever keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from aws_cdk import Fn
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from triton_endpoints.library.engine import Engine, engine_keys
from triton_endpoints.library.engine_builds import EngineBuilds
from triton_endpoints.library.support import EndpointSupport
from triton_endpoints.library.values import is_token
from triton_fleet.endpoint.resolved_endpoint import GivenData
from triton_fleet.findings import Finding
from triton_fleet.spec.endpoint import S3, Compression, Mode

ARCHIVE = "model"
"""The name of the one archive of a repository."""
_ARCHIVE = ".tar.gz"
_ASSET = ".gz"
"""The end of its name in the key of an asset of the CDK."""


@dataclass(frozen=True, kw_only=True)
class TritonModel:
    """A Triton model repository in S3 or in a folder, or a prefix with one archive for each target.

    Nothing is known of what archives in S3 hold, so the rules about models find nothing. A folder is checked
    as `fleet check` does.

    Attributes:
        model_data_url: `s3://BUCKET/KEY.tar.gz`, or a prefix that ends in a slash; may hold tokens. One that
            is a token as a whole is an archive, or the prefix of a multi-model endpoint.
        archives: The targets of a multi-model endpoint, without `.tar.gz`; None for a single repository.
        default_model: The model of a single repository that answers; None: its only one. Of a shared
            container: the route of calls that name none.
        encryption_key: The KMS key of the objects; the role is granted its use by S3.
        folder: A model repository that is packed at synth, in place of `model_data_url`.
        engines: TensorRT engines of the folder's models, which the deploy has built.
        engine_builds: What builds them.
        routes: The names by which callers of a shared container call its models; None for other modes.
        versions: The models of a shared container in S3, each with the versions that Triton loads.
    """

    model_data_url: str = ""
    archives: tuple[str, ...] | None = None
    default_model: str | None = None
    encryption_key: kms.IKey | None = None
    folder: Path | None = None
    engines: Mapping[str, Engine] = field(default_factory=dict)
    engine_builds: EngineBuilds | EndpointSupport | None = None
    routes: Mapping[str, str] | None = None
    versions: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @classmethod
    def single(
        cls, model_data_url: str, *, default_model: str | None = None, encryption_key: kms.IKey | None = None
    ) -> TritonModel:
        """One repository: an archive `s3://BUCKET/KEY.tar.gz`, or the files below `s3://BUCKET/PREFIX/`."""
        return cls(model_data_url=model_data_url, default_model=default_model, encryption_key=encryption_key)

    @classmethod
    def from_bucket(cls, bucket: s3.IBucket, key: str, *, default_model: str | None = None) -> TritonModel:
        """One repository in a bucket, whose key the role is granted.

        Args:
            bucket: The bucket.
            key: That of an archive `KEY.tar.gz`, or a prefix that ends in a slash.
            default_model: The model that answers; None: its only one.
        """
        return cls.single(
            bucket.s3_url_for_object(key), default_model=default_model, encryption_key=bucket.encryption_key
        )

    @classmethod
    def from_asset(
        cls,
        folder: str | Path,
        *,
        default_model: str | None = None,
        engines: Mapping[str, Engine] | None = None,
        engine_builds: EngineBuilds | EndpointSupport | None = None,
    ) -> TritonModel:
        """One repository in a folder, which the CDK publishes with the app, without a lock.

        Each synth packs it as `fleet publish` does, checks it, and names it by its content.

        With `engines`, the deploy of the stack waits until CodeBuild has built what the artifact bucket
        lacks, and the Model gets the files of the folder with the plans. CloudFormation waits an hour at
        most: after a build that takes longer, deploy again. Engines and model data are kept when the stack
        is deleted.

        Args:
            folder: The model repository, relative to the folder in which the app runs.
            default_model: The model that answers; None: its only one.
            engines: TensorRT engines to build, by the models that they are for.
            engine_builds: What builds them: an EngineBuilds, or an EndpointSupport that this app declares.
        """
        return cls(
            folder=Path(folder),
            default_model=default_model,
            engines=engines or {},
            engine_builds=engine_builds,
        )

    @classmethod
    def multi_model(
        cls, model_data_url: str, *, archives: Sequence[str], encryption_key: kms.IKey | None = None
    ) -> TritonModel:
        """The archives `ARCHIVE.tar.gz` below `s3://BUCKET/PREFIX/`, each a target model."""
        return cls(model_data_url=model_data_url, archives=tuple(archives), encryption_key=encryption_key)

    @classmethod
    def shared_container(
        cls,
        data: str | Path,
        *,
        routes: Mapping[str, str] | None = None,
        default_model: str | None = None,
        versions: Mapping[str, Sequence[int]] | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> TritonModel:
        """All models of one repository, which are loaded at the start and called by name.

        The image is the one that triton-fleet ships, which `cdk deploy` builds with Docker, or `image=` of
        the endpoint, which has to start the same program.

        Args:
            data: A folder, which is packed and checked at synth; or `s3://BUCKET/KEY.tar.gz`, or the files
                below `s3://BUCKET/PREFIX/`.
            routes: The names that callers use, each with its model; default: every model by its own name.
            default_model: The route of calls that name none; default: the only one.
            versions: For data in S3, of which nothing is known: its models, each with the versions that
                Triton loads, for all of which the container waits.
            encryption_key: The KMS key of data in S3.
        """
        common = cls(
            default_model=default_model,
            encryption_key=encryption_key,
            routes=routes or {},
            versions=versions or {},
        )
        if isinstance(data, str) and (data.startswith(S3) or is_token(data)):
            return replace(common, model_data_url=data)
        return replace(common, folder=Path(data))


def mode_of(model: TritonModel) -> Mode:
    """The hosting mode."""
    if model.routes is not None:
        return Mode.SHARED_CONTAINER
    return Mode.MULTI_MODEL if model.archives is not None else Mode.SINGLE


def model_keys(model: TritonModel) -> dict[str, object]:
    """The keys of a spec, in which a repository has a stand-in: nothing is packed."""
    default = {"default_model": model.default_model} if model.default_model is not None else {}
    mode = {"mode": mode_of(model).value}
    if model.archives is not None:
        entries = [{"archive": name, "repository": "."} for name in model.archives]
        return {**mode, "models": entries, **default}
    entry: dict[str, object] = {"archive": ARCHIVE, "repository": "."}
    if model.model_data_url.endswith("/") or model.engines:
        entry["compression"] = Compression.NONE.value
    if model.engines:
        entry["engines"] = engine_keys(model.engines)
    routes = {"routes": dict(model.routes)} if model.routes else {}
    return {**mode, "models": [entry], **routes, **default}


def given_data(url: str, key: kms.IKey | None, *, several: bool) -> GivenData:
    """Model data that somebody else keeps; `several` targets are below a prefix."""
    key_arn = key.key_arn if key else None
    if not _is_opaque(url):
        return GivenData(url, key_arn)
    path = Fn.select(1, Fn.split(S3, url))
    return GivenData(
        url,
        key_arn,
        path=f"{path}*" if several else path,
        bucket_name=Fn.select(0, Fn.split("/", path)),
    )


def _is_opaque(url: str) -> bool:
    """Whether only the deploy knows what an address names, so that it cannot be taken apart here."""
    return is_token(url) and not url.startswith(S3)


def url_findings(url: str, *, several: bool, files: bool | None = None) -> Iterator[Finding]:
    """Findings about an address of model data.

    Args:
        url: The address, which may hold tokens.
        several: Whether it is of a multi-model endpoint.
        files: Whether a single repository's files are given as they are; None: as the address ends.
    """
    is_prefix = several if files is None or several else files
    end = "/" if is_prefix else _ARCHIVE
    ends = ("/",) if several else (end,) if files is not None else ("/", _ASSET)
    if _is_opaque(url) or (url.startswith(S3) and "/" in url.removeprefix(S3) and url.endswith(ends)):
        return
    form = f"a prefix `{S3}BUCKET/PREFIX/`" if is_prefix else f"an archive `{S3}BUCKET/KEY{_ARCHIVE}`"
    message = f"`model_data_url` is {url!r}, which is not {form}"
    hint = "write the address of what is in S3; a prefix ends in a slash"
    yield Finding(code="FL219", message=message, hint=hint, file=Path("model_data_url"))
