"""Our verdict on broken and on healthy repositories is that of the real server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.agreement.all_cases import all_cases
from tests.e2e.agreement.sentences import is_tritons, sentence
from tests.e2e.agreement.server import Court, Verdict
from tests.support.broken_repositories import (
    SCALE,
    WRAPPER,
    Case,
    Files,
    change_file,
    move_files,
    python_model,
)
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.reading.folder import read

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

SAME_WORDS = 0.9


def errors(case: Case, folder: Path, release: str) -> list[Finding]:
    """Findings by which we say that the repository would not be loaded."""
    repository = case.write(folder / case.id / "model")
    try:
        container = ServingContainer(multi_model=case.mode == "multi-model", release=release)
        findings = list(plan_load(read(repository), container).findings)
    except FindingsError as error:
        findings = error.findings
    shutil.rmtree(folder / case.id)
    return [finding for finding in findings if finding.severity is Severity.ERROR]


@pytest.fixture(scope="module")
def server_findings(
    runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Finding]]:
    folder = tmp_path_factory.mktemp("judged")
    return {case.id: errors(case, folder, runtime.release) for case in all_cases()}


@pytest.fixture(scope="module")
def verdicts(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    return Court(runtime, tmp_path_factory.mktemp("court")).verdicts(all_cases())


def test_a_repository_is_refused_by_us_if_and_only_if_the_server_refuses_it(
    server_findings: dict[str, list[Finding]], verdicts: dict[str, Verdict]
) -> None:
    disagreements = [
        f"{case.id} ({case.mode}; {case.change}): the server"
        f" {'loads it' if verdicts[case.id].is_loaded else 'says: ' + sentence(verdicts[case.id], case)};"
        f" we say: {'; '.join(f'{item.code} {item.message}' for item in server_findings[case.id]) or 'no error'}"
        for case in all_cases()
        if verdicts[case.id].is_loaded == bool(server_findings[case.id])
    ]
    assert not disagreements, "\n".join([f"{len(disagreements)} disagreements", *disagreements])


def test_what_both_refuse_is_refused_in_the_servers_words(
    server_findings: dict[str, list[Finding]], verdicts: dict[str, Verdict]
) -> None:
    sentences = {
        case.id: sentence(verdicts[case.id], case) for case in all_cases() if server_findings[case.id]
    }
    said_words = {case: words for case, words in sentences.items() if words and is_tritons(words)}
    ours = {
        case: "; ".join(" ".join(item.message.split()) for item in server_findings[case])
        for case in said_words
    }
    other_lines = [
        f"{case}: the server says: {words}; we say: {ours[case]}"
        for case, words in said_words.items()
        if words not in ours[case]
    ]
    share = 1 - len(other_lines) / len(said_words)
    assert share >= SAME_WORDS, "\n".join(
        [f"the same words in {share:.0%} of {len(said_words)}", *other_lines]
    )


def test_there_are_cases_of_both_kinds_in_both_modes(verdicts: dict[str, Verdict]) -> None:
    kinds = {(case.mode, verdicts[case.id].is_loaded) for case in all_cases()}
    assert kinds == {(mode, is_loaded) for mode in ("single", "multi-model") for is_loaded in (True, False)}
    assert len(verdicts) >= 150


TWO: Files = {**SCALE, **python_model("double", 'backend: "python"')}
OTHER_MODEL = move_files(
    change_file(WRAPPER, "pipeline/config.pbtxt", ('"pipeline"', '"other"')), "pipeline/", "other/"
)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (TWO, "FL408"),
        ({**WRAPPER, **OTHER_MODEL}, "FL409"),
        ({**SCALE, ".git/HEAD": b"x"}, "FL460"),
        (change_file(WRAPPER, "pipeline/config.pbtxt", ('"ensemble"', "'ensemble'")), "FL468"),
    ],
)
def test_what_the_server_would_decide_by_chance_is_refused(files: Files, code: str, tmp_path: Path) -> None:
    """The order in which the file system lists the directories decides, so the server is not asked."""
    findings = errors(Case(id="chance", files=files, change=""), tmp_path, "24.10")
    assert code in [finding.code for finding in findings]
