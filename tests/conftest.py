"""Settings of all tests.

`make test` draws the same examples every time, so that the same tree gives the same verdict on every machine;
`make fuzz` draws others, as many times as one likes. No test fails for its time: a busy machine is no defect.
"""

import os

from hypothesis import HealthCheck, settings

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", untimed, derandomize=True)
settings.register_profile("fuzz", untimed, print_blob=True)
settings.load_profile("fuzz" if os.environ.get("ROWSPACE_FUZZ") else "same")
