"""The page of `fleet report` in a browser: on a narrow screen nothing is cut off, and letters can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import find_browser
from tests.support.fleet_changes import change, cost, fleet
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.traffic import Phase, Traffic
from triton_fleet.review.page import POLICY, page

pytestmark = pytest.mark.nightly

MEASURE = """<script>
const letters = [...document.querySelectorAll("svg text")].map((each) => each.getBoundingClientRect());
document.title = JSON.stringify({
  page: document.documentElement.scrollWidth,
  screen: innerWidth,
  right: Math.max(...[...document.querySelectorAll("body *")].map((each) => each.getBoundingClientRect().right)),
  lowest: Math.min(...letters.map((each) => each.height)),
});
</script>"""
TRAFFIC = Traffic(
    words="canary 50 %, 10 min + 10 min, rolled back on errors",
    shortest=1200,
    longest=4200,
    phases=(Phase(share=50, seconds=600), Phase(share=100, seconds=600)),
)


@pytest.mark.parametrize("width", [1280, 480])
def test_all_columns_are_inside_and_the_letters_of_charts_are_as_high_as_small_print(
    tmp_path: Path, width: int
) -> None:
    browser = find_browser(tmp_path / "profile")
    if browser is None:
        pytest.skip("no Chromium")
    many = [
        change(
            f"endpoint-with-a-long-name-{number:04}",
            UpdateEffect.CONFIGURATION,
            owner=f"team-{number % 30}",
            traffic=TRAFFIC,
            min_cost=cost("2816", "2253"),
            max_cost=cost("11264", "9013"),
        )
        for number in range(200)
    ]
    file = tmp_path / "page.html"
    text = page(fleet(*many, change("resnet-pt", changes=("models.resnet.repository a → b" + "/c" * 60,))))
    # The page itself runs no script.
    file.write_text(
        text.replace(POLICY, "default-src 'unsafe-inline'").replace("</body>", f"{MEASURE}</body>")
    )
    title = re.search(r"<title>(.*?)</title>", browser.load(file, width).dom)
    assert title
    document: dict[str, Any] = json.loads(title[1])
    assert document["page"] <= document["screen"]
    assert document["right"] <= document["screen"]
    assert document["lowest"] >= 12
