"""The promises, checked on the integer distributions themselves by summing their masses."""

import mpmath
import pytest

from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, PureDP

from .masses import masses


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.7, 3.0])
@pytest.mark.parametrize("norm", [1, 2, 5])
def test_discrete_laplace_is_pure(epsilon: float, norm: int) -> None:
    """The log-ratio of the masses of any output never passes ε, for every shift up to the norm."""
    with mpmath.workdps(60):
        mass = masses(PureDP(epsilon).noise(norm), reach=300)
        limit = mpmath.mpf(epsilon)
        for shift in range(1, norm + 1):
            losses = [mpmath.log(mass[k] / mass[k - shift]) for k in range(-300 + shift, 301)]
            assert max(map(abs, losses)) <= limit * (1 + mpmath.mpf(10) ** -50)
        # … and the promise is used up: the largest shift reaches ε to 15 digits.
        assert max(losses) >= limit * (1 - mpmath.mpf(10) ** -15)


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 4.0])
@pytest.mark.parametrize("shift", [1, 2])
def test_rounded_gaussian_is_approximate(epsilon: float, delta: float, shift: int) -> None:
    """Hockey-stick divergence Σ max(0, P(k) − e^ε P(k − shift)) ≤ δ, both ways by symmetry."""
    with mpmath.workdps(30):
        for privacy in (ApproxDP(epsilon, delta), ApproxDPTheorem3(epsilon, delta)):
            noise = privacy.noise(shift**2)
            reach = int(9 * noise.sigma) + 4  # beyond lies less than 1e-18
            mass = masses(noise, reach)
            divergence = mpmath.fsum(
                max(mpmath.mpf(0), mass[k] - mpmath.exp(epsilon) * mass[k - shift])
                for k in range(-reach + shift, reach + 1)
            )
            assert divergence + 1e-18 <= delta


@pytest.mark.parametrize("rho", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 7.0, 40.0])
@pytest.mark.parametrize("shift", [1, 2])
def test_discrete_gaussian_is_concentrated(rho: float, order: float, shift: int) -> None:
    """Rényi divergence of every order α between the noise and its shift is at most αρ."""
    with mpmath.workdps(60):
        noise = ZCDP(rho).noise(shift**2)
        # At order α the sum is centred α·shift away: reach that far and 16 deviations more.
        reach = int(16 * float(noise.sigma_squared) ** 0.5 + order * shift) + 6
        mass = masses(noise, reach)
        alpha = mpmath.mpf(order)
        moment = mpmath.fsum(
            mass[k] ** alpha * mass[k - shift] ** (1 - alpha) for k in range(-reach + shift, reach + 1)
        )
        assert mpmath.log(moment) / (alpha - 1) <= alpha * mpmath.mpf(rho) * (1 + mpmath.mpf(10) ** -30)


def test_unequal_shifts_of_two_answers_are_covered_together() -> None:
    """Two answers shifted by (1, 2) have Σ change² = 5: their joint hockey-stick divergence is within δ."""
    epsilon, delta = 1.0, 0.05
    with mpmath.workdps(30):
        noise = ApproxDP(epsilon, delta).noise(5)
        reach = int(9 * noise.sigma)
        mass = masses(noise, reach)
        span = range(-reach + 2, reach + 1)
        factor = mpmath.exp(epsilon)
        divergence = mpmath.fsum(
            max(mpmath.mpf(0), mass[i] * mass[j] - factor * mass[i - 1] * mass[j - 2])
            for i in span
            for j in span
        )
        assert divergence <= delta
