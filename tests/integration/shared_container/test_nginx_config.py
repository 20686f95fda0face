"""nginx takes each configuration that the shared container writes, and nobody's name can change what it means."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_container.log import Log
from shared_container.nginx_config import ERRORS, MAX_BODY_BYTES, NginxPlaces, nginx_config
from shared_container.probe import probe
from shared_container.routes import NAME, VERSION, Route, Routes, SettingsError
from shared_container.settings import Places, Settings
from shared_container.supervisor import write_files
from tests.support.shared_containers import nginx_version, require_nginx

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fullmatch=True)
MODELS = st.from_regex(r"[A-Za-z0-9._-]{1,40}", fullmatch=True).filter(lambda name: name not in (".", ".."))
VERSIONS = st.lists(st.integers(1, 1 << 40).map(str), min_size=1, max_size=3, unique=True).map(tuple)
ROUTES = st.dictionaries(NAMES, st.builds(Route, MODELS, VERSIONS), min_size=1, max_size=8)
PORTS = st.integers(1024, 65535)
TEXTS = st.text(max_size=20) | st.sampled_from(
    ['a" "', "a;b", "a{", "$uri", "a\n", "a\\", "~a", "a b", "a" * 256]
)
EMPTY_ROUTES = Routes({})
ENTRY = re.compile(
    rf' {{8}}"(?P<header>(model={NAME.pattern})?;?(version=({VERSION.pattern}))?)"'
    rf' "(?P=header) {NAME.pattern} ({VERSION.pattern})? /v2/models/[A-Za-z0-9._-]+(/versions/({VERSION.pattern}))?/infer";'
)


@pytest.fixture
def places() -> NginxPlaces:
    return NginxPlaces(
        folder=Path("/tmp/a"), js_module="/usr/lib/js.so", port=8080, triton_port=23000, metrics_port=None
    )


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    require_nginx()
    print(nginx_version())
    with TemporaryDirectory() as name:
        yield Path(name)


def container(
    folder: Path, routes: dict[str, Route], port: int = 8080, metrics_port: int | None = 23001
) -> Settings:
    return Settings(
        routes=Routes(routes, next(iter(routes))),
        places=Places(folder=folder),
        port=port,
        triton_port=23000,
        metrics_port=metrics_port,
        triton_options=(),
    )


@settings(max_examples=25)
@given(routes=ROUTES, port=PORTS, metrics_port=PORTS | st.none())
def test_nginx_takes_any_routes_and_ports(
    folder: Path, routes: dict[str, Route], port: int, metrics_port: int | None
) -> None:
    command = [*write_files(container(folder, routes, port, metrics_port)), "-t"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, (nginx_version(), process.stderr)


@given(
    names=st.dictionaries(NAMES | TEXTS, st.builds(Route, MODELS | TEXTS, VERSIONS | st.tuples(TEXTS, TEXTS)))
)
def test_no_name_can_change_what_the_configuration_means(names: dict[str, Route]) -> None:
    """Settings refuse names that no strict pattern has; this holds for whoever makes routes otherwise."""
    places = NginxPlaces(Path("/tmp/a"), "/usr/lib/js.so", 8080, 23000, None)
    empty, text = (
        nginx_config(places, routes, logs_all_requests=True, seconds=60)
        for routes in (EMPTY_ROUTES, Routes(names, next(iter(names), None)))
    )
    start = empty.index("$plain_candidate {\n") + len("$plain_candidate {\n")
    entries = text[start : len(text) - len(empty) + start].rstrip("\n")
    assert text.replace(entries, "", 1) == empty
    assert all(ENTRY.fullmatch(entry) for entry in entries.split("\n") if entries), entries


@pytest.mark.parametrize("logs_all_requests", [False, True])
@pytest.mark.parametrize("metrics_port", [None, 23001])
def test_braces_are_in_pairs(places: NginxPlaces, logs_all_requests: bool, metrics_port: int | None) -> None:
    places = replace(places, metrics_port=metrics_port)
    text = nginx_config(places, EMPTY_ROUTES, logs_all_requests=logs_all_requests, seconds=60)
    assert text.count("{") == text.count("}")


def test_nginx_takes_the_longest_names_many_routes_and_repeated_versions(folder: Path) -> None:
    versions = ("1", "1", "9" * 19)
    routes = {f"{number:03}" + "n" * 252: Route("m" * 255, versions) for number in range(300)}
    process = subprocess.run(
        [*write_files(container(folder, routes)), "-t"], capture_output=True, check=False
    )
    assert (process.returncode, b"[warn]" in process.stderr) == (0, False), process.stderr


def test_the_limits_are_those_of_sagemaker(places: NginxPlaces) -> None:
    lines = [
        line.strip()
        for line in nginx_config(places, EMPTY_ROUTES, logs_all_requests=False, seconds=60).splitlines()
    ]
    assert f"client_max_body_size {MAX_BODY_BYTES};" in lines
    assert "proxy_read_timeout 60s;" in lines
    assert "proxy_next_upstream off;" in lines
    assert "proxy_pass_request_headers off;" in lines
    assert not any(line.startswith("location = /metrics") for line in lines)


def test_each_error_of_nginx_is_json(places: NginxPlaces) -> None:
    text = nginx_config(places, EMPTY_ROUTES, logs_all_requests=False, seconds=60)
    for code, message in ERRORS.items():
        assert json.dumps({"error": message}).replace('"', '\\"') in text
        assert f"internal; return {code} " in text


@pytest.mark.parametrize("name", ["/tmp/a;b", '/tmp/a"b', "/tmp/$a", "/tmp/a\nb", "/tmp/{a}", "relative"])
def test_a_path_that_would_mean_something_is_refused(places: NginxPlaces, name: str) -> None:
    with pytest.raises(ValueError, match="is not an absolute path of"):
        nginx_config(replace(places, folder=Path(name)), EMPTY_ROUTES, logs_all_requests=False, seconds=60)


def test_a_machine_without_njs_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared_container.settings.JS_FOLDERS", ("/nowhere",))
    with pytest.raises(SettingsError, match="is in none of /nowhere: install njs, or pass --js-module"):
        write_files(container(tmp_path, {"a": Route("a", ("1",))}))


@pytest.fixture
def small(tmp_path: Path, unused_ports: list[int]) -> Settings:
    """One route, at ports that nobody else has."""
    require_nginx()
    port, triton_port = unused_ports
    return replace(container(tmp_path, {"a": Route("model", ("3",))}, port, None), triton_port=triton_port)


def test_one_request_passes_the_router_without_triton(
    small: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the build of the image does it."""
    assert probe(small, Log()) == 0
    assert "passes a request and its answer on" in capsys.readouterr().out


def test_an_nginx_that_does_not_start_fails_the_build(
    small: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "broken.so").write_text("")
    broken_settings = replace(small, places=replace(small.places, js_module=str(tmp_path / "broken.so")))
    assert probe(broken_settings, Log()) == 1
    assert "the router does not answer: nginx has ended" in capsys.readouterr().out
