"""Settings of all tests.

`make test` draws the same examples every time, so that the same tree gives the same verdict on every machine;
`make fuzz` draws others, as many times as one likes.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("fuzz", print_blob=True)
settings.load_profile("fuzz" if os.environ.get("ROWSPACE_FUZZ") else "same")
