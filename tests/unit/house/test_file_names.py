"""No participle and no adverb names a Python file or its package; docs/style.md explains why.

The last word of a name counts: `failed_rollback` ends with its noun, `invoke_refused` does not.
"""

from __future__ import annotations

import subprocess
from pathlib import PurePosixPath

import pytest

from fleet_folder import ROOT


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NOUNS = _words(
    """
    autoscaling batching decoding encoding feed hosting linting loading mapping need opening packing parsing
    pruning reading ring scaling scheduling seed setting speed staging string timing training unpacking
    uploading warning wording apply assembly family reply supply
    """
)
"""Nouns, and the verb `apply`, that end as participles and adverbs do."""
ENDINGS = ("ed", "ing", "ly")
PARTICIPLES = _words(
    """
    begun bought bound broken built chosen done drawn found given gone held hidden kept known left lost made
    meant met paid said seen sent shown sold sought spent taken taught thought told understood won written
    """
)
ADVERBS = _words(
    """
    again almost already anew apart enough ever here least most never now often once quite rather seldom
    soon still then there thus together too twice very well
    """
)
NOT_YET_RENAMED = frozenset(
    [
        "engine_build/compile_engine/measured.py",
        "engine_build/compile_engine/running.py",
        "engine_build/engine_job/ended.py",
        "engine_build/engine_request/boto3_there.py",
        "fleet/check/target.py",
        "fleet/check/run.py",
        "fleet/aws/api/describe.py",
        "fleet/check/engines.py",
        "fleet/artifacts/engines/drift.py",
        "fleet/artifacts/engines/inventory.py",
        "fleet/artifacts/engines/lock.py",
        "fleet/artifacts/engines/archives.py",
        "fleet/artifacts/engines/ensure.py",
        "fleet/artifacts/engines/request.py",
        "fleet/check/model_rules.py",
        "fleet/check/spec_repositories.py",
        "fleet/check/repositories.py",
        "fleet/artifacts/promote/deployment.py",
        "fleet/artifacts/prune/references.py",
        "fleet/artifacts/publish/requirements.py",
        "fleet/check/samples.py",
        "fleet/artifacts/sources/engine_folder.py",
        "fleet/aws/inventory.py",
        "fleet/aws/doctor/permissions.py",
        "fleet/aws/doctor/observation.py",
        "fleet/aws/api/embedded.py",
        "fleet/aws/preflight/check_result.py",
        "fleet/cli/repository_options.py",
        "fleet/cli/invoke/refusals.py",
        "fleet/endpoint/context/context.py",
        "fleet/engines/lock.py",
        "fleet/engines/endpoint_engines.py",
        "emulator/fleet_emulator/process_state.py",
        "emulator/fleet_emulator/sagemaker/scalable_endpoints.py",
        "emulator/fleet_emulator/types/no_effect.py",
        "fleet/local/invocation_metrics.py",
        "fleet/local/dali/config_match.py",
        "fleet/local/dali/pipeline_file.py",
        "fleet/local/dashboard/deployment.py",
        "fleet/local/try_load/triton_load.py",
        "fleet/local/try_load/repositories.py",
        "fleet/local/try_load/preparation.py",
        "fleet/local/try_load/original_configs.py",
        "fleet/local/running_endpoint.py",
        "fleet/local/triton/supervisor.py",
        "fleet/local/unsupported.py",
        "fleet/proposal/default_model.py",
        "fleet/proposal/copy.py",
        "fleet/proposal/yaml_text.py",
        "fleet/proposal/writer.py",
        "fleet/repository/config/message.py",
        "fleet/repository/loading",
        "fleet/repository/loading/completion.py",
        "fleet/repository/loading/decoupled_steps.py",
        "fleet/repository/reading/collector.py",
        "fleet/repository/reading/file_store.py",
        "fleet/repository/loading/outcome.py",
        "fleet/repository/text_format/repeated_fields.py",
        "fleet/rules/about/raw_policy.py",
        "lambda/endpoint_check/passing.py",
        "lambda/endpoint_logs/retried.py",
        "lambda/scaling_guard/registered.py",
        "lambda/scaling_guard/retried.py",
        "lambda/scaling_guard/saved.py",
        "tests/e2e/agreement/composed.py",
        "tests/e2e/triton/test_supervisor.py",
        "tests/synth/shipped.py",
        "tests/synth/test_metrics_known.py",
        "tests/unit/engine_script/test_engine_job_ended.py",
        "tests/unit/engine_script/test_engine_script_ending.py",
        "tests/unit/local/test_invocation_metrics.py",
        "tests/unit/functions/test_endpoint_check_passing.py",
        "tests/unit/artifacts/test_engine_promotion.py",
        "tests/unit/cli/test_invoke_refusals.py",
        "tests/unit/proposal/test_copy.py",
        "tests/unit/proposal/test_yaml_text.py",
        "tests/unit/rules/test_raw_policy.py",
        "tests/unit/artifacts/test_upload_interrupted.py",
    ]
)
"""Names that are refused and still in use; the list may only shrink."""


def is_refused(name: str) -> bool:
    """Whether a file's stem or a folder's name ends with a participle or an adverb."""
    noun = name.rpartition("_")[2]
    return noun not in NOUNS and (noun.endswith(ENDINGS) or noun in PARTICIPLES | ADVERBS)


def refused_paths() -> set[str]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [PurePosixPath(line) for line in listed.stdout.splitlines() if (ROOT / line).exists()]
    paths = {path for file in files for path in (file, *file.parents)}
    return {str(path) for path in paths if is_refused(path.stem)}


@pytest.mark.parametrize(
    "name", ["failed_rollback", "endpoint_scaling", "inventory", "onnx_model", "repository_loading"]
)
def test_a_noun_is_a_name(name: str) -> None:
    assert not is_refused(name)


@pytest.mark.parametrize(
    "name", ["judged", "seen", "boto3_there", "invoke_refused", "passing", "briefly", "last_told"]
)
def test_a_participle_or_an_adverb_is_not(name: str) -> None:
    assert is_refused(name)


def test_no_participle_or_adverb_names_a_file_or_a_package() -> None:
    assert sorted(refused_paths() - NOT_YET_RENAMED) == [], "end the name with a noun (docs/style.md)"


def test_what_was_renamed_has_left_the_list() -> None:
    assert sorted(NOT_YET_RENAMED - refused_paths()) == [], "delete these from NOT_YET_RENAMED"
