"""The queries find what a real Triton writes; the lines below are Triton 24.10's own."""

from __future__ import annotations

import re

import pytest

from triton_fleet.endpoint.dashboard.log_queries import (
    ERRORS,
    MESSAGE,
    STARTS,
    SavedQuery,
    last_errors,
    saved_name,
    saved_queries,
)
from triton_fleet.spec.endpoint import Mode

QUERIES = [query for mode in Mode for query in (*saved_queries(mode), last_errors(mode))]
HEAD = "1121 19:01:50.623994 1457 model_lifecycle.cc"
LOADING = f'I{HEAD}:472] "loading: /opt/ml/model/::double:1"'
LOADED_LINE = f"I{HEAD}:839] \"successfully loaded '/opt/ml/model/::double'\""
FAILED_LOAD = f"E{HEAD}:642] \"failed to load 'double' version 1: Internal: MemoryError: CUDA out of memory"
STOPPED_LINE = (
    "error: creating server: Invalid argument - load failed for model 'double': version 1 is at UNAVAILABLE"
)
STARTED_LINE = f'I{HEAD}:293] "Started Sagemaker HTTPService at 0.0.0.0:8080"'
WARNING_LINE = f'W{HEAD}:273] "Unable to allocate pinned system memory"'


def python_of(pattern: str) -> re.Pattern[str]:
    """Logs Insights writes a named group without the P."""
    return re.compile(pattern.strip("/").replace("(?<", "(?P<"))


def errors(line: str) -> bool:
    return any(python_of(match).search(line) for match in re.findall(r"like (/.*?/)(?= or |$)", ERRORS))


@pytest.mark.parametrize(
    "line",
    [
        FAILED_LOAD,
        STOPPED_LINE,
        "Traceback (most recent call last):",
        "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB",
        "OSError: [Errno 28] No space left on device",
    ],
)
def test_an_error_is_found_by_its_head_or_by_its_words(line: str) -> None:
    assert errors(line)


@pytest.mark.parametrize("line", [LOADING, LOADED_LINE, STARTED_LINE, WARNING_LINE, "| server_id | triton |"])
def test_what_is_no_error_is_not_found(line: str) -> None:
    assert not errors(line)


def test_errors_are_grouped_by_their_text() -> None:
    match = python_of(MESSAGE).search(FAILED_LOAD)
    assert match is not None
    assert match["text"].startswith("failed to load 'double' version 1: Internal: MemoryError")
    assert python_of(MESSAGE).search(STOPPED_LINE) is None


def test_a_start_is_from_loading_to_loaded_of_the_same_model() -> None:
    matches = [python_of(STARTS).search(line) for line in (LOADING, LOADED_LINE, STARTED_LINE, FAILED_LOAD)]
    assert [entry["model"] if entry else None for entry in matches] == ["/opt/ml/model/::double"] * 2 + [
        None
    ] * 2


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.name} {query.lines[1][:12]}")
def test_a_query_is_within_the_limits_of_a_saved_one(query: SavedQuery) -> None:
    assert len(query.text) <= 10_000
    assert len(saved_name("x" * 63, query)) <= 255
    commands = {line.split()[0] for line in query.text.split("\n| ")}
    assert commands <= {"fields", "filter", "parse", "stats", "sort", "limit"}


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.name} {query.lines[1][:12]}")
def test_a_command_takes_no_alias_that_it_gives_itself(query: SavedQuery) -> None:
    for command in query.lines:
        computed_command = command.partition(" by ")[0] if command.startswith("stats ") else command
        aliases = re.findall(r" as (\w+)", computed_command)
        assert not [alias for alias in aliases if len(re.findall(rf"\b{alias}\b", computed_command)) > 1], (
            command
        )


def test_they_are_in_a_folder_of_the_endpoint() -> None:
    assert [saved_name("sentences", query) for query in saved_queries(Mode.SINGLE)] == [
        "TritonFleet/sentences/errors",
        "TritonFleet/sentences/slow starts",
    ]


def test_a_shared_container_says_itself_what_an_error_is() -> None:
    (errors, _), last = saved_queries(Mode.SHARED_CONTAINER), last_errors(Mode.SHARED_CONTAINER)
    assert errors.lines[1] == last.lines[1]
    assert errors.lines[1].startswith('filter level = "error" or ')
