"""Other users, other machines and rebound pages do not reach the embedded AWS."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_gateway import ask
from tests.support.embedded_keys import KEYS, sign_request
from tests.support.other_user import run_as_other_user
from triton_fleet.local.state import LocalState, Supervisor


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("bucket.localhost", 200),
        ("127.0.0.1", 200),
        ("[::1]", 200),
        ("page.example", 403),
        ("localhost.page.example", 403),
        ("127.0.0.1.page.example", 403),
        ("notlocalhost", 403),
        ("", 403),
    ],
)
def test_hosts_that_are_no_names_of_this_machine_are_refused_even_where_a_request_is_signed(
    gateway: EmbeddedAws, host: str, status: int
) -> None:
    path, port = "/_fleet/status", urlsplit(gateway.url).port
    for name in (host, f"{host}:{port}"):
        headers = sign_request("GET", f"http://{name}{path}", {"Host": name}, service="fleet")
        assert ask(gateway, "GET", path, headers)[0] == status, name


def test_a_page_whose_name_comes_to_mean_this_machine_reads_nothing(
    gateway: EmbeddedAws, tmp_path: Path
) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium on this machine")
    port = urlsplit(gateway.url).port
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        f"--user-data-dir={tmp_path}",
        "--host-resolver-rules=MAP page.example 127.0.0.1",  # what the second answer of its DNS would be
        *("--proxy-server=direct://", "--dump-dom"),
        f"http://page.example:{port}/?Action=ListRoles&Version=2010-05-08",
    ]
    process = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "names of this machine alone" in process.stdout
    assert "ListRoles" not in process.stdout


@pytest.fixture
def state(tmp_path: Path, gateway: EmbeddedAws) -> LocalState:
    """The state that `up` has written down, in folders that anybody may enter."""
    state = LocalState(tmp_path)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    state.announce(Supervisor(pid=1, url=gateway.url, account="1", region="us-east-1", keys=KEYS))
    return state


def test_the_keys_lie_in_a_file_for_their_owner_and_nowhere_else(state: LocalState) -> None:
    files = [file for file in state.folder.rglob("*") if file.is_file()]
    with_secret = [file for file in files if KEYS.secret_access_key in file.read_text()]
    assert with_secret == [state.keys_file]
    assert oct(state.keys_file.stat().st_mode & 0o777) == "0o600"


def test_another_user_of_the_machine_neither_reads_the_keys_nor_does_without(
    state: LocalState, gateway: EmbeddedAws
) -> None:
    script = (
        "try: print(open(sys.argv[1]).read())\n"
        "except PermissionError: print('no keys')\n"
        "connection = socket.create_connection(('127.0.0.1', int(sys.argv[2])))\n"
        "connection.sendall(b'GET /_fleet/status HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n')\n"
        "print(connection.recv(12)[-3:].decode())\n"
    )
    text = run_as_other_user(script, str(state.keys_file), str(urlsplit(gateway.url).port))
    assert text.splitlines() == ["no keys", "403"]


def addresses() -> list[str]:
    """Those of this machine, but loopback."""
    result = [item for several in psutil.net_if_addrs().values() for item in several]
    return [
        item.address
        for item in result
        if item.family == socket.AF_INET and not item.address.startswith("127.")
    ]


def is_open(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=5).close()
    except OSError:
        return False
    return True


def test_no_other_address_of_the_machine_reaches_it(gateway: EmbeddedAws) -> None:
    if not addresses():
        pytest.skip("this machine has no address but loopback")
    port = urlsplit(gateway.url).port or 0
    assert [address for address in ("127.0.0.1", *addresses()) if is_open(address, port)] == ["127.0.0.1"]
