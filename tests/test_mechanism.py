"""The matrix mechanism as a whole: unbiased, with the predicted variance, never the same noise twice."""

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace.exceptions import BudgetExceeded, InvalidInput, RowspaceError
from rowspace.ledger import Ledger
from rowspace.noise import InsecureSeededRandom, SecureRandom
from rowspace.planning import Plan
from rowspace.privacy import DiscreteLaplace, PrivacyUnit, integer_norm

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 16, bins=16, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
)
X = np.random.default_rng(8).integers(0, 200, (16, 2))
W = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginals(DOMAIN, up_to=2)
PRIVACIES = [rs.PureDP(1.0), rs.PureDP(0.3, "replace-one"), rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6)]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_standardized_errors(privacy):
    """1,000 releases: every query's standardized errors have mean 0 and variance 1 within sampling error.

    False-alarm rate below 1e-6 per privacy notion: Bonferroni over the queries, normal means and (with room for
    the kurtosis of Laplace sums) variances.
    """
    plan = rs.plan(W, privacy)
    random = InsecureSeededRandom(11)
    truth = plan.workload.operator() @ X.ravel()
    std_error, _ = plan.error_bars()
    estimates = np.array([rs.release(plan, X, random=random).estimate for _ in range(1000)])
    errors = (estimates @ plan.workload.operator().to_dense().T - truth) / std_error
    bound = stats.norm.isf(0.5e-6 / (2 * errors.shape[1]))
    assert np.abs(errors.mean(axis=0)).max() * np.sqrt(1000) < bound
    # Var(sample variance) ≈ (kurtosis + 2)/1000 with excess kurtosis at most 3.6 here.
    assert np.abs(errors.var(axis=0) - 1).max() < bound * np.sqrt(5.6 / 1000) * 1.3


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_total_squared_error_is_the_prediction(privacy):
    """Mean of 1,000 total squared errors within 6 standard errors of plan.total_error (false alarm < 1e-8)."""
    plan = rs.plan(W, privacy)
    random = InsecureSeededRandom(12)
    dense = plan.workload.weighted_operator().to_dense()
    truth = dense @ X.ravel()
    losses = [np.sum((dense @ rs.release(plan, X, random=random).estimate - truth) ** 2) for _ in range(1000)]
    assert abs(np.mean(losses) - plan.total_error) < 6 * np.std(losses) / np.sqrt(1000)


def test_two_releases_never_share_noise():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1e-6))
    first, second = (rs.release(plan, X).noisy_answers for _ in range(2))
    # Scale 10⁶: 32 equal answers, or even 3, would take shared noise.
    assert np.sum(first == second) < 3


def test_a_refused_charge_releases_nothing():
    class Refusing:
        def charge(self, plan, content, dataset):
            raise RowspaceError("the budget is spent")

    class Recording:
        plans = ()

        def charge(self, plan, content, dataset):
            self.plans += (plan,)

    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0))
    with pytest.raises(RowspaceError, match="spent"):
        rs.release(plan, X, ledger=Refusing())
    ledger = Recording()
    rs.release(plan, X, ledger=ledger)
    assert ledger.plans == (plan,)


def test_bad_data_charges_nothing():
    class Recording:
        charged = False

        def charge(self, plan, content, dataset):
            self.charged = True

    ledger = Recording()
    with pytest.raises(RowspaceError):
        rs.release(rs.plan(W, rs.PureDP(1.0)), "no-such-file.csv", ledger=ledger)
    assert not ledger.charged


def test_the_ledger_keeps_what_is_released(tmp_path):
    """What is charged for is what is returned, and both are what `save` writes."""

    class Recording:
        def charge(self, plan, content, dataset):
            self.content, self.dataset = content, dataset

    ledger = Recording()
    made = rs.release(rs.plan(W, rs.PureDP(1.0)), X, ledger=ledger, dataset="people")
    made.save(tmp_path / "a.release")
    assert (tmp_path / "a.release").read_bytes() == ledger.content
    assert ledger.dataset == "people"


@pytest.mark.parametrize("named", [str, lambda path: path, lambda path: f"sqlite:///{path}"])
def test_a_ledger_by_path_or_url(tmp_path, named):
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.create("people", rs.PureDP(1.0))
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(0.6))
    made = rs.release(plan, X, ledger=named(path))
    assert [ledger.resume(charge.id) for charge in ledger.history()] == [made.to_bytes()]
    with pytest.raises(BudgetExceeded, match=r"'people' has 0\.4 of 1 epsilon left"):
        rs.release(plan, X, ledger=named(path))


def test_a_budget_that_is_spent_reads_no_data(tmp_path):
    Ledger(tmp_path / "budget.db").create("people", rs.PureDP(0.5))
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0))
    with pytest.raises(BudgetExceeded):
        rs.release(plan, "no-such-file.csv", ledger=tmp_path / "budget.db")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_plan_with_other_noise_is_refused(neighbours):
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
    plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0, neighbours))
    stronger = rs.PureDP(0.5, neighbours)
    twice = replace(plan, strategy=2 * plan.strategy)
    for other in (replace(plan, privacy=stronger), twice, replace(plan, noise=rs.PureDP(2.0).noise(1))):
        with pytest.raises(InvalidInput, match="expected the noise that"):
            rs.release(other, [1, 2, 3, 4])
    made = replace(twice, noise=plan.privacy.noise(integer_norm(twice.strategy, plan.privacy)))
    assert rs.release(made, [1, 2, 3, 4]).plan is made


@pytest.mark.parametrize(
    "strategy",
    [
        op.Total(4),
        tables.Marginals((4,), ((0,),), (1,), (op.Dense([[1, 1, 0, 0], [0, 0, 1, 1]]),)),
        tables.Residuals((4,), ((), (0,)), (1, 1), (op.Dense([[1, -1, 0, 0], [0, 0, 0, 0], [0, 0, 1, -1]]),)),
    ],
    ids=lambda A: type(A).__name__,
)
def test_a_plan_that_cannot_answer_is_not_charged_for(strategy, tmp_path):
    """Files may hold strategies that leave the workload's row space."""
    plan = rs.plan(
        rs.workload.identity(rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))), rs.PureDP(1.0)
    )
    plan = replace(plan, strategy=strategy, noise=plan.privacy.noise(integer_norm(strategy, plan.privacy)))
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    with pytest.raises(RowspaceError):
        rs.release(plan, [1, 2, 3, 4], ledger=ledger)
    assert ledger.history("people") == []


def test_bad_input():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0))
    with pytest.raises(InvalidInput, match="expected a plan"):
        rs.release("plan", X)
    with pytest.raises(InvalidInput, match="charge"):
        rs.release(plan, X, ledger=object())
    with pytest.raises(InvalidInput, match="ledger="):
        rs.release(plan, X, dataset="people")


class SilentBits(SecureRandom):
    """Bits that are all zero, of a class that calls itself secure."""

    def words8(self, count):
        return np.zeros(count, np.uint8)


class Understated(op.Identity):
    """Asks everything and says that nothing can change."""

    def integer_norm(self, p):
        return 1

    def _apply(self, x):
        return 1000 * x


class Boastful(rs.PureDP):
    """States 1 and adds noise for 10**6."""

    def noise(self, integer_norm):
        return rs.PureDP(1e6).noise(integer_norm)


class Agreeable(DiscreteLaplace):
    """Equal to any noise."""

    def __eq__(self, other):
        return True

    __hash__ = None


class TwoFaced(Plan):
    """A plan that could say another guarantee each time it is asked."""


class Generous(Fraction):
    """A number that could compare as it likes."""


FOUR = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
OWN_TYPES = {
    "strategy": lambda plan: replace(plan, strategy=Understated(4)),
    "part of a strategy": lambda plan: replace(plan, strategy=op.Stack(op.Identity(4), Understated(4))),
    "privacy": lambda plan: replace(
        plan, privacy=Boastful(1.0), noise=rs.PureDP(1e6).noise(integer_norm(plan.strategy, plan.privacy))
    ),
    "noise": lambda plan: replace(plan, noise=Agreeable(Fraction(1, 2**20))),
    "parameter of the noise": lambda plan: replace(plan, noise=DiscreteLaplace(Generous(plan.noise.scale))),
    "plan": lambda plan: TwoFaced(**{f.name: getattr(plan, f.name) for f in fields(plan)}),
    "attribute": lambda plan: replace(
        plan, workload=rs.workload.identity(rs.Domain(age=OwnNumeric(0, 4, bins=4)))
    ),
    "unit": lambda plan: replace(plan, privacy=replace(plan.privacy, unit=OwnUnit("u", 3))),
}


class OwnNumeric(rs.Numeric):
    """An attribute that could put a record into several cells."""


class OwnUnit(PrivacyUnit):
    """A unit that could say another number of rows each time."""


@pytest.mark.parametrize("made", OWN_TYPES.values(), ids=OWN_TYPES)
def test_a_plan_of_own_types_is_refused(made, tmp_path):
    """Seen before: exact counts, charged as ε = 1."""
    plan = made(rs.plan(rs.workload.identity(FOUR), rs.PureDP(1.0)))
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    for attempt in (
        lambda: rs.release(plan, [1, 2, 3, 4]),
        lambda: rs.release(plan, [1, 2, 3, 4], ledger=ledger),
        lambda: ledger.charge(plan, b""),
    ):
        with pytest.raises(InvalidInput, match="expected"):
            attempt()
    assert ledger.history() == []


def test_a_class_that_says_it_is_ours_is_refused():
    """By its name and its module; and a file cannot name it in place of ours."""
    impostor = type("Identity", (Understated,), {"__module__": "rowspace.operators.diagonal"})
    plan = rs.plan(rs.workload.identity(FOUR), rs.PureDP(1.0))
    with pytest.raises(InvalidInput, match="own operators"):
        rs.release(replace(plan, strategy=impostor(4)), [1, 2, 3, 4])
    tree, arrays = op.encode(op.Identity(4))
    assert type(op.decode(tree, arrays)) is op.Identity


class Equal(op.Dense):
    """Says that it is any matrix of its shape, and that it is zero."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(("Dense", self.shape))

    def _integers(self):
        return np.zeros(self.shape, np.int64)


def test_a_matrix_of_ones_own_is_not_remembered_for_another():
    """The sensitivity of one of ours is not looked up under one that claims to equal it."""
    Equal(np.eye(4)).integer_norm(1)
    assert op.Dense(1000 * np.eye(4)).integer_norm(1) == 1000


def test_a_charge_is_for_secure_noise(tmp_path):
    """Seen before: exact counts, charged as ε = 1."""
    plan = rs.plan(rs.workload.identity(FOUR), rs.PureDP(1.0))
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    for random in (InsecureSeededRandom(1), SilentBits()):
        with pytest.raises(InvalidInput, match="beside ledger="):
            rs.release(plan, [1, 2, 3, 4], ledger=ledger, random=random)
    assert ledger.history() == []

    def repeat(count):
        raise AssertionError("bits of the caller's were used")

    # Not even one that is secure and was tampered with.
    tampered = SecureRandom()
    tampered.words8 = repeat
    rs.release(plan, [1, 2, 3, 4], ledger=ledger, random=tampered)
    assert len(ledger.history()) == 1


def test_a_strategy_shares_no_array_with_its_caller():
    matrix = np.eye(4)
    plan = rs.plan(rs.workload.identity(FOUR), rs.PureDP(1.0), strategy=matrix)
    before = plan.strategy.to_dense()
    matrix *= 1000
    assert np.array_equal(plan.strategy.to_dense(), before)
    for name, array in op.encode(op.Stack(op.Dense(np.eye(4)), op.Sparse(np.eye(4))))[1].items():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
        assert not array.flags.writeable, name
