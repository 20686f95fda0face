"""Docker as the build of an image calls it: what it breaks off is never taken for a whole answer."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from engine_request.problems import BuildError
from engine_request.process import Deadline
from image_build.docker import Docker

DOCKER = """\
#!/bin/sh
echo "$@" >> {folder}/calls
case "$1" in
  create) echo container ;;
  export) cat {folder}/export.tar; exit {code} ;;
  login) cat > {folder}/password ;;
  image) sleep {seconds}; echo '[{{"Id": "x"}}]' ;;
esac
"""


class Machine:
    """A machine whose `docker` answers as it is told."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def docker(self, *, code: int = 0, seconds: float = 0, deadline: float = 60) -> Docker:
        script = self.folder / "docker"
        script.write_text(DOCKER.format(folder=self.folder, code=code, seconds=seconds))
        script.chmod(0o755)
        return Docker(Deadline(deadline))

    def export(self, *names: str) -> None:
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as tar:
            for name in names:
                tar.addfile(tarfile.TarInfo(name))
        (self.folder / "export.tar").write_bytes(content.getvalue())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_paths_that_a_pattern_matches_are_kept_up_to_its_end_and_the_container_goes(machine: Machine) -> None:
    machine.export(
        "usr/bin/serve", "usr/lib/a.dist-info/METADATA", "usr/lib/a.dist-info/RECORD", "etc/passwd"
    )
    lines = machine.docker().paths("image", [r"usr/bin/serve\Z", r"usr/lib/[^/]+\.dist-info"])
    assert lines == ["usr/bin/serve", "usr/lib/a.dist-info"]
    assert (machine.folder / "calls").read_text().splitlines()[-1] == "rm container"


def test_a_name_that_is_no_text_is_left_out(machine: Machine) -> None:
    machine.export("usr/bin/serve", "usr/bin/serve\udcff")
    assert machine.docker().paths("image", ["usr/bin/serve.*"]) == ["usr/bin/serve"]


def test_an_image_with_more_paths_than_a_record_may_have_is_unfit(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("image_build.docker.MAX_PATHS", 2)
    machine.export(*(f"usr/lib/{name}.dist-info" for name in "aabb"))
    assert len(machine.docker().paths("image", [r"usr/lib/[^/]+\.dist-info"])) == 2
    machine.export(*(f"usr/lib/{name}.dist-info" for name in "abc"))
    with pytest.raises(
        BuildError, match="image has more than 2 files and folders that show what is inside"
    ) as error_info:
        machine.docker().paths("image", [r"usr/lib/[^/]+\.dist-info"])
    assert error_info.value.problem.exit_code == 13
    assert (machine.folder / "calls").read_text().splitlines()[-1] == "rm container"


def test_an_export_that_breaks_off_is_a_failure_and_no_list(machine: Machine) -> None:
    machine.export("usr/bin/serve")
    with pytest.raises(BuildError, match="docker export ended with 3"):
        machine.docker(code=3).paths("image", ["usr/"])


def test_a_call_that_takes_too_long_is_told_as_that(machine: Machine) -> None:
    with pytest.raises(BuildError) as error_info:
        machine.docker(seconds=30, deadline=0.2).inspect("image")
    assert error_info.value.problem.name == "time-out"


def test_the_password_of_a_registry_is_on_no_command_line(machine: Machine) -> None:
    machine.docker().log_in("registry.example", "secret")
    assert (machine.folder / "password").read_text() == "secret"
    assert "secret" not in (machine.folder / "calls").read_text()
