"""What was seen, held against symptoms and rules: which cause is told, in which words, and what comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.aws.doctor.causes import LONGEST, MAX_CAUSES, NOT_NOW, causes
from fleet.aws.doctor.lines import symptom_texts
from fleet.aws.doctor.observation import Passage
from fleet.catalog.symptoms import Symptom, Where, symptoms
from fleet.findings import Finding, Severity
from fleet.rules.registry import rules
from fleet.spec.project import LoadedSpec, open_project
from fleet_folder import FleetFolder

PING = (
    "The primary container for production variant AllTraffic did not pass the ping health check. Please check"
    " CloudWatch logs for this endpoint."
)
HEAD = "E1121 00:22:09.420256 7763 model_lifecycle.cc:642]"
RAISED = (
    f"{HEAD} \"failed to load '/opt/ml/model/::pre' version 1: Internal: ValueError: no such thing"
    r"\n\nAt:\n  /opt/ml/model/pre/1/model.py(19): initialize\n"
)
BANNER = [
    "ERROR: This container was built for NVIDIA Driver Release 575.51 or later, but",
    "       version 470.256.02 was detected and compatibility mode is UNAVAILABLE.",
]


UNEXPLAINED = "Request to service failed. If failure persists after retry, contact customer support."
CAPACITY = "Unable to provision requested ML compute capacity"
REFUSALS = [
    # aws-samples/aws-genai-llm-chatbot 30, philschmid/cdk-samples 6
    ("FL660", UNEXPLAINED, "deploy again"),
    # aws/deep-learning-containers 6673, DIAGNijmegen/rse-grand-challenge 2631
    ("FL643", f"{CAPACITY} due to InsufficientInstanceCapacity error.", "deploy again later"),
    (
        "FL643",
        f"CapacityError: {CAPACITY}. Please retry using a different ML instance type.",
        "instance pools",
    ),
    # skypilot-org/skypilot, of EC2's RunInstances
    (
        "FL643",
        "An error occurred (InsufficientInstanceCapacity) when calling the RunInstances operation: We currently"
        " do not have sufficient p3.16xlarge capacity in the Availability Zone you requested (us-east-1a).",
        "deploy again later",
    ),
    # polyai/dialog-rsn-1-sagemaker, README
    ("FL222", "Invalid combination: instance p4d and InferenceAmiVersion", "deploy again"),
    # aws/sagemaker-python-sdk pull request 5093
    (
        "FL222",
        "Invalid combination: instance m5 and Cuda 12.2. Please provide a supported configuration",
        "leave",
    ),
    # aws/amazon-sagemaker-operator-for-k8s, the client's DeleteEndpointInProgressMessagePrefix
    (
        "FL661",
        'Cannot update in-progress endpoint "arn:aws:sagemaker:us-west-2:123456789098:endpoint/test-endpoint".',
        "aws sagemaker wait endpoint-in-service",
    ),
    # awslabs/predictive-maintenance-using-machine-learning 3
    (
        "FL662",
        "Could not assume role arn:aws:iam::123456789012:role/a-role. Please ensure that the role exists and"
        " allows principal 'sagemaker.amazonaws.com' to assume the role.",
        "deploy again",
    ),
]


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


def of_log(*lines: str) -> list[Passage]:
    return [
        Passage(where=Where.LOG, of="the log", text=text, following=following)
        for text, following in symptom_texts(lines)
    ]


def of_reason(text: str) -> Passage:
    return Passage(where=Where.REASON, of="the endpoint's FailureReason", text=text)


def codes(found: list[Finding]) -> list[str]:
    return [each.code for each in found]


@pytest.fixture
def loaded(folder: FleetFolder) -> LoadedSpec:
    return open_project(folder.root, "dev").load("sentences")


@pytest.mark.parametrize("symptom", symptoms(), ids=lambda symptom: symptom.name)
def test_each_example_is_told_by_the_code_that_explains_most_of_it_with_what_was_read(
    symptom: Symptom, loaded: LoadedSpec
) -> None:
    where = Where.LOG if Where.LOG in symptom.where else min(symptom.where)
    (first, *_) = causes([Passage(where=where, of="the text", text=symptom.example)], [], loaded)
    best = lowest(symptom, where)
    assert first.code == best.codes[0]
    assert "the text: " in first.message
    assert first.hint.startswith(best.remedy.partition("{")[0])


def lowest(symptom: Symptom, where: Where) -> Symptom:
    """What explains most of the symptom's example: itself, or one of a lower rank."""
    found = [each for each in symptoms() if where in each.where and each.pattern.search(symptom.example)]
    return min(found, key=lambda each: each.rank)


def test_a_rules_cause_is_told_in_the_rules_words_at_its_place_in_the_spec(loaded: LoadedSpec) -> None:
    (found,) = causes(of_log("starting", *BANNER), [], loaded)
    rule = rules()["FL204"]
    summary, why, evidence = found.message.split("\n")
    assert found.code == "FL204"
    assert summary == f"probably violated: {rule.summary}"
    assert why == " ".join(rule.why.split())
    assert "version 470.256.02 was detected" in evidence
    assert (found.file and found.file.name, found.line) == ("sentences.yaml", 3)
    assert found.hint.endswith(NOT_NOW)


def test_without_a_spec_a_cause_has_no_place_and_nothing_is_said_of_a_check() -> None:
    (found,) = causes(of_log(*BANNER), None, None)
    assert (found.file, NOT_NOW in found.hint) == (None, False)


def test_a_finding_of_the_check_that_fits_comes_first_with_its_own_place_and_hint() -> None:
    missing = of_log(f"{HEAD} ModuleNotFoundError: No module named 'PIL'")
    checked = [Finding(code="FL204", message="no AMI fits", file=Path("spec.yaml"), line=7, hint="do this")]
    first, second = causes([*missing, *of_log(*BANNER)], checked, None)
    assert (first.code, first.line, first.hint) == ("FL204", 7, "do this")
    assert first.message.startswith("no AMI fits\nthe log: ")
    assert second.code == "FL649"


def test_a_finding_of_another_code_of_the_symptom_fits_as_well() -> None:
    checked = [Finding(code="FL223", message="two generations", severity=Severity.ERROR)]
    (found,) = causes([of_reason("CannotStartContainerError. Please ensure")], checked, None)
    assert found.code == "FL223"


def test_a_warning_of_the_check_that_fits_is_told_as_the_cause_and_is_no_reason_to_come_first() -> None:
    checked = [Finding(code="FL225", message="an old GPU", severity=Severity.WARNING)]
    old = of_log("no kernel image is available for execution on the device")
    found = causes([*of_log(*BANNER), *old], checked, None)
    assert codes(found) == ["FL204", "FL225"]
    assert found[1].severity is Severity.ERROR


def test_what_only_follows_is_told_where_there_is_nothing_else() -> None:
    assert codes(causes([of_reason(PING)], [], None)) == ["FL647"]
    assert codes(causes([of_reason(PING), *of_log(RAISED)], [], None)) == ["FL657"]


def test_what_names_the_cause_comes_before_what_names_its_kind() -> None:
    log = of_log(RAISED, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")
    assert codes(causes(log, [], None)) == ["FL251", "FL657"]


def test_a_line_is_told_once_by_what_explains_most_of_it() -> None:
    line = f"{HEAD} failed to load 'a' version 1: Internal: ModuleNotFoundError: No module named 'PIL'"
    (found,) = causes(of_log(line, line, "done"), [], None)
    assert found.message.startswith("A Python model imports PIL, which its environment does not have\n")


def test_two_models_that_fail_are_two_causes_and_the_same_in_a_table_is_none_more() -> None:
    log = of_log(
        RAISED,
        f"{HEAD} failed to load 'post' version 1: Not found: unable to load shared library",
        "| post  | 1       | UNAVAILABLE: Not found: unable to load shared library |",
    )
    found = causes(log, [], None)
    assert codes(found) == ["FL657", "FL658"]
    assert "Python model pre raised" in found[0].message
    assert "model.py(19): initialize" in found[0].message


def test_the_containers_words_are_known_in_an_event_and_those_of_aws_are_not_in_a_log() -> None:
    quoted = "Target a.tar.gz cannot be loaded: ModuleNotFoundError: No module named 'PIL'"
    event = Passage(where=Where.EVENT, of="the event of Custom::EndpointCheck", text=quoted)
    assert codes(causes([event], [], None)) == ["FL649"]
    assert causes(of_log(PING, "CannotStartContainerError"), [], None) == []


def test_what_nobody_knows_leads_to_no_cause() -> None:
    assert causes([of_reason("The service is out of order."), *of_log("hello")], [], None) == []


@pytest.mark.parametrize(("code", "words", "remedy"), REFUSALS)
def test_a_refusal_of_aws_is_told_in_an_event_and_in_a_failure_reason(
    code: str, words: str, remedy: str
) -> None:
    event = Passage(where=Where.EVENT, of="the event of AWS::SageMaker::Endpoint", text=words)
    for passage in (event, of_reason(words)):
        (first,) = causes([passage], [], None)
        assert (first.code, remedy in first.hint) == (code, True)


@pytest.mark.parametrize(("code", "words", "message"), CONTAINER_TEXTS)
def test_what_a_container_logged_in_a_public_report_is_explained(code: str, words: str, message: str) -> None:
    (found,) = causes(of_log("starting", words), None, None)
    assert (found.code, message in found.message.partition("\n")[0]) == (code, True)


@pytest.mark.parametrize("words", NEIGHBOURS)
def test_a_similar_text_with_another_cause_is_not_explained_by_it(words: str) -> None:
    new = {"FL633", "FL672", "FL673", "FL674", "FL675", "FL676"}
    assert not new & set(codes(causes(of_log(words), None, None)))


@pytest.mark.parametrize("words", NO_S3)
def test_a_vpc_from_which_s3_cannot_be_reached_is_told_at_the_spec_s_network(
    words: str, folder: FleetFolder
) -> None:
    folder.spec("network: {subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0]}\n")
    spec = open_project(folder.root, "dev").load("sentences")
    (found,) = causes([of_reason(words)], [], spec)
    assert (found.code, "gateway endpoint" in found.hint) == ("FL671", True)
    assert found.line == spec.source.mark(("network",)).line
    assert "FL671" not in codes(
        causes([of_reason('Failed to download model data for container "c" from URL: "s3://b/k"')], [], spec)
    )


def test_a_failure_for_which_sagemaker_gives_no_reason_is_told_where_the_log_has_none() -> None:
    reason = of_reason(UNEXPLAINED)
    assert codes(causes([reason, *of_log("starting")], [], None)) == ["FL660"]
    assert codes(causes([reason, *of_log(RAISED)], [], None)) == ["FL657"]


def test_no_more_causes_are_told_than_anybody_reads() -> None:
    log = [f"{HEAD} failed to load 'm{number}' version 1: Not found: x" for number in range(50)]
    assert len(causes(of_log(*log), [], None)) == MAX_CAUSES


def test_a_hostile_line_is_cut_and_its_braces_and_secrets_do_nothing() -> None:
    hostile = "failed to load '{0.__class__}' version 1: HF_TOKEN=hf_" + "x" * 5000
    (found,) = causes(of_log(hostile), [], None)
    assert found.message.startswith("Triton does not load model {0.__class__}\n")
    assert "hf_" not in found.message
    assert len(found.message) < 2 * LONGEST
