"""Keys of an artifact bucket, without those of builds, and what a spec may read in buckets of fleets.

A spec may read what was uploaded for its own endpoint. Everything else belongs to all endpoints: archives,
engines, ONNX models, captured calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.findings import Finding
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import S3
from triton_fleet.spec.source import finding_at, named_inputs

ARCHIVES = "archives/"
"""Archives and files by their digest: the content store."""
CAPTURE = "capture/"
ENDPOINTS = "endpoints/"
"""What each endpoint's Model names, in a folder of its own."""
OWNERS = "owners/"
"""Records of which endpoint may have which content; roles of endpoints and builds may not write there."""
RELEASES = "releases/"
REPOSITORIES = "repositories/"
"""Model data that deploys of apps assemble, by their content."""
UPLOADS = "uploads/"
"""A folder for each endpoint, into which people upload."""


def prefix_of(endpoint: str) -> str:
    """An endpoint's own prefix of the bucket."""
    return f"{ENDPOINTS}{endpoint}/"


def capture_prefix_of(endpoint: str) -> str:
    """The prefix of an endpoint's captured calls in the bucket."""
    return f"{CAPTURE}{endpoint}/"


CODE = "FL753"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_FLEET_BUCKET = re.compile(r"triton-fleet-[a-z][a-z0-9]*-[0-9]{12}-[a-z0-9-]+")
"""The names that `bucket_of` gives."""
_ALIASES = ("-s3alias", "--ol-s3", "--x-s3", "--table-s3", ".mrap")
"""Ends of names that S3 keeps for what is not a general purpose bucket, such as aliases of access points.

Source: S3 user guide, bucketnamingrules.html.
"""


def source_findings(project: Project, loaded_spec: LoadedSpec) -> Iterator[Finding]:
    """Repositories and ONNX models of a spec that are another endpoint's in a fleet's bucket, or may be."""
    for path, url in named_inputs(loaded_spec.source):
        if not url.startswith(S3):
            continue
        bucket, _, key = url.removeprefix(S3).partition("/")
        endpoint, mark = loaded_spec.spec.endpoint, loaded_spec.source.mark(path)
        if not _BUCKET.fullmatch(bucket) or bucket.endswith(_ALIASES):
            message = f"{url} does not show which bucket it is in"
            yield finding_at(mark, CODE, message, "name the bucket itself, not an access point or its alias")
        elif (_FLEET_BUCKET.fullmatch(bucket) or bucket in project.fleet.given_buckets) and not _is_upload(
            key, endpoint
        ):
            message = f"{url} is in the artifact bucket of a fleet, which has what all of its endpoints run"
            hint = f"upload it below {S3}{bucket}/{UPLOADS}{endpoint}/, or to a bucket of your own"
            yield finding_at(mark, CODE, message, hint)


def _is_upload(key: str, endpoint: str) -> bool:
    """Whether a key is plainly below the folder of the endpoint, however a URL is read."""
    prefix = f"{UPLOADS}{endpoint}/"
    *folders, name = key.removeprefix(prefix).split("/")
    is_plain = not {"", ".", ".."}.intersection(folders) and name not in (".", "..")
    return key.startswith(prefix) and is_plain and not re.search(r"[%\\\x00-\x1f\x7f]", key)
