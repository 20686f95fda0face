"""`make audit`: what is known of the pins is told by lock, and an audit that could not be is no clean one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLEAN: dict[str, Any] = {"vulnerabilities": {}}
KNOWN_VULNERABILITY = {"id": "PYSEC-2026-1", "fix_versions": ["1.1"]}


def program(file: Path, answer: str, code: int) -> str:
    """A program that answers so, and keeps what it was asked beside itself."""
    keep = "[open(each).read() for each in sys.argv if each.endswith('.txt')]"
    file.write_text(
        f"#!{sys.executable}\nimport sys, json\n"
        f"open({str(file) + '.asked'!r}, 'a').write(json.dumps({keep}) + chr(10))\n"
        f"print({answer!r})\nsys.exit({code})\n"
    )
    file.chmod(0o755)
    return str(file)


def run_audit(
    root: Path, fleet: Path, dependencies: list[dict[str, Any]] | str, npm: dict[str, Any] | str = CLEAN
) -> tuple[int, str, str]:
    """The exit code and the output of the audit of a folder, of which both programs know this."""
    told_dependencies = (
        dependencies if isinstance(dependencies, str) else json.dumps({"dependencies": dependencies})
    )
    pip_audit = program(fleet / "pip-audit", told_dependencies, 0)
    npm_audit = program(fleet / "npm", npm if isinstance(npm, str) else json.dumps(npm), 1)
    command = [sys.executable, str(root / ".ci" / "audit.py"), pip_audit, npm_audit]
    process = subprocess.run(command, cwd=fleet, capture_output=True, text=True, check=False)
    return process.returncode, process.stdout, process.stderr


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    pins = "a==1.0 ; python_version < '3.12' \\\n    --hash=sha256:1\na==2.0 ; python_version >= '3.12' \\\n"
    (tmp_path / "requirements.txt").write_text(f"{pins}b[x]==3.0 \\\n    --hash=sha256:2\n")
    return tmp_path


def test_of_nothing_known_it_says_so(root: Path, fleet: Path) -> None:
    clean = [{"name": "a", "version": "1.0", "vulns": []}]
    assert run_audit(root, fleet, clean) == (0, "no known vulnerabilities\n", "")


def test_every_pin_is_asked_for_whatever_python_it_is_of(root: Path, fleet: Path) -> None:
    run_audit(root, fleet, [])
    requested_documents = [json.loads(line) for line in (fleet / "pip-audit.asked").read_text().splitlines()]
    assert requested_documents == [["a==1.0\nb==3.0\n"], ["a==2.0\n"]]


def test_what_is_known_is_told_with_its_lock_and_what_fixes_it(root: Path, fleet: Path) -> None:
    code, text, _ = run_audit(root, fleet, [{"name": "b", "version": "3.0", "vulns": [KNOWN_VULNERABILITY]}])
    assert code == 1
    assert "b 3.0 (requirements.txt): PYSEC-2026-1, fixed in 1.1" in text.splitlines()


def test_what_npm_knows_is_told(root: Path, fleet: Path) -> None:
    known_values = {"vulnerabilities": {"aws-cdk": {"severity": "high", "range": "<3"}}}
    code, text, _ = run_audit(root, fleet, [], known_values)
    assert (code, text) == (1, "aws-cdk (package-lock.json): high, versions <3\n")


@pytest.mark.parametrize("npm", [{"message": "405 Method Not Allowed"}, "", "null"])
def test_without_an_answer_of_npm_it_could_not_run(
    root: Path, fleet: Path, npm: dict[str, Any] | str
) -> None:
    code, text, told_text = run_audit(root, fleet, [], npm)
    assert (code, text) == (2, "")
    assert told_text.startswith("could not audit 1: package-lock.json (")


def test_without_an_answer_of_pip_audit_it_could_not_run(root: Path, fleet: Path) -> None:
    code, _, text = run_audit(root, fleet, "")
    assert (code, "2 Python packages (it ended with 0)" in text) == (2, True)


def test_a_package_that_the_index_knows_nothing_of_is_not_clean(root: Path, fleet: Path) -> None:
    """An index that mirrors packages alone has no advisories, and pip-audit ends with 0 there."""
    code, text, told_text = run_audit(
        root, fleet, [{"name": "b", "skip_reason": "not found on PyPI: b (3.0)"}]
    )
    assert (code, text) == (2, "")
    assert "not found on PyPI: b (3.0)" in told_text
    assert "remedy: run it where the advisories of PyPI and of npm can be reached" in told_text
