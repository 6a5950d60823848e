"""Intervals of what was selected, by summing probabilities: no draws."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace.error import beside_another, selected_intervals
from rowspace.privacy import ApproxDP, Threshold, TruncatedLaplace, threshold

NOISES = [
    threshold(ApproxDP(1.0, 1e-8)),
    threshold(ApproxDP(0.02, 1e-6)),
    threshold(ApproxDP(8.0, 1e-3)),
    threshold(ApproxDP(1.0, 1e-8), keys=20),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{type(noise).__name__} from {noise.least}")
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("above", [0, 13])
def test_intervals_cover_among_what_is_shown(noise: Threshold, level: float, above: int) -> None:
    least = noise.least + above
    wide = int(30 * noise.std_error) + 5
    for count in {1, 2, least // 2, least - 3, least, least + 2, least + wide // 3, least + 2 * wide} - {
        0,
        -1,
    }:
        n = np.arange(least, max(least, count) + wide)
        tails = noise.at_least(np.append(n, n[-1] + 1) - count)
        if tails[0] <= 0:
            continue  # such a count is never shown
        low, high = selected_intervals(noise, least, n, level)
        assert np.all((low >= 1) & (low <= n) & (n <= high))
        covered = (tails[:-1] - tails[1:])[(low <= count) & (count <= high)].sum()
        assert covered / tails[0] >= level - 1e-9


def test_far_above_the_threshold_they_are_as_wide_as_the_noise() -> None:
    """The tails beyond ± 4 have a probability of 0.0099 each, those beyond ± 3 of 0.027: at 95 %, ± 3."""
    noise = threshold(ApproxDP(1.0, 1e-8))
    low, high = selected_intervals(noise, noise.least, [500], 0.95)
    assert (low.tolist(), high.tolist()) == ([497], [503])


def test_nothing_selected_has_no_intervals() -> None:
    low, high = selected_intervals(NOISES[0], 19, [], 0.95)
    assert low.shape == high.shape == (0,)


@pytest.mark.parametrize("epsilon", [8.0, 1.0, 0.1])
@pytest.mark.parametrize("above", [0, 13])
def test_beside_another_measurement_nothing_is_biased(epsilon: float, above: int) -> None:
    """For every count: the mean over what is shown, and a squared error that is never much above the other's alone."""
    noise = threshold(ApproxDP(epsilon, 1e-9))
    assert isinstance(noise, TruncatedLaplace)
    least, x = noise.least + above, np.arange(-noise.reach, noise.reach + 1)
    p = noise.at_least(x) - noise.at_least(x + 1)
    wide = 20 * float(noise.scale)
    for count in np.unique(np.linspace(1, least + 2 * noise.reach + wide, 60).astype(int)):
        n = count + x
        shown, total = n >= least, p[n >= least].sum()
        if total < 1e-3:
            continue
        # The other measurement is right in the mean; what it adds to the variance comes below.
        values, as_shown = beside_another(noise, least, n[shown], np.full(shown.sum(), float(count)))
        assert abs(p[shown] @ (values - count)) / total < 1e-4 * noise.std_error
        share = beside_another(noise, least, n[shown], np.full(shown.sum(), count + 1.0))[0] - values
        np.testing.assert_allclose(values[as_shown], n[shown][as_shown])
        assert np.all(share[as_shown] == 0)
        for other in (0.1, 1.0, 10.0):
            second = other * noise.std_error**2
            gain = second / (second + noise.std_error**2)
            ours = (p[shown] @ (1 - gain + gain * share) ** 2) * second + gain**2 * (
                p[shown] @ (values - count) ** 2
            )
            stated = np.where(as_shown, (1 - gain) * second, second)
            assert ours <= 1.06 * (p[shown] @ stated)
