"""Puts the inputs of an engine's build into the bucket before it starts."""

from __future__ import annotations

import base64
from functools import cached_property

from triton_fleet.awsapi.errors import CONFLICT, PRECONDITION_FAILED, SuppressErrors
from triton_fleet.builds.engines.artifacts import FAILURE, REQUEST, built_key, onnx_key
from triton_fleet.builds.engines.endpoint_engines import spec_engine
from triton_fleet.endpoint.engine_request import engine_request
from triton_fleet.findings import CannotRunError, Finding, FindingsError, collect_findings
from triton_fleet.project.project import Project
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.builds.script import ScriptUpload
from triton_fleet.store.content_store import digest_of
from triton_fleet.store.engines.onnx import OnnxFile, OnnxObject, onnx_of
from triton_fleet.store.engines.request import EngineUse, WantedEngine
from triton_fleet.store.sources.s3_object import s3_errors_as_findings
from triton_fleet.store.upload.archives import Uploads
from triton_fleet.store.upload.object import ContentChangedError, ObjectPlace

CHANGED_CONTENT = "FL373"
NO_ROLE = "ParameterNotFound"


class BuildInputs:
    """The inputs of one publish's builds."""

    def __init__(self, clients: BuildClients, project: Project, uploads: Uploads) -> None:
        self._clients, self._s3, self._uploads = clients, clients.s3, uploads
        self._deployment, self._project = project.deployment, project
        self._script = ScriptUpload(clients.s3, project.deployment.bucket)

    def put_onnx(self, engine: WantedEngine) -> None:
        """Put the ONNX model there, unless it exists; the first use that still has this content is read.

        Raises:
            FindingsError: no use has it any more.
            CannotRunError: S3 refuses.
            ClientError: S3 refuses.
        """
        place = ObjectPlace(self._deployment.bucket, onnx_key(engine.first.engine.build.onnx))
        if digest_of(self._s3, place.bucket, place.key) is not None:
            return
        findings: list[Finding] = []
        for use in engine.uses:
            with collect_findings(findings):
                self._put_onnx(use, place)
                return
        raise FindingsError(findings)

    @property
    def script(self) -> str:
        """Upload the build script unless it exists; return its key."""
        return self._script.key

    def put_request(self, use: EngineUse) -> None:
        """Write the build's request; delete the failure that an earlier attempt recorded.

        Raises:
            CannotRunError: Foundation has no role for jobs.
            ClientError: AWS refuses.
        """
        bucket, key = self._deployment.bucket, use.engine.build.key
        self._s3.delete_object(Bucket=bucket, Key=built_key(key, FAILURE))
        request = engine_request(
            use.endpoint, use.engine, self._deployment, script=self.script, job_role=self._job_role
        )
        self._s3.put_object(Bucket=bucket, Key=built_key(key, REQUEST), Body=request.json().encode())

    def _put_onnx(self, use: EngineUse, place: ObjectPlace) -> None:
        loaded_spec = self._project.load(use.endpoint.name)
        path, engine = spec_engine(loaded_spec.spec, use.engine.index, use.engine.model)
        source = onnx_of(loaded_spec, path, engine, lambda: self._s3)
        digest, size = use.engine.build.onnx, use.engine.size
        try:
            if isinstance(source, OnnxFile):
                self._uploads.file(place, source.chunks, digest=digest, size=size)
            else:
                self._copy(source, place, digest)
        except (ContentChangedError, FindingsError) as error:
            promoted_from = self._project.lock(use.endpoint.name).promoted_from
            if promoted_from is None and isinstance(error, FindingsError):
                raise
            raise FindingsError([self._change_finding(use, promoted_from)]) from error

    def _change_finding(self, use: EngineUse, promoted_from: str | None) -> Finding:
        endpoint, environment, model = use.endpoint.name, self._deployment.environment, use.engine.model
        if promoted_from is None:
            message = f"the ONNX model of {model!r} differs from the lock of {endpoint!r}"
            hint = f"run `fleet lock --env {environment} {endpoint}` and have the change reviewed"
        else:
            message = (
                f"the bucket lacks the archive with the engine of {model!r}, which was promoted from"
                f" {promoted_from!r}, and the ONNX model that it was built from is not here"
            )
            hint = f"run `fleet promote --from {promoted_from} --to {environment} {endpoint}` again"
        return finding_at(use.engine.mark, CHANGED_CONTENT, message, hint)

    def _copy(self, source: OnnxObject, place: ObjectPlace, digest: str) -> None:
        """Copy it on the server; the answer has the digest of the copy."""
        location = source.location
        # Another publisher may have written it, or be writing it.
        with s3_errors_as_findings(location), SuppressErrors(PRECONDITION_FAILED, CONFLICT):
            answer = self._s3.copy_object(
                CopySource={"Bucket": location.bucket, "Key": location.key},
                Bucket=place.bucket,
                Key=place.key,
                ChecksumAlgorithm="SHA256",
                IfNoneMatch="*",
            )
            checksum = base64.b64decode(answer["CopyObjectResult"].get("ChecksumSHA256", "")).hex()
            if f"sha256:{checksum}" != digest:
                self._s3.delete_object(Bucket=place.bucket, Key=place.key)
                raise ContentChangedError(f"sha256:{checksum}")

    @cached_property
    def _job_role(self) -> str:
        name = self._deployment.engine_job_role
        with SuppressErrors(NO_ROLE):
            return self._clients.ssm.get_parameter(Name=name)["Parameter"]["Value"]
        remedy = f"run `fleet deploy --env {self._deployment.environment} --foundation` to create it"
        raise CannotRunError(f"the role for jobs that build engines ({name}) is missing", remedy)
