"""Priors, models and fitting against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from rowspace.reconstruct import ratio_prior
from rowspace.reconstruct.ratio_prior import _mixture, posterior
from rowspace.reconstruct.table_estimate import estimated_tables, least_on_simplex
from rowspace.reconstruct.table_models import fitted_to_faces, paths, products, smoothed


def test_posterior_by_quadrature():
    """Of one cell, whose mixture stays nearly the prior: mean and variance of the density, cut at zero, on a grid."""
    ratios, widths, priors = _mixture()
    assert priors.sum(axis=1) == pytest.approx(1)
    assert (priors @ ratios)[:-4] == pytest.approx(1, abs=0.12)
    P, y, s = 40.0, 70.0, 10.0
    found = posterior(np.array([P]), np.array([y]), np.array([s**2]), 1.0)
    x = np.linspace(0, 400, 40_001)
    sd = np.maximum(P * ratios * widths, 1e-3)
    density = scipy.stats.norm.pdf(x[:, None], P * ratios, sd)
    like = scipy.stats.norm.pdf(y, x, s)
    evidence = np.array([(density @ prior * like).sum() for prior in priors])
    weights = evidence @ priors / evidence.sum()
    post = density @ weights * like
    post /= post.sum()
    mean = float(post @ x)
    assert found.mean[0] == pytest.approx(mean, rel=0.05)
    assert found.variance[0] == pytest.approx(float(post @ (x - mean) ** 2), rel=0.25)
    assert found.deviation[0] == pytest.approx(float(post @ np.abs(x - mean)), rel=0.2)


def test_from_the_model_to_the_measurement():
    rng = np.random.default_rng(0)
    P = rng.gamma(1.0, 50.0, 400)
    counts = rng.poisson(P * rng.gamma(2.0, 0.5, 400))
    apart = []
    for s in (0.1, 30.0, 1e5):
        y = counts + s * rng.standard_normal(400)
        found = posterior(P, y, np.full(400, s**2), 1.0)
        apart.append((np.abs(found.mean - counts).mean(), np.abs(found.mean - P).mean()))
    assert apart[0][0] < 0.2
    assert apart[2][1] < 0.02 * P.mean()


def test_groups_of_cells_have_weights_of_their_own(monkeypatch):
    """Large counts follow the model and small ones do not: squared error of about half that of one prior."""
    rng = np.random.default_rng(5)
    P = np.concatenate([np.full(300, 300.0), np.full(300, 60.0)])
    truth = P * np.concatenate([rng.gamma(400.0, 1 / 400, 300), rng.gamma(0.1, 10.0, 300)])
    y, s2 = truth + 60 * rng.standard_normal(600), np.full(600, 3600.0)

    def error():
        return float(((posterior(P, y, s2, 1.0).mean - truth) ** 2).sum())

    grouped = error()
    monkeypatch.setattr(ratio_prior, "GROUPED_CELLS", 601)
    assert grouped < 0.75 * error()


@given(st.integers(0, 10**6))
def test_least_on_simplex_by_its_conditions(seed):
    """No share can move to another one at a gain: what makes a convex function least."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    factor, linear = rng.standard_normal((count, int(rng.integers(1, 9)))), 3 * rng.standard_normal(count)
    squares = factor @ factor.T
    shares = least_on_simplex(squares, linear)
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    slope = squares @ shares + linear
    assert slope[shares > 0].max() <= slope.min() + 1e-4 * (1 + np.abs(squares).max())


def test_much_noise_and_many_cells_are_finite():
    rng = np.random.default_rng(1)
    found = posterior(np.full(70_000, 1e-9), 1e6 * rng.standard_normal(70_000), np.full(70_000, 1e12), 1.0)
    for values in (found.mean, found.variance, found.deviation):
        assert np.isfinite(values).all()
        assert (values >= 0).all()


def test_products_and_paths():
    """Where independence holds, given an attribute or not, they are the table."""
    rng = np.random.default_rng(2)
    a, b, c = rng.random((3, 4)), rng.random((5, 4)), rng.random(4)
    joint = np.einsum("ic,jc,c->ijc", a / a.sum(0), b / b.sum(0), c)

    def table(own):
        return joint.sum(axis=tuple(i for i in range(3) if i not in own))

    (number, found), *_ = list(paths((0, 1), [2], table))
    assert number == 2
    np.testing.assert_allclose(found, table((0, 1)))
    whole = list(products((0, 1, 2), table))
    np.testing.assert_allclose(whole[0], joint)  # faces (1, 2) and (0, 2), joined by 2
    (margins,) = products((0, 1), table)
    np.testing.assert_allclose(margins, np.outer(table((0,)), table((1,))) / c.sum())


def test_neighbours_without_the_cell_itself():
    plain, noisy = np.full(6, 2.0), np.array([1.0, 2.0, 9.0, 4.0, 5.0, 6.0])
    other = noisy.copy()
    other[2] = -100.0
    for one, two in zip(
        smoothed(plain, noisy, np.ones(6), [True]), smoothed(plain, other, np.ones(6), [True]), strict=True
    ):
        assert one[2] == pytest.approx(two[2])
    assert list(smoothed(plain, noisy, np.ones(6), [False])) == []


@given(st.integers(0, 10**6))
def test_fitting_meets_its_faces(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
    true = rng.poisson(rng.gamma(0.5, 20.0, shape)).astype(float)
    faces = [true.sum(axis=axis) for axis in range(len(shape))]
    start = np.maximum(true + rng.normal(0, 5, shape), 0.0)
    found = fitted_to_faces(start, rng.gamma(1.0, 10.0, shape), faces)
    assert (found >= 0).all()
    if len(shape) < 3:  # three faces of a cube are met in the limit only
        for axis, face in enumerate(faces):
            np.testing.assert_allclose(found.sum(axis=axis), face, atol=1e-3 * max(1.0, true.sum()))


def test_certain_cells_do_not_move():
    table, variance = np.array([[10.0, 5.0], [5.0, 10.0]]), np.array([[1e-12, 4.0], [4.0, 4.0]])
    found = fitted_to_faces(table, variance, [np.array([16.0, 16.0]), np.array([16.0, 16.0])])
    assert found[0, 0] == pytest.approx(10, abs=0.05)
    np.testing.assert_allclose(found.sum(axis=0), 16, atol=1e-4)


def test_models_that_hold_in_parts_are_averaged():
    """Cells that are a given model's or independent: at most 0.7 of the squared error without it, and as promised."""
    rng = np.random.default_rng(6)
    plain = 40 * np.outer(rng.gamma(5, 0.2, 24), rng.gamma(5, 0.2, 25))
    given = plain * rng.gamma(0.5, 2.0, plain.shape)
    true = np.where(rng.random(plain.shape) < 0.7, given, plain)
    noisy = true + 25 * rng.standard_normal(true.shape)

    def table(own):
        axes = tuple(i for i in range(2) if i not in own)
        values = (true if len(own) < 2 else noisy).sum(axis=axes)
        return values, np.full(values.shape, 625.0 if len(own) == 2 else 1e-6)

    def error(**options):
        found = estimated_tables((24, 25), [(0, 1)], table, names="ab", ordered=[False, False], **options)
        return float(((found.tables[0, 1].counts - true) ** 2).sum()), found.tables[0, 1]

    (alone, _), (both, found) = error(), error(models={(0, 1): given})
    assert both < 0.7 * alone
    assert 0.5 < float(found.variance.sum()) / both < 2


def test_never_much_worse_than_the_model_or_the_measurement():
    """Squared error over 40 tables of 30 cells, at ten noise levels: at most 15 % above the better of the two."""
    rng = np.random.default_rng(3)
    for noise in np.geomspace(0.5, 2000, 10):
        errors = np.zeros(3)
        for _ in range(40):
            rows, columns = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(6))
            true = np.asarray(rng.poisson(3000 * np.outer(rows, columns) * rng.gamma(4, 0.25, (5, 6))), float)
            noisy = true + noise * rng.standard_normal((5, 6))

            def table(own, true=true, noisy=noisy, noise=noise):
                axes = tuple(i for i in range(2) if i not in own)
                cells = 30 / true.sum(axis=axes).size
                exact = len(own) < 2
                return (true if exact else noisy).sum(axis=axes), np.full(
                    true.sum(axis=axes).shape, 1e-6 if exact else cells * noise**2
                )

            found = estimated_tables((5, 6), [(0, 1)], table, names="ab", ordered=[False, False])
            model = np.outer(true.sum(axis=1), true.sum(axis=0)) / true.sum()
            for at, answer in enumerate((found.tables[0, 1].counts, model, noisy)):
                errors[at] += np.sum((answer - true) ** 2)
        assert errors[0] < 1.15 * min(errors[1:])
