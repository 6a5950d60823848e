"""Values that are no privacy parameters."""

import math

BAD_POSITIVE = [0, 0.0, -1.0, math.nan, math.inf, -math.inf, True, False, "1", None, 1j, [1.0], 10**400]
BAD_DELTA = [*BAD_POSITIVE, 1, 1.0, 1.5]
