"""Texts of public reports, and similar ones: which symptom each of them has."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.aws.doctor.diagnosis import causes
from triton_fleet.aws.doctor.lines import symptom_texts
from triton_fleet.aws.doctor.observation import Passage
from triton_fleet.catalog.symptoms import EvidenceOrigin
from triton_fleet.project.project import open_project

FAILED_TORCHSCRIPT = "Internal: failed to load model 'vit_torch': PytorchStreamReader failed locating file constants.pkl: file not found"
NO_LIBRARY = "cannot open shared object file: No such file or directory"
HUB = "Max retries exceeded with url: /Qwen/Qwen3-0.6B/resolve/main/config.json"
CONTAINER_TEXTS = [
    # triton-inference-server/server 3056
    (
        "FL672",
        "E0628 12:35:57.738636 1 model_repository_manager.cc:1213] failed to load 'cartoonGAN_pytorch' version 1:"
        " Internal: failed to load model 'cartoonGAN_pytorch': [enforce fail at inline_container.cc:233] . file not"
        " found: archive/constants.pkl",
        "is not TorchScript",
    ),
    # triton-inference-server/server 6213, a row of Triton's table
    ("FL672", f"| vit_torch | 1 | UNAVAILABLE: {FAILED_TORCHSCRIPT} |", "is not TorchScript"),
    # aws-samples/aws-lex-conv-faq 8
    ("FL633", "exec ./entrypoint.sh: exec format error", "another processor architecture"),
    # aws-samples/amazon-sagemaker-custom-container 3
    ("FL633", "exec format error", "another processor architecture"),
    # aws-observability/aws-otel-collector 784; the older form is of aws/aws-sam-cli 1759
    ("FL633", "standard_init_linux.go:228: exec user process caused: exec format error", "architecture"),
    ("FL633", 'standard_init_linux.go:211: exec user process caused "exec format error"', "architecture"),
    # conda-forge/opencv-feedstock 321; triton-inference-server/server 6340
    ("FL673", f"ImportError: libGL.so.1: {NO_LIBRARY}", "needs libGL.so.1"),
    ("FL673", f"UNAVAILABLE: Internal: ImportError: libX11.so.6: {NO_LIBRARY}", "needs libX11.so.6"),
    # triton-inference-server/server 7125
    (
        "FL674",
        "E0417 14:59:28.071079 1 backend_model.cc:635] ERROR: Failed to create instance: FileNotFoundError: [Errno 2]"
        " No usable temporary directory found in ['/tmp', '/var/tmp', '/usr/tmp', '/tmp/python_env_6LpLsk/3']",
        "temporary files",
    ),
    # pytorch/pytorch 28111
    ("FL675", "AssertionError: Torch not compiled with CUDA enabled", "was built without CUDA"),
    # huggingface/huggingface_hub 2319
    (
        "FL676",
        "OSError: We couldn't connect to 'https://huggingface.co/' to load this file, couldn't find it in the cached"
        " files and it looks like google-bert/bert-base-german-cased is not the path to a directory containing a file",
        "internet",
    ),
    # gpustack/gpustack 3343; ShishirPatil/gorilla 1161
    (
        "FL676",
        f"'(MaxRetryError('HTTPSConnectionPool(host=\\'huggingface.co\\', port=443): {HUB} (Caused by"
        ' NameResolutionError("<urllib3.connection.HTTPSConnection object at 0x72e2e7ca0f10>: Failed to resolve'
        " \\'huggingface.co\\' ([Errno -3] Temporary failure in name resolution)\"))')",
        "internet",
    ),
    (
        "FL676",
        f"urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='huggingface.co', port=443): {HUB} (Caused by"
        " NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f217c62e8d0>: Failed to establish a"
        " new connection: [Errno 101] Network is unreachable'))",
        "internet",
    ),
    # harry0703/MoneyPrinterTurbo 232; miaoshouai/ComfyUI-Miaoshouai-Tagger 63
    (
        "FL676",
        "huggingface_hub.utils._errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder for"
        " the specified revision on the local disk and outgoing traffic has been disabled.",
        "internet",
    ),
    (
        "FL676",
        "huggingface_hub.errors.LocalEntryNotFoundError: An error happened while trying to locate the files on the Hub"
        " and we cannot find the appropriate snapshot folder for the specified revision on the local disk.",
        "internet",
    ),
]
NEIGHBOURS = [
    # A damaged archive of TorchScript, and a file that is no archive at all.
    "PytorchStreamReader failed locating file data/3: file not found",
    "PytorchStreamReader failed reading zip archive: failed finding central directory",
    # A program that the model starts, not the container's own.
    "OSError: [Errno 8] Exec format error: './tool'",
    "fork/exec /usr/bin/tool: exec format error",
    # A backend's own library; the driver's, which a machine without a GPU does not have.
    f"Not found: unable to load shared library: libtorch.so: {NO_LIBRARY}",
    f"ImportError: libcuda.so.1: {NO_LIBRARY}",
    "OSError: [Errno 30] Read-only file system: '/tmp/cache'",
    "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
    # A host that serves no models: an endpoint works on without it.
    "HTTPSConnectionPool(host='traces.example.com', port=443): Max retries exceeded with url: /v1/traces (Caused by"
    " NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f217c62e8d0>: Failed to establish a new"
    " connection: [Errno 101] Network is unreachable'))",
    # A host that answers.
    "HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: / (Caused by"
    " SSLError(SSLCertVerificationError(1, 'certificate verify failed')))",
    "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/models/x",
]
NO_S3 = [
    # aws-solutions-library-samples/guidance-for-text-generation-using-embeddings-from-enterprise-data-on-aws 3
    'Failed to download model data from URL "s3://jumpstart-cache-prod-us-east-1/huggingface-text2text/artifacts/".'
    " Please ensure that an S3 VPC endpoint exists in route table or NAT gateway for the VPC mode and the URL is"
    " reachable from within the subnets provided.",
    # aws/amazon-sagemaker-operator-for-k8s 22, of a training job
    "ClientError: Artifact upload failed:Please ensure that the subnet's route table has a route to an S3 VPC endpoint"
    " or a NAT device, and both the security groups and the subnet's network ACL allow outbound traffic to S3",
]


def codes_of(words: str, location: EvidenceOrigin = EvidenceOrigin.LOG) -> set[str]:
    return {
        finding.code for finding in causes([Passage(origin=location, of="the text", text=words)], None, None)
    }


@pytest.mark.parametrize(("code", "words", "message"), CONTAINER_TEXTS)
def test_what_a_container_logged_in_a_public_report_is_explained(code: str, words: str, message: str) -> None:
    log = [
        Passage(origin=EvidenceOrigin.LOG, of="the log", text=text)
        for text, _ in symptom_texts(["starting", words])
    ]
    (finding,) = causes(log, None, None)
    assert (finding.code, message in finding.message.partition("\n")[0]) == (code, True)


@pytest.mark.parametrize("words", NEIGHBOURS)
def test_a_similar_text_with_another_cause_is_not_explained_by_it(words: str) -> None:
    new = {"FL633", "FL672", "FL673", "FL674", "FL675", "FL676"}
    assert not new & codes_of(words)


@pytest.mark.parametrize("words", NO_S3)
def test_a_vpc_from_which_s3_cannot_be_reached_is_told_at_the_network_of_the_spec(
    words: str, folder: FleetFolder
) -> None:
    folder.spec("network: {subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0]}\n")
    spec = open_project(folder.root, "dev").load("sentences")
    (finding,) = causes([Passage(origin=EvidenceOrigin.REASON, of="the reason", text=words)], [], spec)
    assert (finding.code, "gateway endpoint" in finding.hint) == ("FL671", True)
    assert finding.line == spec.source.mark(("network",)).line


def test_an_archive_that_is_not_downloaded_for_another_reason_is_not_about_the_vpc() -> None:
    words = 'Failed to download model data for container "c" from URL: "s3://b/k". Please ensure that there is an object'
    assert codes_of(words, EvidenceOrigin.REASON) == {"FL645"}
