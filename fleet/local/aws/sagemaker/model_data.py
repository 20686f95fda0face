"""SageMaker looks for a model's data in S3 when the model is created, and refuses the model without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.s3.exceptions import MissingBucket
from moto.s3.models import S3Backend
from moto.s3.utils import bucket_and_name_from_url
from moto.sagemaker.exceptions import ValidationError


def data_url(container: Mapping[str, Any]) -> str:
    """The s3:// URL of a container's data, "" when it has none."""
    source = container.get("ModelDataSource", {}).get("S3DataSource", {})
    return str(container.get("ModelDataUrl") or source.get("S3Uri", ""))


def require_model_data(container: Mapping[str, Any], s3: S3Backend) -> None:
    """Refuse a container whose data is not in S3.

    In MultiModel mode the URL is a prefix under which models may appear later: SageMaker takes an empty one.

    Raises:
        ValidationError: worded as SageMaker words it.
    """
    url = data_url(container)
    if not url or container.get("Mode") == "MultiModel":
        return
    is_prefix = container.get("ModelDataSource", {}).get("S3DataSource", {}).get("S3DataType") == "S3Prefix"
    bucket, key = bucket_and_name_from_url(url)
    try:
        keys = list(s3.get_bucket(bucket or "").keys)
    except MissingBucket:
        keys = []
    found = any(name.startswith(key) for name in keys) if is_prefix else key in keys
    if not found:
        raise ValidationError(f"Could not find model data at {url}.")
