"""Hypothesis: derandomised, no deadline; few cases by default, many in the slow run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

common = settings(
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("few", common, max_examples=20)
settings.register_profile("many", common, max_examples=200)
settings.register_profile(
    "unshrunk", common, max_examples=100, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("NOREGRET_CASES", "few"))
