"""Privacy noise: exact integer samplers on cryptographic bits. The only place that draws privacy noise.

The privacy proofs are about distributions on the integers, so that is what these functions draw, not a
floating-point neighbour of it. Each returned integer follows the stated distribution exactly, up to AES
being a good generator. The samplers are vectorized all the same (tens of millions of samples a second), by
one idea: a decision compares a uniform number with a probability bit by bit; nearly always the first bits
settle it, for many samples at once, and when they do not, exact arithmetic takes over.

===================== ============================== ==========================================
`discrete_laplace`     P(k) ∝ exp(−abs(k)/scale)      pure differential privacy
`truncated_laplace`    the same for abs(k) ≤ reach    (ε, δ): thresholds for unknown keys
`discrete_gaussian`    P(k) ∝ exp(−k²/(2·variance))   zero-concentrated differential privacy
`rounded_gaussian`     round(N(0, sigma²))            (ε, δ): inherits the continuous guarantee
===================== ============================== ==========================================

Files, lowest first: ``bits`` (keystream), ``expansion`` (probabilities to any number of bits),
``bernoulli`` (exact flips, and flips of e^−γ with a proven margin), and the samplers.
The argument is in ``docs/design/002-exact-noise.md``.
"""

from rowspace.noise.bits import BitSource, InsecureSeededRandom, SecureRandom
from rowspace.noise.discrete_gaussian import discrete_gaussian
from rowspace.noise.laplace import discrete_laplace
from rowspace.noise.rounded_gaussian import rounded_gaussian
from rowspace.noise.truncated_laplace import truncated_laplace

__all__ = [
    "BitSource",
    "InsecureSeededRandom",
    "SecureRandom",
    "discrete_gaussian",
    "discrete_laplace",
    "rounded_gaussian",
    "truncated_laplace",
]
