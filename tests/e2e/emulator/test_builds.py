"""The embedded AWS's CodeBuild: builds that really run, as processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from botocore.exceptions import ClientError

from tests.support.builds import GROUP, IMAGE, Builds, buildspec, commands, phases, zip_files
from tests.support.running_aws import running_aws
from triton_fleet.builds.engines.endpoint_engines import expected_tensorrt
from triton_fleet.catalog.images import release

HANG = "trap 'echo ended in order; exit 21' TERM; echo running; while :; do sleep 0.05; done"


@pytest.fixture(scope="module")
def builds() -> Iterator[Builds]:
    with running_aws() as aws:
        yield Builds(aws)


def test_a_build_runs_its_source_and_is_shown_with_its_phases_and_its_log(builds: Builds) -> None:
    project = builds.project("shown", commands("false"))
    source = builds.source("run.zip", zip_files({"run.sh": 'echo "one $1"; echo; echo two >&2'}))
    told_buildspec = buildspec(commands('bash ./run.sh "$SAID"', "pwd > /dev/null"))
    id = builds.start(
        project, sourceTypeOverride="S3", sourceLocationOverride=source, buildspecOverride=told_buildspec
    )
    build = builds.final_build(id)
    assert builds.lines(build) == ["one by the project", "", "two"]
    assert (build["buildStatus"], build["currentPhase"]) == ("SUCCEEDED", "COMPLETED")
    assert phases(build) == {
        **dict.fromkeys(["SUBMITTED", "QUEUED", "PROVISIONING", "DOWNLOAD_SOURCE"], "SUCCEEDED"),
        **dict.fromkeys(["INSTALL", "PRE_BUILD", "BUILD", "POST_BUILD"], "SUCCEEDED"),
        **dict.fromkeys(["UPLOAD_ARTIFACTS", "FINALIZING"], "SUCCEEDED"),
        "COMPLETED": "",
    }
    assert (build["logs"]["groupName"], build["logs"]["streamName"]) == (GROUP, id.split(":")[1])
    assert (build["source"]["type"], build["source"]["location"]) == ("S3", source)
    assert build["startTime"] <= build["endTime"]
    assert builds.api.list_builds_for_project(projectName=project)["ids"] == [id]


def test_variables_of_the_build_come_before_those_of_the_project(builds: Builds) -> None:
    project = builds.project("variables", commands('echo "$SAID, $ADDED"', "echo $CODEBUILD_BUILD_ID"))
    addition = [{"name": "SAID", "value": "by the build"}, {"name": "ADDED", "value": "a = 'b'"}]
    build = builds.final_build(builds.start(project, environmentVariablesOverride=addition))
    assert builds.lines(build) == ["by the build, a = 'b'", build["id"]]


def test_commands_share_a_shell_and_phases_share_folder_and_exported_variables(builds: Builds) -> None:
    project = builds.project(
        "shared",
        {
            "pre_build": {"commands": ['X=1; export Y="two\nlines"', "mkdir sub; cd sub; echo $X"]},
            "build": {"commands": ['echo "${X:-unset}"; echo "$Y"; basename "$PWD"']},
        },
    )
    assert builds.lines(builds.final_build(builds.start(project))) == ["1", "unset", "two", "lines", "sub"]


@pytest.mark.parametrize(
    ("phase", "other_values"),
    [
        ("pre_build", {"BUILD": None, "POST_BUILD": None, "UPLOAD_ARTIFACTS": None}),
        ("build", {"POST_BUILD": "SUCCEEDED", "UPLOAD_ARTIFACTS": "SUCCEEDED"}),
    ],
)
def test_a_command_that_fails_ends_its_phase_and_the_build(
    builds: Builds, phase: str, other_values: dict[str, str | None]
) -> None:
    failing_phase = {"commands": ["echo first", "exit 3", "echo never"], "finally": ["echo finally"]}
    after = {"commands": ["echo succeeding $CODEBUILD_BUILD_SUCCEEDING"]}
    project = builds.project(f"failing-{phase}", {phase: failing_phase, "post_build": after})
    build = builds.final_build(builds.start(project))
    assert build["buildStatus"] == "FAILED"
    texts = ["first", "finally", *(["succeeding 0"] if phase == "build" else [])]
    assert builds.lines(build) == texts
    (failed_phase,) = [entry for entry in build["phases"] if entry.get("phaseStatus") == "FAILED"]
    assert failed_phase["phaseType"] == phase.upper()
    (context,) = failed_phase["contexts"]
    assert context["statusCode"] == "COMMAND_EXECUTION_ERROR"
    assert context["message"].endswith("exit status 3")
    assert {name: phases(build).get(name) for name in other_values} == other_values


def test_a_build_that_is_stopped_may_end_in_order(builds: Builds) -> None:
    project = builds.project("stopped", {**commands(HANG), "post_build": {"commands": ["echo never"]}})
    id = builds.start(project)
    builds.log_contains(builds.current_build(id), "running")
    assert builds.current_build(id)["buildStatus"] == "IN_PROGRESS"
    assert builds.current_build(id)["currentPhase"] == "BUILD"
    builds.api.stop_build(id=id)
    build = builds.final_build(id)
    assert (build["buildStatus"], phases(build)["BUILD"]) == ("STOPPED", "STOPPED")
    assert [line for line in builds.lines(build) if line != "Terminated"] == ["running", "ended in order"]
    assert builds.api.stop_build(id=id)["build"]["buildStatus"] == "STOPPED"


def test_a_stopped_build_leaves_no_process_behind(builds: Builds) -> None:
    project = builds.project("left", commands("setsid sleep 1000 & echo $!", "echo running; wait"))
    id = builds.start(project)
    builds.log_contains(builds.current_build(id), "running")
    builds.api.stop_build(id=id)
    pid = int(builds.lines(builds.final_build(id))[0])
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_build_sees_no_aws_but_the_embedded_one_and_nothing_of_the_user(
    builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("OF_THE_USER", "1")
    text = 'python3 -c \'import boto3; print([b["Name"] for b in boto3.client("s3").list_buckets()["Buckets"]])\''
    project = builds.project("seen", commands(text, "echo ${AWS_PROFILE:-} ${OF_THE_USER:-}."))
    lines = builds.lines(builds.final_build(builds.start(project)))
    assert lines == ["['sources']", "."]


def test_a_build_has_no_gpu_and_the_tensorrt_of_its_image(builds: Builds) -> None:
    project = builds.project("no-gpu", commands("echo $FLEET_STAND_IN_GPU.; echo $TRT_VERSION"))
    assert builds.lines(builds.final_build(builds.start(project))) == [".", "10.4.0.26"]


def test_an_image_whose_tensorrt_nobody_says_has_that_for_which_engines_are_planned(builds: Builds) -> None:
    image = IMAGE.replace("24.09", "26.05")
    planned_text = expected_tensorrt(release("26.05"))
    project = builds.project("unsaid", commands("echo $TRT_VERSION"))
    assert builds.lines(builds.final_build(builds.start(project, imageOverride=image))) == [planned_text]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (zip_files({"../outside": "x"}), "'../outside' leads out of its folder"),
        (zip_files({"/outside": "x"}), "'/outside' is an absolute path"),
        (b"no zip", "is not a zip file"),
        (None, "The specified key does not exist"),
    ],
    ids=["above", "absolute", "no zip", "absent"],
)
def test_a_source_that_cannot_be_unpacked_fails_the_build(
    builds: Builds, content: bytes | None, reason: str
) -> None:
    name = f"source-{abs(hash(reason))}"
    project = builds.project(name, commands("echo never"))
    source = f"sources/{name}" if content is None else builds.source(name, content)
    id = builds.start(project, sourceTypeOverride="S3", sourceLocationOverride=source)
    build = builds.final_build(id)
    assert (build["buildStatus"], phases(build)["DOWNLOAD_SOURCE"]) == ("FAILED", "FAILED")
    (failed_phase,) = [phase for phase in build["phases"] if phase.get("phaseStatus") == "FAILED"]
    assert reason in failed_phase["contexts"][0]["message"]
    assert builds.lines(build) == []


def test_the_buildspec_of_the_project_is_not_that_of_another_source(builds: Builds) -> None:
    project = builds.project("another-source", commands("echo never"))
    source = builds.source("another.zip", zip_files({"run.sh": "true"}))
    build = builds.final_build(builds.start(project, sourceTypeOverride="S3", sourceLocationOverride=source))
    (failed_phase,) = [phase for phase in build["phases"] if phase.get("phaseStatus") == "FAILED"]
    assert (failed_phase["phaseType"], failed_phase["contexts"][0]["statusCode"]) == (
        "DOWNLOAD_SOURCE",
        "YAML_FILE_ERROR",
    )
    assert "YAML file does not exist" in failed_phase["contexts"][0]["message"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("version: 0.1\nphases: {}", "version 0.1 is not supported here, only 0.2"),
        ("buildspec.yml", "a buildspec that is a file of the source is not supported here"),
        (
            "version: 0.2\nphases: {build: {on-failure: ABORT}}",
            "phases.build.on-failure is not supported",
        ),
        ("version: 0.2\nenv: {shell: powershell.exe}", "not in powershell.exe"),
        ("version: [", "expected"),
    ],
)
def test_a_buildspec_that_says_what_is_not_done_here_fails_the_build(
    builds: Builds, text: str, reason: str
) -> None:
    project = builds.project(f"buildspec-{abs(hash(reason))}", {})
    build = builds.final_build(builds.start(project, buildspecOverride=text))
    (failed_phase,) = [phase for phase in build["phases"] if phase.get("phaseStatus") == "FAILED"]
    assert failed_phase["contexts"][0]["statusCode"] == "YAML_FILE_ERROR"
    assert reason in failed_phase["contexts"][0]["message"]


def test_a_request_that_is_repeated_starts_one_build(builds: Builds) -> None:
    project = builds.project("repeated", commands("true"))
    first, second = (builds.start(project, idempotencyToken="once") for _ in range(2))
    assert first == second
    with pytest.raises(ClientError, match="was used for another request"):
        builds.start(project, idempotencyToken="once", imageOverride="another")
    assert builds.final_build(first)["buildStatus"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"projectName": "absent"}, "Project cannot be found"),
        ({"fleetOverride": {"fleetArn": "any"}}, "starts no build with fleetOverride"),
        (
            {"environmentVariablesOverride": [{"name": "A", "value": "/a", "type": "PARAMETER_STORE"}]},
            "reads no variable from elsewhere: A",
        ),
    ],
)
def test_what_has_no_effect_here_is_refused(builds: Builds, request_: dict[str, Any], reason: str) -> None:
    if "refused" not in builds.api.list_projects()["projects"]:
        builds.project("refused", commands("true"))
    with pytest.raises(ClientError, match=reason):
        builds.api.start_build(**{"projectName": "refused"} | request_)
