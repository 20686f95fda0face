"""A Python model's environment is there, has its script at the root, and the Python of Triton's stub."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.repository_archives import archive, folder_of, gzip_bytes, tar_of
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import parsed_config
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.python.conda_match import conda_findings
from triton_fleet.repository.reading.folder import read

ENVIRONMENT = {"bin/activate": b"", "bin/python3.10": b"", "lib/python3.10/site-packages/x.py": b""}
FILE = "$$TRITON_MODEL_DIRECTORY/env.tar.gz"


def below(folder: str, files: dict[str, bytes] = ENVIRONMENT) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in files.items()}


def config(path: str) -> bytes:
    return f'parameters {{ key: "EXECUTION_ENV_PATH"\n value {{ string_value: "{path}" }} }}'.encode()


def findings(
    tmp_path: Path, path: str, files: dict[str, bytes], release: str | None = None, model: str = "m"
) -> list[Finding]:
    """Of the model in an archive, which are those of it in a folder."""
    prefix = f"{model}/" if model else ""
    files = {f"{prefix}config.pbtxt": config(path), **files}

    def of(contents: Contents) -> list[Finding]:
        text = contents.texts[f"{prefix}config.pbtxt"]
        config = parsed_config(text, Path("config.pbtxt"), model)
        return list(conda_findings(config, contents, model, release))

    packed_findings = of(read(archive(tmp_path, files)))
    assert packed_findings == of(read(folder_of(tmp_path / "repository", files)))
    return packed_findings


def conda_pack(files: dict[str, bytes]) -> dict[str, bytes]:
    return {"m/env.tar.gz": gzip_bytes(tar_of(files))}


def test_a_packed_environment_that_fits_has_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path, FILE, conda_pack(ENVIRONMENT), "24.10") == []
    assert findings(tmp_path, FILE, conda_pack(below(".")), None) == []
    assert findings(tmp_path, "", {}, None) == []


def test_an_environment_without_gzip_and_an_unpacked_one_fit_as_well(tmp_path: Path) -> None:
    tar = {"m/env.tar": tar_of(ENVIRONMENT)}
    assert findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/env.tar", tar, "24.10") == []
    contents = below("m/env")
    assert findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/env/", contents, "24.10") == []


def test_a_model_at_the_root_has_its_environment_beside_its_config(tmp_path: Path) -> None:
    assert findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/env", below("env"), "24.10", "") == []
    (absent,) = findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/envs", {}, None, "")
    assert absent.message == "Failed to get the canonical path for envs: it does not exist"


def test_what_is_not_there_is_an_error_that_names_what_is(tmp_path: Path) -> None:
    (absent,) = findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/absent.tar.gz", conda_pack(ENVIRONMENT))
    assert (absent.code, absent.severity, absent.line) == ("FL448", Severity.ERROR, 1)
    assert absent.message == "Failed to get the canonical path for m/absent.tar.gz: it does not exist"
    assert absent.hint == "the model has env.tar.gz"


@pytest.mark.parametrize("folder", ["env", "a/b", "a/b/c/d"])
def test_a_script_that_is_not_at_the_root_is_told_with_its_place(tmp_path: Path, folder: str) -> None:
    (wrong,) = findings(tmp_path, FILE, conda_pack(below(folder)), "24.10")
    assert (wrong.code, wrong.severity) == ("FL448", Severity.ERROR)
    assert wrong.message == (
        "Path m/env.tar.gz/bin/activate does not exist. The Python environment should contain an 'activate'"
        " script."
    )
    assert f"it is in {folder!r}" in wrong.hint


def test_an_environment_without_a_script_is_told(tmp_path: Path) -> None:
    (wrong,) = findings(tmp_path, FILE, conda_pack({"lib/python3.10/os.py": b""}))
    assert "does not exist" in wrong.message
    assert "conda-pack" in wrong.hint or "conda pack" in wrong.hint


def test_an_environment_without_python_is_a_warning(tmp_path: Path) -> None:
    (wrong,) = findings(tmp_path, FILE, conda_pack({"bin/activate": b"", "bin/python": b""}))
    assert (wrong.code, wrong.severity) == ("FL448", Severity.WARNING)
    assert "holds no Python" in wrong.message


@pytest.mark.parametrize(
    ("release", "python", "severity"),
    [
        ("24.10", "3.10", None),
        ("24.10", "3.12", Severity.ERROR),
        ("24.11", "3.12", None),
        ("25.04", "3.10", Severity.ERROR),
        ("26.05", "3.12", None),
        ("24.09", "3.12", Severity.WARNING),
        ("22.05", "3.8", None),
        (None, "3.12", None),
        (None, "3.11", Severity.WARNING),
    ],
)
def test_the_python_is_that_of_the_stub(
    tmp_path: Path, release: str | None, python: str, severity: Severity | None
) -> None:
    files = conda_pack({"bin/activate": b"", f"lib/python{python}/os.py": b""})
    actual_findings = findings(tmp_path, FILE, files, release)
    assert [actual_finding.severity for actual_finding in actual_findings] == ([severity] if severity else [])
    assert all(
        actual_finding.code == "FL449" and f"has Python {python}" in actual_finding.message
        for actual_finding in actual_findings
    )


def test_a_stub_of_the_models_own_takes_any_python(tmp_path: Path) -> None:
    files = conda_pack({"bin/activate": b"", "bin/python3.9": b""})
    assert [finding.code for finding in findings(tmp_path, FILE, files, "25.04")] == ["FL449"]
    assert findings(tmp_path, FILE, {**files, "m/triton_python_backend_stub": b""}, "25.04") == []


def test_the_highest_version_at_the_root_counts(tmp_path: Path) -> None:
    files = {
        "bin/activate": b"",
        "lib/python3.1/x": b"",
        "lib/python3.10/x": b"",
        "lib/python3.10/site-packages/a/lib/python3.12/x": b"",
    }
    assert findings(tmp_path, FILE, conda_pack(files), "24.10") == []


def test_a_path_that_leads_out_is_a_warning_and_is_looked_for(tmp_path: Path) -> None:
    shared_files = {"env.tgz": b"", "shared/env.tgz": gzip_bytes(tar_of(ENVIRONMENT))}
    path = "$$TRITON_MODEL_DIRECTORY/../shared/{}.tgz"
    (outside,) = findings(tmp_path, path.format("env"), shared_files, "24.10")
    assert (outside.severity, "leads out of the model's folder" in outside.message) == (
        Severity.WARNING,
        True,
    )
    both_findings = findings(tmp_path, path.format("absent"), shared_files, "24.10")
    assert [both_finding.severity for both_finding in both_findings] == [Severity.WARNING, Severity.ERROR]
    (far,) = findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/../../env.tgz", shared_files, "24.10")
    assert far.severity is Severity.WARNING


def test_a_path_in_the_image_is_a_warning(tmp_path: Path) -> None:
    (image,) = findings(tmp_path, "/opt/envs/env.tar.gz", {}, "24.10")
    assert (image.code, image.severity) == ("FL448", Severity.WARNING)
    assert "a path in the image" in image.message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "it holds no tar stream"),
        (b"no archive" * 99, "it holds no tar stream, or a damaged one"),
        (b"version https://git-lfs.github.com/spec/v1", "run `git lfs pull`"),
        (gzip_bytes(tar_of(ENVIRONMENT))[:60], "is cut off"),
        (b"", "it is empty"),
    ],
)
def test_an_environment_that_cannot_be_unpacked_is_an_error(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (wrong,) = findings(tmp_path, FILE, {"m/env.tar.gz": content})
    assert wrong.severity is Severity.ERROR
    assert "the Python environment m/env.tar.gz cannot be unpacked" in wrong.message
    assert message in wrong.message


def test_an_archive_of_another_kind_is_an_error(tmp_path: Path) -> None:
    (wrong,) = findings(tmp_path, "$$TRITON_MODEL_DIRECTORY/env.zip", {"m/env.zip": b"PK"})
    assert "m/env.zip is not an archive that the Python backend reads" in wrong.message
