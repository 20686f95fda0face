"""The catalog and the installed packages: whoever upgrades botocore or cfn-lint refreshes the catalog with them."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from catalog_refresh.cloudformation import create_only_properties, log_retention, properties
from catalog_refresh.host_images import host_image_remarks
from catalog_refresh.instance_types import api_types, availability, type_remarks
from catalog_refresh.limits import limits
from catalog_refresh.package import Package, find_package
from catalog_refresh.proposal import Proposal, refresh
from tests.support.fleet_folder import ROOT

DATA = ROOT / "triton_fleet/catalog/data"
PATH = [Path(folder) for folder in sys.path if folder]
BOTOCORE, CFN_LINT = find_package("botocore", PATH), find_package("cfn-lint", PATH)


@pytest.mark.parametrize(
    "proposal",
    [
        api_types(BOTOCORE),
        availability(CFN_LINT, DATA),
        create_only_properties(CFN_LINT, DATA),
        limits(BOTOCORE, DATA),
        log_retention(CFN_LINT),
        properties(CFN_LINT, DATA),
    ],
    ids=lambda item: item.file,
)
def test_the_catalog_is_what_the_installed_packages_know(proposal: Proposal) -> None:
    change = refresh(proposal, DATA, date(2027, 1, 1))
    assert (change.lines, change.remarks) == ((), ()), "run `make catalog`"


def test_people_have_described_every_type_and_host_image() -> None:
    assert [*type_remarks(BOTOCORE, CFN_LINT, DATA), *host_image_remarks(BOTOCORE, DATA)] == []


def test_a_package_is_found_with_the_version_that_it_was_installed_in() -> None:
    assert isinstance(BOTOCORE, Package)
    assert str(BOTOCORE).startswith("botocore 1.")


def test_the_program_finds_the_catalog_and_the_packages_itself() -> None:
    command = [sys.executable, str(ROOT / ".ci/catalog.py"), "--check"]
    process = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    absent = "not read: sagemaker-core is not installed\n"
    assert (process.returncode, process.stdout, process.stderr) in [(0, "no news\n", ""), (2, "", absent)]
