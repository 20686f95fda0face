"""DNS rebinding with a real browser and a DNS whose answer changes while a page is open."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import rebinding
from tests.support.rebinding import MACHINE, NAME, PAGES, PATHS, SECRET

pytestmark = pytest.mark.nightly

AttackResults = dict[str, dict[str, list[str]]]
UNSHARE = ["unshare", "--map-root-user", "--net", "--mount"]
"""A network with port 53 free, and a file system in which resolv.conf names it, for this process alone."""


@pytest.fixture(scope="module")
def attack_results() -> AttackResults:
    """The text that pages have read."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("this machine has no `unshare` (util-linux) or no `ip` (iproute2)")
    process = subprocess.run(
        [*UNSHARE, "mount", "--bind", "/dev/null", "/etc/resolv.conf"], capture_output=True
    )
    if process.returncode != 0:
        pytest.skip(f"this machine gives no namespaces: {process.stderr.decode().strip()}")
    actual_process = subprocess.run(
        [*UNSHARE, sys.executable, str(Path(rebinding.__file__)), browser],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=500,
    )
    answer: AttackResults = json.loads(actual_process.stdout)
    return answer


@pytest.mark.parametrize("server", ["unprotected", *PATHS])
def test_the_name_of_the_page_comes_to_mean_this_machine(attack_results: AttackResults, server: str) -> None:
    assert attack_results[server]["answers"] == [PAGES, MACHINE], NAME


def test_a_server_that_looks_at_no_name_gives_the_page_its_secret(attack_results: AttackResults) -> None:
    """The control: the attack works."""
    assert attack_results["unprotected"]["said"] == [f"200 {SECRET}"]


@pytest.mark.parametrize("server", PATHS)
def test_a_page_whose_name_is_rebound_reads_nothing_of_the_local_services(
    attack_results: AttackResults, server: str
) -> None:
    assert attack_results[server]["said"] == [
        "403 The embedded AWS answers to names of this machine alone.\n"
    ]
