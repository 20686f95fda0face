"""Builds one TensorRT engine or one container image; USAGE has the commands.

Exits with 0 or an exit code of engine_request/problems.py. Older Pythons have to be able to parse this file.
"""

import sys

MIN_PYTHON = (3, 10)
UNFIT_IMAGE = 13
MISTAKE = 2
ARGUMENTS = {"compile": 2, "job": 1, "store": 2, "image": 1}
USAGE = """usage: python3 SCRIPT compile INPUT OUTPUT          build an engine, from a folder to a folder
       python3 SCRIPT job s3://BUCKET/KEY          have a SageMaker job build it
       python3 SCRIPT store s3://BUCKET/KEY OUTPUT put the output of `compile` into the bucket
       python3 SCRIPT image s3://BUCKET/KEY        build a container image"""


def run(arguments):
    # type: (list[str]) -> int
    """The exit code of a command with its arguments."""
    if sys.version_info[:2] < MIN_PYTHON:
        version, minimum = (
            ".".join(str(number) for number in version) for version in (sys.version_info[:2], MIN_PYTHON)
        )
        print("error: this image has Python {}; the build needs {}".format(version, minimum), file=sys.stderr)  # noqa: UP032
        return UNFIT_IMAGE
    command, rest = arguments[0] if arguments else "", arguments[1:]
    if ARGUMENTS.get(command) != len(rest):
        print(USAGE, file=sys.stderr)
        return MISTAKE
    if command == "compile":
        from pathlib import Path

        from compile_engine.compile import compile_engine
        from engine_request.outcome import outcome

        return outcome(lambda: compile_engine(Path(rest[0]), Path(rest[1])))
    from engine_request.boto3_install import require_boto3

    require_boto3()
    from engine_request.run import run_request

    if command == "image":
        from image_build.build import build_image
        from image_build.request import ImageRequest

        remedy = "run `fleet images build` again"
        return run_request(rest[0], ImageRequest.of, build_image, remedy=remedy)
    from engine_request.request import EngineRequest

    if command == "job":
        from engine_job.job import run_job

        return run_request(rest[0], EngineRequest.of, run_job)
    from engine_job.store import store_folder

    return run_request(rest[0], EngineRequest.of, lambda *work: store_folder(*work, folder=rest[1]))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
