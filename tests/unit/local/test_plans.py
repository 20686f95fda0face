"""Plans that the local fleet cannot serve are told before anything is started."""

from __future__ import annotations

from tests.support.engine_bucket import CONFIG, SPEC, TENSORS, small_onnx
from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.local.limitations import servable
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

ENGINES = SPEC[SPEC.index("    engines:") :]


def plan_findings(
    folder: FleetFolder, mode: str = "", *endpoints: str, engine: bool = False
) -> list[Finding]:
    """Of an endpoint with a plan or an engine, and of one without."""
    folder.write("bert/bert/config.pbtxt", CONFIG + TENSORS)
    spec = SPEC if engine else SPEC.replace(ENGINES, "")
    if engine:
        (folder.root / "onnx").mkdir()
        (folder.root / "onnx/bert.onnx").write_bytes(small_onnx())
    else:
        folder.write("bert/bert/1/model.plan", "a plan")
    folder.spec(name="bert", base=spec.replace("NAME", "bert").replace("MODE", mode))
    write_locks(open_project(folder.root, "dev", ["bert"]))
    try:
        _, findings = servable(open_project(folder.root, "dev", endpoints), is_explicit=True)
    except FindingsError as error:
        return list(error.findings)
    return findings


def test_an_endpoint_that_starts_with_a_plan_is_refused_at_its_archive(folder: FleetFolder) -> None:
    [finding] = plan_findings(folder)
    assert (finding.code, finding.severity, finding.line) == ("FL374", Severity.ERROR, 5)
    assert (
        "no TensorRT" in finding.message and "'bert' (bert), and the endpoint cannot start" in finding.message
    )
    assert "name a repository without the plan, and the ONNX model under `engines`" in finding.hint
    assert finding.hint.endswith("; or leave it out: `fleet local up sentences`")


def test_where_calls_load_plans_it_is_a_warning(folder: FleetFolder) -> None:
    [finding] = plan_findings(folder, "mode: multi-model\n", "bert")
    assert finding.severity is Severity.WARNING and "calls of its targets fail" in finding.message
    assert finding.hint.endswith("a stand-in serves it")


def test_of_other_endpoints_nothing_is_said(folder: FleetFolder) -> None:
    assert plan_findings(folder, "", "sentences") == []


def test_of_an_engine_nothing_is_said_as_a_stand_in_serves_it(folder: FleetFolder) -> None:
    assert plan_findings(folder, engine=True) == []


def test_an_image_of_ones_own_is_told_not_to_run_here(folder: FleetFolder) -> None:
    folder.write("repository/embed/1/model.py", "")
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.spec("image: {build: ../images/detector}\n")
    [finding] = servable(open_project(folder.root, "dev", ["sentences"]), is_explicit=True)[1]
    assert (finding.code, finding.severity, finding.line) == ("FL680", Severity.WARNING, 6)
    assert finding.message == "'sentences' has an image of its own, which does not run on this machine"
