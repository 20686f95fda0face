"""Which line of requirements.txt is a fleet's pin of this product."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_fleet.review.product_review import pinned_requirements


@pytest.mark.parametrize(
    ("text", "pin"),
    [
        ("boto3==1\ntriton-fleet[local]==0.2.0  # ours\n", "triton-fleet[local]==0.2.0"),
        ("triton-fleet==0.2.0 \\\n    --hash=sha256:00\n", "triton-fleet==0.2.0"),
        ("triton-fleet @ git+https://example.com/t@0123\n", "triton-fleet @ git+https://example.com/t@0123"),
        ("triton-fleet-tools==9\ntriton-fleet==0.2.0\n", "triton-fleet==0.2.0"),
        (
            f"numpy==2\n./vendor/triton_fleet-0.2.0-py3-none-any.whl[local] --hash=sha256:{'0123456789abcdef' * 4}\n",
            "./vendor/triton_fleet-0.2.0-py3-none-any.whl[local] (sha256 0123456789ab)",
        ),
        ("--requirement triton-fleet.txt\n# triton-fleet==1\n", ""),
    ],
)
def test_it_is_the_line_of_this_package_without_comment_and_hashes(
    tmp_path: Path, text: str, pin: str
) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    assert pinned_requirements(tmp_path) == [pin] * bool(pin)
