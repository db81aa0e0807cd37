"""The short form of the faults of jobs in `make faults`."""

from __future__ import annotations

import pytest

from tests.faults.jobs import FAULTS, a_stage, play
from tests.nginx import needs_nginx


@pytest.mark.slow
@pytest.mark.processes
@needs_nginx
def test_faults_of_workers_lose_and_double_no_job(subtests: pytest.Subtests) -> None:
    with a_stage(is_brief=True) as stage:
        for name in FAULTS:
            with subtests.test(name):
                result = play(stage, name, times=1)
                assert result.is_good, str(result)
