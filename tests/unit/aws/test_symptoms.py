"""The symptoms that are known: each is found in its own example, and leads to a code that exists."""

from __future__ import annotations

import re
from datetime import date

import pytest

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.symptoms import AFTERMATH_RANK, EvidenceOrigin, Symptom, symptoms
from triton_fleet.rules.codes import other_codes, themes
from triton_fleet.rules.registry import rules
from triton_fleet.spec.endpoint import EndpointSpec

EACH_SYMPTOM = pytest.mark.parametrize("symptom", symptoms(), ids=lambda symptom: symptom.name)
KEYS = {"where", "pattern", "codes", "cause", "remedy", "key", "rank", "source", "date", "example"}


def names(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))


@EACH_SYMPTOM
def test_a_symptom_is_found_in_its_own_example_and_of_its_rank_no_other_is(symptom: Symptom) -> None:
    actual_symptoms = [item for item in symptoms() if item.pattern.search(symptom.example)]
    assert symptom in actual_symptoms
    assert [
        actual_symptom.name for actual_symptom in actual_symptoms if actual_symptom.rank == symptom.rank
    ] == [symptom.name]


@EACH_SYMPTOM
def test_every_code_exists_and_what_no_rule_says_is_said_in_a_sentence(symptom: Symptom) -> None:
    assert set(symptom.codes) <= {*rules(), *other_codes()}
    assert bool(symptom.cause) is (symptom.codes[0] not in rules())
    assert symptom.remedy


@EACH_SYMPTOM
def test_what_is_said_has_no_other_groups_than_the_pattern(symptom: Symptom) -> None:
    groups = set(symptom.pattern.groupindex)
    assert names(symptom.cause) <= groups
    if groups:
        assert symptom.remedy.format_map(dict.fromkeys(groups, "x"))


@EACH_SYMPTOM
def test_it_is_about_a_key_that_a_spec_has(symptom: Symptom) -> None:
    assert not symptom.key or symptom.key[0] in EndpointSpec.model_fields
    assert 1 <= symptom.rank <= AFTERMATH_RANK


@EACH_SYMPTOM
def test_it_says_who_has_seen_it_and_when(symptom: Symptom) -> None:
    assert len(symptom.source) > 10
    assert date.fromisoformat(symptom.date) <= date.fromisoformat(str(data_file("symptoms.yaml")["date"]))


def test_the_data_has_no_other_keys() -> None:
    assert {key for facts in data_file("symptoms.yaml")["symptoms"].values() for key in facts} == KEYS


def test_the_containers_words_are_looked_for_wherever_they_are_quoted() -> None:
    by_name = {symptom.name: symptom for symptom in symptoms()}
    assert by_name["module_missing"].origins == {
        EvidenceOrigin.EVENT,
        EvidenceOrigin.REASON,
        EvidenceOrigin.LOG,
    }
    assert by_name["python_call_raised"].origins == {EvidenceOrigin.CALL}
    assert by_name["no_capacity"].origins == {EvidenceOrigin.EVENT, EvidenceOrigin.REASON}


def test_every_code_of_the_doctor_is_the_code_of_a_symptom_or_of_what_it_observes() -> None:
    codes = {code for symptom in symptoms() for code in symptom.codes}
    (doctor,) = (theme for theme in themes() if theme.name == "doctor")
    assert {code for code in other_codes() if code in doctor.codes} - codes == {"FL640", "FL641"}


@EACH_SYMPTOM
def test_no_pattern_takes_forever_over_a_hostile_line_as_it_repeats_no_group(symptom: Symptom) -> None:
    assert re.search(r"\)(?:[*+]|\{)", symptom.pattern.pattern) is None
