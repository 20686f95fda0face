"""`python3 HEX.zip compile|job|image s3://BUCKET/KEY`: builds one TensorRT engine or one container image.

Exits with 0, or with what engine_request/problems.py says. Older Pythons have to be able to read this file.
"""

import sys

LEAST = (3, 10)
UNFIT_IMAGE = 13
USAGE = 2


def run(arguments):
    # type: (list[str]) -> int
    """The exit code of a command and a request's address."""
    if sys.version_info[:2] < LEAST:
        there, least = (
            ".".join(str(number) for number in version) for version in (sys.version_info[:2], LEAST)
        )
        print("error: this image has Python {}; the build needs {}".format(there, least), file=sys.stderr)  # noqa: UP032
        return UNFIT_IMAGE
    if len(arguments) != 2 or arguments[0] not in ("compile", "job", "image"):
        print("usage: python3 HEX.zip compile|job|image s3://BUCKET/KEY", file=sys.stderr)
        return USAGE
    from engine_request.boto3_there import require_boto3

    require_boto3()
    from engine_request.outcome import outcome

    if arguments[0] == "image":
        from image_build.build import build_image
        from image_build.request import ImageRequest

        return outcome(arguments[1], ImageRequest.of, build_image)
    from engine_request.request import Request

    if arguments[0] == "compile":
        from compile_engine.compile import compile_engine as work
    else:
        from engine_job.job import run_job as work
    return outcome(arguments[1], Request.of, work)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
