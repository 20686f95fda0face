"""The report of a change of what a deploy executes: first, in each format, and never as "nothing changes"."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.git_repository import GitRepository
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.review.document import report_document
from triton_fleet.review.fleet_review import fleet_review
from triton_fleet.review.markdown import MARKER, markdown
from triton_fleet.review.page import page

DAY = date(2026, 11, 1)
PROGRAMS = [
    "evil.py",
    "boto3/__init__.py",
    "requirements-extra.txt",
    "constraints.txt",
    ".npmrc",
    "pip.conf",
    ".github/workflows/fleet-deploy-dev.yml",
    ".github/CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab-ci.yml",
    "GNUmakefile",
    "examples/new/make_weights.py",
    "examples/requirements.txt",
    "tools/publish.sh",
    "tools/anything",
    "model_specs/evil.py",
    "locks/dev/evil",
    "unknown.bin",
]
"""None of them is known as data."""


@pytest.fixture
def repository(folder: FleetFolder) -> GitRepository:
    """A fleet as `fleet init` writes it, with a model repository, on a branch."""
    folder.lock()
    folder.write("cdk.json", '{"app": "python3 app.py", "context": {"a": true}}')
    folder.write("app.py", "run()\n")
    folder.write("Makefile", "setup:\n-include fleet.mk\n")
    folder.write("package.json", '{"devDependencies": {"aws-cdk": "1"}}')
    folder.write("requirements.txt", "triton-fleet==0.2.0\n")
    folder.write("tools/publish.sh", "true\n")
    folder.write("README.md", "")
    actual_repository = GitRepository.around(folder.root)
    actual_repository.branch()
    return actual_repository


def review(top: Path) -> FleetChange:
    return fleet_review(top, "main", [], DAY)


def changed_files(top: Path) -> dict[str, str]:
    return {file.path: file.change for file in review(top).executed_files}


def test_the_commands_that_a_deploy_runs_come_first_and_nothing_is_not_what_changes(
    repository: GitRepository, folder: FleetFolder
) -> None:
    folder.write("cdk.json", '{"app": "sh -c evil", "build": "evil", "context": {"a": true}}')
    folder.write("app.py", "import os; os.system('evil'); run()\n")
    folder.write("fleet.mk", "setup: evil\n")
    folder.write("package.json", '{"devDependencies": {"aws-cdk": "npm:evil@1.0.0"}}')
    folder.write("requirements.txt", "triton-fleet==0.2.0\nevil\n")
    repository.commit()
    change = review(folder.root)
    assert [(file.path, file.what, file.change) for file in change.executed_files] == [
        ("app.py", "the CDK app of `npx cdk`", "edited"),
        ("cdk.json", "settings of the CDK CLI: app, build", "edited"),
        ("fleet.mk", "what `make` runs", "added"),
        ("package.json", "what npm installs", "edited"),
        ("requirements.txt", "what pip installs", "edited"),
    ]
    text = markdown(change, 0)
    marker, verdict, _, heading, _, *files = text.splitlines()
    assert (marker, verdict) == (
        MARKER,
        "### ⚠ edits what a deploy runs (5 files); no endpoint's files differ in dev",
    )
    assert heading == "**This change edits what a deploy runs:**"
    assert files[0] == "- ⚠ `app.py`: the CDK app of `npx cdk` (edited)"
    assert all(line.startswith("- ⚠ ") for line in files[:5])
    document: Any = report_document(change)
    assert [entry["path"] for entry in document["executed"]] == [file.path for file in change.executed_files]
    for output in (text, page(change), json.dumps(document), markdown(change, 1_000)):
        assert "nothing changes" not in output
        assert "what a deploy runs" in output


def test_a_change_of_data_promises_that_nothing_else_changes(
    repository: GitRepository, folder: FleetFolder
) -> None:
    folder.spec("# a comment\n")
    folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    folder.write("repository/embed/1/requirements.txt", "numpy\n")
    folder.write("README.md", "text\n")
    folder.write("docs/picture.svg", "<svg/>\n")
    folder.write(
        "policies/platform.yaml",
        "policy: platform\nowner: {team: a}\nstatements: [{name: all, max_instances: 9}]\n",
    )
    folder.write("model_specs/endpoint.schema.json", "{}")
    change = review(folder.root)
    assert (change.executed_files, change.verdict) == ((), "nothing changes in dev")


def test_prices_are_data_and_their_change_is_a_note_in_each_environment(
    repository: GitRepository, folder: FleetFolder
) -> None:
    folder.write("prices.yaml", "date: 2026-11-01\ndiscount: 10%\n")
    folder.write("prices.schema.json", "{}")
    change = review(folder.root)
    assert (change.executed_files, change.verdict) == ((), "dev: prices.yaml differs, no endpoint changes")
    assert [item.price_note for item in change.environments_to_review] == [
        "`prices.yaml` differs (discount not given → 10): all costs here are at the new prices"
    ]


def test_a_context_of_the_cdk_is_data_and_no_promise_is_made_of_templates(
    repository: GitRepository, folder: FleetFolder
) -> None:
    folder.write("cdk.json", '{"app": "python3 app.py", "context": {"a": false}}')
    change = review(folder.root)
    assert (change.executed_files, change.verdict) == ((), "no endpoint's files differ in dev")


def test_whatever_is_not_known_as_data_is_executed_though_it_is_not_committed(
    repository: GitRepository, folder: FleetFolder
) -> None:
    for file in PROGRAMS:
        folder.write(file, "evil\n")
    edited_files = {"tools/publish.sh": "edited"}
    assert changed_files(folder.root) == dict.fromkeys(PROGRAMS, "added") | edited_files


def test_links_modes_and_deleted_files_are_listed(repository: GitRepository, folder: FleetFolder) -> None:
    (folder.root / "app.py").unlink()
    (folder.root / "tools/publish.sh").rename(folder.root / "tools/deploy.sh")
    (folder.root / "README.md").chmod(0o755)
    (folder.root / "repository/embed/1/model.py").chmod(0o755)
    (folder.root / "docs").symlink_to("/etc")
    (folder.root / "repository/embed/2").symlink_to("1")
    repository.commit()
    assert changed_files(folder.root) == {
        "README.md": "edited, executable",
        "app.py": "deleted",
        "docs": "added",
        "repository/embed/1/model.py": "edited, executable",
        "repository/embed/2": "added",
        "tools/deploy.sh": "added",
        "tools/publish.sh": "deleted",
    }


class TestASpecMakesNoDataOfAProgram:
    """A change that names a folder as a model repository, and edits the programs in it."""

    def test_that_the_base_has(self, repository: GitRepository, folder: FleetFolder) -> None:
        folder.write(
            "model_specs/evil.yaml", SPEC.replace("sentences", "evil").replace("repository}", "tools}")
        )
        folder.write("tools/publish.sh", "evil\n")
        folder.write("tools/new.py", "evil\n")
        assert [*changed_files(folder.root)] == ["tools/new.py", "tools/publish.sh"]

    @pytest.mark.parametrize("name", ["fleet.mk", "examples/x/make_weights.py", ".github/workflows/x.yml"])
    def test_that_a_tool_finds_by_its_place(
        self, repository: GitRepository, folder: FleetFolder, name: str
    ) -> None:
        text = SPEC.replace("sentences", "evil").replace("../repository", f"../{Path(name).parent}")
        folder.write("model_specs/evil.yaml", f"{text}image: {{build: ../{name}}}\n")
        folder.write(name, "evil\n")
        assert [*changed_files(folder.root)] == [name]

    def test_that_is_beside_what_else_the_spec_names(
        self, repository: GitRepository, folder: FleetFolder
    ) -> None:
        folder.write("tools/inner/check.sh", "true\n")
        repository.commit()
        repository.git("branch", "--force", "main")
        other_text = "  - {archive: other, repository: ../tools/inner}\n"
        text = SPEC.replace("sentences", "evil").replace("repository}", "tools}")
        folder.write("model_specs/evil.yaml", text + other_text)
        folder.write("tools/publish.sh", "evil\n")
        folder.write("tools/inner/check.sh", "evil\n")
        assert [*changed_files(folder.root)] == ["tools/inner/check.sh", "tools/publish.sh"]

    @pytest.mark.parametrize(
        ("name", "file"),
        [
            ("repository: ../examples/x/numpy", "examples/x/numpy/__init__.py"),
            ("repository: ../yaml", "yaml/__init__.pyc"),
            ("repository: ../m, engines: [{model: a, onnx: ../examples/x/numpy.so}]", "examples/x/numpy.so"),
            ("repository: ../node_modules", "node_modules/.bin/cdk"),
            ("repository: ../vendor", "vendor/dependencies.txt"),
        ],
    )
    def test_that_another_program_would_import_or_install(
        self, repository: GitRepository, folder: FleetFolder, name: str, file: str
    ) -> None:
        text = SPEC.replace("sentences", "evil").replace("repository: ../repository", name)
        folder.write("model_specs/evil.yaml", text)
        folder.write(file, "evil\n")
        assert [*changed_files(folder.root)] == [file]

    def test_by_a_tag_that_is_called_repository(self, repository: GitRepository, folder: FleetFolder) -> None:
        folder.write(
            "model_specs/evil.yaml", SPEC.replace("sentences", "evil") + "tags: {repository: ../jobs}\n"
        )
        folder.write("jobs/nightly", "evil\n")
        assert [*changed_files(folder.root)] == ["jobs/nightly"]

    def test_but_a_new_folder_is_the_models(self, repository: GitRepository, folder: FleetFolder) -> None:
        text = SPEC.replace("sentences", "new").replace("../repository", "../models/new")
        folder.write("model_specs/new.yaml", text)
        folder.write("models/new/embed/1/model.py", "x = 1\n")
        assert changed_files(folder.root) == {}

    def test_and_what_is_left_of_a_repository_is_none(
        self, repository: GitRepository, folder: FleetFolder
    ) -> None:
        (folder.root / "locks/dev/sentences.lock.yaml").unlink()
        repository.commit()
        repository.git("branch", "--force", "main")
        (folder.root / "model_specs/sentences.yaml").unlink()
        (folder.root / "repository/embed/config.pbtxt").unlink()
        folder.write("repository/embed/1/model.py", "evil\n")
        assert changed_files(folder.root) == {"repository/embed/1/model.py": "edited"}


def test_in_a_larger_repository_other_folders_are_named_as_such(tmp_path: Path) -> None:
    folder = FleetFolder(tmp_path / "fleet")
    folder.spec()
    folder.environment()
    folder.lock()
    other_folder = FleetFolder(tmp_path / "other")
    other_folder.spec()
    other_folder.environment()
    repository = GitRepository.around(tmp_path)
    repository.branch()
    other_folder.spec("# a comment\n")
    FleetFolder(tmp_path).write("web/app.js", "")
    FleetFolder(tmp_path).write(".github/workflows/x.yml", "")
    os.chdir(folder.root)
    assert [(file.path, file.what) for file in review(folder.root).executed_files] == [
        (".github/workflows/x.yml", "jobs of GitHub, or who reviews what"),
        ("web/app.js", "outside the fleet's folder"),
    ]


def test_a_name_of_a_file_has_no_power_over_the_comment(
    repository: GitRepository, folder: FleetFolder
) -> None:
    folder.write("<img src=x> `@org` [x](y).py", "")
    html = str(MarkdownIt("commonmark").render(markdown(review(folder.root), 0)))
    assert "<code>&lt;img src=x&gt; '@org' [x](y).py</code>: a Python program" in html
    assert "<img" not in page(review(folder.root))
