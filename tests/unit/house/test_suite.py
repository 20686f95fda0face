"""The suite's result does not depend on how it is started."""

from __future__ import annotations

import signal

from tests.conftest import pytest_configure


def test_what_tests_start_ends_by_ctrl_c_where_the_tests_run_in_the_background() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pytest_configure()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
