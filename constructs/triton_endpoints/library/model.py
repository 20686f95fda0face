"""Model data as plain props: what is in S3 already, packed by whoever keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from aws_cdk import Fn
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from triton_endpoints.library.values import is_token
from triton_fleet.endpoint.resolved_endpoint import GivenData
from triton_fleet.findings import Finding
from triton_fleet.spec.endpoint import S3
from triton_fleet.spec.lock import LockedArchive

if TYPE_CHECKING:
    from triton_fleet.store.archive import Checksums

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
        default_model: The model of a single repository that answers; None: its only one.
        encryption_key: The KMS key of the objects; the role is granted its use by S3.
        folder: A model repository that is packed at synth, in place of `model_data_url`.
    """

    model_data_url: str = ""
    archives: tuple[str, ...] | None = None
    default_model: str | None = None
    encryption_key: kms.IKey | None = None
    folder: Path | None = None

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
    def from_asset(cls, folder: str | Path, *, default_model: str | None = None) -> TritonModel:
        """One repository in a folder, which the CDK publishes with the app, without a lock.

        Each synth packs it as `fleet publish` does, checks it, and names it by its content.

        Args:
            folder: The model repository, relative to the folder in which the app runs.
            default_model: The model that answers; None: its only one.
        """
        return cls(folder=Path(folder), default_model=default_model)

    @classmethod
    def multi_model(
        cls, model_data_url: str, *, archives: Sequence[str], encryption_key: kms.IKey | None = None
    ) -> TritonModel:
        """The archives `ARCHIVE.tar.gz` below `s3://BUCKET/PREFIX/`, each a target model."""
        return cls(model_data_url=model_data_url, archives=tuple(archives), encryption_key=encryption_key)


def model_keys(model: TritonModel) -> dict[str, object]:
    """The keys of a spec, in which a repository has a stand-in: nothing is packed."""
    default = {"default_model": model.default_model} if model.default_model is not None else {}
    if model.archives is not None:
        entries = [{"archive": name, "repository": "."} for name in model.archives]
        return {"mode": "multi-model", "models": entries, **default}
    files = {"compression": "none"} if model.model_data_url.endswith("/") else {}
    return {"mode": "single", "models": [{"archive": "model", "repository": ".", **files}], **default}


def packed_asset(scope: Construct, folder: Path) -> tuple[LockedArchive, s3_assets.Asset]:
    """A folder as an archive that the CDK publishes, named by its content, and what a lock has of it.

    Raises:
        FindingsError: the folder cannot be read or packed, or the container would not serve it.
    """
    # They are needed here alone, and take a fifth of a second.
    from triton_fleet.store.archive import pack
    from triton_fleet.store.sources.folder import FolderSource

    source = FolderSource.of(folder)
    source.served_models()  # refused before the weights are read, which happens once
    size = sum(size or 0 for _, size in source.contents.packed_entries)
    checksums: list[Checksums] = []
    with TemporaryDirectory() as temporary:
        file = Path(temporary, f"model{_ARCHIVE}")
        with file.open("wb") as sink:
            stream = pack(lambda tar: checksums.append(source.write(tar)), sink, size)
        digest = stream.digest.rpartition(":")[2]
        asset = s3_assets.Asset(scope, "Archive", path=str(file), asset_hash=digest)
    archive = LockedArchive(digest=stream.digest, size=stream.size, models=source.models(*checksums))
    return archive, asset


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
