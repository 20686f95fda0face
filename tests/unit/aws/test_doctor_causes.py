"""Reports held against symptoms and rules: which cause is told, in which words, and what comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.aws.doctor.diagnosis import LONGEST, MAX_CAUSES, RULE_HOLDS, causes
from triton_fleet.aws.doctor.lines import symptom_texts
from triton_fleet.aws.doctor.observation import Passage
from triton_fleet.catalog.symptoms import EvidenceOrigin, Symptom, symptoms
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import LoadedSpec, open_project
from triton_fleet.rules.registry import rules

PING = (
    "The primary container for production variant AllTraffic did not pass the ping health check. Please check"
    " CloudWatch logs for this endpoint."
)
HEAD = "E1121 00:22:09.420256 7763 model_lifecycle.cc:642]"
EXCEPTION_LOG = (
    f"{HEAD} \"failed to load '/opt/ml/model/::pre' version 1: Internal: ValueError: no such thing"
    r"\n\nAt:\n  /opt/ml/model/pre/1/model.py(19): initialize\n"
)
BANNER = [
    "ERROR: This container was built for NVIDIA Driver Release 575.51 or later, but",
    "       version 470.256.02 was detected and compatibility mode is UNAVAILABLE.",
]


UNEXPLAINED_FAILURE = "Request to service failed. If failure persists after retry, contact customer support."
CAPACITY = "Unable to provision requested ML compute capacity"
REFUSALS = [
    # aws-samples/aws-genai-llm-chatbot 30, philschmid/cdk-samples 6
    ("FL660", UNEXPLAINED_FAILURE, "deploy again"),
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


def of_log(*lines: str) -> list[Passage]:
    return [
        Passage(origin=EvidenceOrigin.LOG, of="the log", text=text, next_text=following_text)
        for text, following_text in symptom_texts(lines)
    ]


def of_reason(text: str) -> Passage:
    return Passage(origin=EvidenceOrigin.REASON, of="the endpoint's FailureReason", text=text)


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


@pytest.fixture
def loaded_spec(folder: FleetFolder) -> LoadedSpec:
    return open_project(folder.root, "dev").load("sentences")


@pytest.mark.parametrize("symptom", symptoms(), ids=lambda symptom: symptom.name)
def test_each_example_is_told_by_the_code_that_explains_most_of_it_with_what_was_read(
    symptom: Symptom, loaded_spec: LoadedSpec
) -> None:
    log = EvidenceOrigin.LOG if EvidenceOrigin.LOG in symptom.origins else min(symptom.origins)
    (first, *_) = causes([Passage(origin=log, of="the text", text=symptom.example)], [], loaded_spec)
    best = lowest(symptom, log)
    assert first.code == best.codes[0]
    assert "the text: " in first.message
    assert first.hint.startswith(best.remedy.partition("{")[0])


def lowest(symptom: Symptom, location: EvidenceOrigin) -> Symptom:
    """The symptom that explains most of this one's example: itself, or one of a lower rank."""
    actual_symptoms = [
        item for item in symptoms() if location in item.origins and item.pattern.search(symptom.example)
    ]
    return min(actual_symptoms, key=lambda item: item.rank)


def test_a_rules_cause_is_told_in_the_rules_words_at_its_place_in_the_spec(loaded_spec: LoadedSpec) -> None:
    (finding,) = causes(of_log("starting", *BANNER), [], loaded_spec)
    rule = rules()["FL204"]
    summary, text, evidence = finding.message.split("\n")
    assert finding.code == "FL204"
    assert summary == f"probably violated: {rule.summary}"
    assert text == " ".join(rule.reason.split())
    assert "version 470.256.02 was detected" in evidence
    assert (finding.file and finding.file.name, finding.line) == ("sentences.yaml", 3)
    assert finding.hint.endswith(RULE_HOLDS)


def test_without_a_spec_a_cause_has_no_place_and_nothing_is_said_of_a_check() -> None:
    (finding,) = causes(of_log(*BANNER), None, None)
    assert (finding.file, RULE_HOLDS in finding.hint) == (None, False)


def test_a_finding_of_the_check_that_fits_comes_first_with_its_own_place_and_hint() -> None:
    missing_passages = of_log(f"{HEAD} ModuleNotFoundError: No module named 'PIL'")
    findings = [Finding(code="FL204", message="no AMI fits", file=Path("spec.yaml"), line=7, hint="do this")]
    first, second = causes([*missing_passages, *of_log(*BANNER)], findings, None)
    assert (first.code, first.line, first.hint) == ("FL204", 7, "do this")
    assert first.message.startswith("no AMI fits\nthe log: ")
    assert second.code == "FL649"


def test_a_finding_of_another_code_of_the_symptom_fits_as_well() -> None:
    findings = [Finding(code="FL223", message="two generations", severity=Severity.ERROR)]
    (finding,) = causes([of_reason("CannotStartContainerError. Please ensure")], findings, None)
    assert finding.code == "FL223"


def test_a_warning_of_the_check_that_fits_is_told_as_the_cause_and_is_no_reason_to_come_first() -> None:
    findings = [Finding(code="FL225", message="an old GPU", severity=Severity.WARNING)]
    old = of_log("no kernel image is available for execution on the device")
    actual_findings = causes([*of_log(*BANNER), *old], findings, None)
    assert codes(actual_findings) == ["FL204", "FL225"]
    assert actual_findings[1].severity is Severity.ERROR


def test_what_only_follows_is_told_where_there_is_nothing_else() -> None:
    assert codes(causes([of_reason(PING)], [], None)) == ["FL647"]
    assert codes(causes([of_reason(PING), *of_log(EXCEPTION_LOG)], [], None)) == ["FL657"]


def test_what_names_the_cause_comes_before_what_names_its_kind() -> None:
    log = of_log(EXCEPTION_LOG, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB")
    assert codes(causes(log, [], None)) == ["FL251", "FL657"]


def test_a_line_is_told_once_by_what_explains_most_of_it() -> None:
    line = f"{HEAD} failed to load 'a' version 1: Internal: ModuleNotFoundError: No module named 'PIL'"
    (finding,) = causes(of_log(line, line, "done"), [], None)
    assert finding.message.startswith("A Python model imports PIL, which its environment does not have\n")


def test_two_models_that_fail_are_two_causes_and_the_same_in_a_table_is_none_more() -> None:
    log = of_log(
        EXCEPTION_LOG,
        f"{HEAD} failed to load 'post' version 1: Not found: unable to load shared library",
        "| post  | 1       | UNAVAILABLE: Not found: unable to load shared library |",
    )
    findings = causes(log, [], None)
    assert codes(findings) == ["FL657", "FL658"]
    assert "Python model pre raised" in findings[0].message
    assert "model.py(19): initialize" in findings[0].message


def test_the_containers_words_are_known_in_an_event_and_those_of_aws_are_not_in_a_log() -> None:
    text = "Target a.tar.gz cannot be loaded: ModuleNotFoundError: No module named 'PIL'"
    event = Passage(origin=EvidenceOrigin.EVENT, of="the event of Custom::EndpointCheck", text=text)
    assert codes(causes([event], [], None)) == ["FL649"]
    assert causes(of_log(PING, "CannotStartContainerError"), [], None) == []


def test_what_nobody_knows_leads_to_no_cause() -> None:
    assert causes([of_reason("The service is out of order."), *of_log("hello")], [], None) == []


@pytest.mark.parametrize(("code", "words", "remedy"), REFUSALS)
def test_a_refusal_of_aws_is_told_in_an_event_and_in_a_failure_reason(
    code: str, words: str, remedy: str
) -> None:
    event = Passage(origin=EvidenceOrigin.EVENT, of="the event of AWS::SageMaker::Endpoint", text=words)
    for passage in (event, of_reason(words)):
        (first,) = causes([passage], [], None)
        assert (first.code, remedy in first.hint) == (code, True)


def test_a_failure_for_which_sagemaker_gives_no_reason_is_told_where_the_log_has_none() -> None:
    reason = of_reason(UNEXPLAINED_FAILURE)
    assert codes(causes([reason, *of_log("starting")], [], None)) == ["FL660"]
    assert codes(causes([reason, *of_log(EXCEPTION_LOG)], [], None)) == ["FL657"]


def test_no_more_causes_are_told_than_anybody_reads() -> None:
    log = [f"{HEAD} failed to load 'm{number}' version 1: Not found: x" for number in range(50)]
    assert len(causes(of_log(*log), [], None)) == MAX_CAUSES


def test_a_hostile_line_is_cut_and_its_braces_and_secrets_do_nothing() -> None:
    hostile = "failed to load '{0.__class__}' version 1: HF_TOKEN=hf_" + "x" * 5000
    (finding,) = causes(of_log(hostile), [], None)
    assert finding.message.startswith("Triton does not load model {0.__class__}\n")
    assert "hf_" not in finding.message
    assert len(finding.message) < 2 * LONGEST
