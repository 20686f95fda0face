"""The log of the shared container: one JSON form, whoever wrote the line."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_container.log import Log


def log_record(source: str, line: str) -> dict[str, Any]:
    stream = io.StringIO()
    getattr(Log(stream), source)(line)
    (text,) = stream.getvalue().splitlines()
    entry: dict[str, Any] = json.loads(text)
    assert list(entry)[:4] == ["time", "source", "level", "message"]
    return entry


@pytest.mark.parametrize(
    ("line", "level", "message", "location"),
    [
        (
            'I1123 05:47:32.614728 15 http_server.cc:4713] "Started \\"a\\""',
            "info",
            'Started "a"',
            "http_server.cc:4713",
        ),
        ("W0101 00:00:00.000000 1 a.cc:1] old form", "warning", "old form", "a.cc:1"),
        ('E0101 00:00:00.000000 1 a.cc:1] "not closed', "error", '"not closed', "a.cc:1"),
        ("printed by a model", "info", "printed by a model", None),
    ],
)
def test_a_line_of_triton_has_its_level(line: str, level: str, message: str, location: str | None) -> None:
    entry = log_record("triton", line)
    assert (entry["source"], entry["level"], entry["message"]) == ("triton", level, message)
    assert entry.get("where") == location


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        ("2026/11/23 05:41:51 [emerg] 1#2: bind() failed", "error", "bind() failed"),
        ("2026/11/23 05:41:51 [warn] 1#2: *3 a", "warning", "*3 a"),
        ("2026/11/23 05:41:51 [notice] 1#2: a", "info", "a"),
        ("nginx: [alert] a", "error", "nginx: [alert] a"),
    ],
)
def test_a_line_of_nginx_has_its_level(line: str, level: str, message: str) -> None:
    entry = log_record("nginx", line)
    assert (entry["source"], entry["level"], entry["message"]) == ("nginx", level, message)


@pytest.mark.parametrize(("status", "level"), [("200", "info"), ("404", "warning"), ("502", "error")])
def test_a_request_has_the_level_of_its_status(status: str, level: str) -> None:
    line = {
        "time": "1700000000.123",
        "method": "POST",
        "path": "/invocations",
        "status": status,
        "route": "resnet",
        "version": "",
        "seconds": "0.012",
        "bytes": "345",
        "request": "",
    }
    assert log_record("request", json.dumps(line)) == {
        "time": "2023-11-14T22:13:20.123Z",
        "source": "router",
        "level": level,
        "message": f"POST /invocations {status}",
        "status": int(status),
        "route": "resnet",
        "seconds": 0.012,
        "bytes": 345,
    }


@given(source=st.sampled_from(["triton", "nginx", "request", "info", "error"]), line=st.text())
def test_any_text_is_one_line_of_that_form(source: str, line: str) -> None:
    entry = log_record(source, line)
    assert "_aws" not in entry


@pytest.mark.parametrize("line", ['{"_aws": {}}', '"', "{", "[]", "1", '{"time": "nan"}', '{"time": null}'])
@pytest.mark.parametrize("source", ["triton", "nginx", "request"])
def test_text_that_looks_like_a_metric_is_a_message(source: str, line: str) -> None:
    assert log_record(source, line)["message"] == line
