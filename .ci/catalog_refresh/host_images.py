"""Host images of inference: botocore has their names; what they have inside is written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catalog_refresh.instance_types import API_TYPES
from catalog_refresh.models import shape
from catalog_refresh.package import Package
from catalog_refresh.proposal import Remark, is_older, read_facts

FILE = "amis.yaml"


def host_image_remarks(botocore: Package, folder: Path) -> Iterator[Remark]:
    """Names that the API has and amis.yaml lacks, and the reverse; nothing where botocore is too old."""
    if is_older(str(botocore), folder, API_TYPES):
        return
    api_names = set(shape(botocore, "sagemaker", "ProductionVariantInferenceAmiVersion")["enum"])
    catalog_names = set(read_facts(folder, FILE)["amis"])
    for name in sorted(api_names - catalog_names):
        text = f"{name} is new in {botocore}: add its driver, its CUDA and the families that take it"
        yield Remark(file=FILE, text=text)
    for name in sorted(catalog_names - api_names):
        yield Remark(
            file=FILE, text=f"{name} is no longer in {botocore}: delete it, or keep it with the reason"
        )
