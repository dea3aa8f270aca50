"""Array arguments of all kinds, and messages for invalid ones."""

import concurrent.futures
import subprocess
import sys
import tempfile

import metastable as ms
import numpy as np
import pytest

X = ms.tokens("uniform", 6, 3, seed=2)
V = ms.velocity(X, "sa", 2.0)


def test_dtypes_and_strides():
    wide = np.zeros((12, 7))
    wide[::2, 1:4] = X
    for same in [X.tolist(), np.asfortranarray(X), wide[::2, 1:4], X[::-1][::-1], X.astype(">f8"), np.ma.masked_array(X), np.matrix(X)]:
        assert np.array_equal(ms.velocity(same, "sa", 2.0), V)
    for coarse, rounding in [(np.float32, 2.0**-24), (np.float16, 2.0**-11)]:
        # Rows of a coarse type have unit length up to its rounding.
        assert np.abs(ms.velocity(X.astype(coarse), "sa", 2.0) - V).max() < 32 * rounding
    assert np.array_equal(ms.velocity(np.eye(3, dtype=int), "sa", 2.0), ms.velocity(np.eye(3), "sa", 2.0))
    assert np.abs(ms.velocity(3 * X, "sa", 2.0, normalise=True) - V).max() < 1e-15


def test_the_argument_is_not_changed():
    before = X.copy()
    ms.solve("sa", X, 1.0, beta=2.0)
    assert np.array_equal(before, X)


def test_reused_buffers_do_not_change_results():
    """Calls of one object in any order, from several threads, with and without masses, and after a
    failed call give the results of a new object."""
    sa, out = ms.Dynamics("sa", beta=3.0), np.empty((40, 3))
    calls = [(ms.tokens("uniform", n, d, seed=s), m) for s, (n, d) in enumerate([(40, 3), (40, 3), (3, 40), (40, 3)]) for m in (None, np.arange(1.0, n + 1))]
    expected = [ms.Dynamics("sa", beta=3.0).velocity(x, masses=m) for x, m in calls]

    def same(k):
        x, m = calls[k % len(calls)]
        with pytest.raises(ValueError, match="row 2"):
            sa.velocity(np.vstack([x[:1], 3.0 * x[1:]]))
        found = sa.velocity(x, out if k < len(calls) and x.shape == out.shape else None, masses=m).copy()
        return np.array_equal(found, expected[k % len(calls)])

    first = sa.velocity(calls[0][0])
    assert all(same(k) for k in range(len(calls)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(same, range(len(calls), 200)))
    np.testing.assert_array_equal(first, expected[0])


OF_NOTHING = """
import numpy as np
empty = np.empty
np.empty = lambda shape, *rest, **more: empty(shape, *rest, **more) if rest or more else np.full(shape, np.nan)
import metastable as ms
count = 0
for name in ms.names("dynamics"):
    for n, d in [(1, 2), (5, 3), (300, 16)]:
        model, x = ms.Dynamics(name, beta=2.0), ms.tokens("uniform", n, d, seed=2)
        v = model.velocity(x)
        assert np.isfinite(v).all(), (name, n, d)
        assert np.array_equal(v, model.velocity(x, np.zeros((n, d)))), (name, n, d)
        count += 1
print(count)
"""


def test_uninitialised_memory_does_not_matter():
    """Velocities are written into an uninitialised array: here one of NaN."""
    end = subprocess.run([sys.executable, "-c", OF_NOTHING], capture_output=True, text=True)
    assert end.returncode == 0, end.stderr
    assert int(end.stdout) == 3 * len(ms.names("dynamics"))


def test_a_velocity_beyond_double_precision_is_an_error_and_out_stays():
    out = np.ones((2, 2))
    for place in (None, out):
        with pytest.raises(ValueError, match="beyond double precision"):
            ms.Dynamics("usa", beta=1000.0).velocity(np.eye(2), place)
    assert np.array_equal(out, np.ones((2, 2)))


def test_out_takes_the_result():
    out = np.empty_like(X)
    assert ms.velocity(X, "sa", 2.0, out=out) is out and np.array_equal(out, V)
    frozen = np.empty_like(X)
    frozen.flags.writeable = False
    for wrong in [np.empty((6, 2)), np.empty((6, 3), np.float32), np.asfortranarray(np.empty((6, 3))), frozen, [0.0]]:
        with pytest.raises(ValueError, match="out: found .* expected a writeable float64 array"):
            ms.velocity(X, "sa", 2.0, out=wrong)


REFUSED = [
    (lambda: ms.velocity(X[0], "sa", 2.0), ValueError, "tokens: found an array of shape .3., expected n x d"),
    (lambda: ms.velocity(X[None], "sa", 2.0), ValueError, "expected n x d"),
    (lambda: ms.velocity(np.empty((0, 3)), "sa", 2.0), ValueError, "token"),
    (lambda: ms.velocity(np.array([[object()]]), "sa", 2.0), TypeError, "dtype object, expected real numbers"),
    (lambda: ms.velocity(X + 0j, "sa", 2.0), TypeError, "dtype complex128, expected real numbers"),
    (lambda: ms.velocity(np.array([["a", "b"]]), "sa", 2.0), TypeError, "expected real numbers"),
    (lambda: ms.velocity([[1.0, 0.0], [1.0]], "sa", 2.0), ValueError, "tokens: "),
    (lambda: ms.velocity(np.ma.masked_less(X, 0), "sa", 2.0), ValueError, "masked entries, expected numbers everywhere"),
    (lambda: ms.velocity(np.where(X > 0, X, np.nan), "sa", 2.0), ValueError, "row|NaN|finite"),
    (lambda: ms.velocity(2 * X, "sa", 2.0), ValueError, "expected a unit vector"),
    (lambda: ms.velocity(X, "sb", 2.0), ValueError, "unknown dynamics `sb`; did you mean `sa`"),
    (lambda: ms.velocity(X, "sa"), ValueError, "beta: found nothing"),
    (lambda: ms.velocity(X, "sa", np.inf), ValueError, "beta"),
    (lambda: ms.velocity(X, "sa", np.array([1.0, 2.0])), ValueError, r"beta: found an array of shape \(2,\), expected one number"),
    (lambda: ms.velocity(X, "sa", [1.0]), ValueError, r"beta: found \[1.0\], expected one number"),
    (lambda: ms.solve("sa", X, 1.0, beta="two"), ValueError, "beta: found 'two', expected one number"),
    (lambda: ms.Dynamics("sa", beta=np.ones(2)), ValueError, "beta: found an array of shape"),
    (lambda: ms.energy(np.ones(2)), ValueError, "beta: found an array of shape"),
    (lambda: ms.solve("sa", X, 1.0, bta=1.0), ValueError, "unknown argument of a model `bta`; did you mean `beta`"),
    (lambda: ms.solve("sa", X, 1.0, beta=1.0, bta=1.0), ValueError, "unknown argument of a model `bta`; did you mean `beta`"),
    (lambda: ms.solve(X, "sa", 1.0, beta=1.0), ValueError, "dynamics: found an array, .*: tokens come second here"),
    (lambda: ms.layers(X.tolist(), "sa", 3, beta=1.0), ValueError, "dynamics: found an array, .*: tokens come second here"),
    (lambda: ms.noise(X, "sa", 1.0, kappa=1.0, step=0.1, beta=1.0), ValueError, "tokens come second here"),
    (lambda: ms.velocity("sa", X, 1.0), ValueError, "dynamics: found an array, .*: tokens come first here"),
    (lambda: ms.velocity(X, "usa", 800.0), ValueError, "time_scale u2"),
    (lambda: ms.velocity(X, "sa", 2.0, masses=[1.0, 2.0]), ValueError, "masses: found 2, expected 6 masses"),
    (lambda: ms.velocity(X, "sa", 2.0, masses=-np.ones(6)), ValueError, "masses"),
    (lambda: ms.velocity(X, "sa", 2.0, colour="red"), ValueError, "unknown argument of a model `colour`"),
    (lambda: ms.velocity(X, "sa", 2.0, mask=np.ones((2, 3, 4))), ValueError, "mask: found the shape"),
    (lambda: ms.velocity(X, "sa", 2.0, mask=np.full((6, 6), 0.5)), ValueError, "expected zeros and ones"),
    (lambda: ms.velocity(X, "sa", 2.0, mask=np.ones((5, 5))), ValueError, "mask: found 5 queries and 5 sources, expected 6 queries and 6 sources"),
    (lambda: ms.velocity(X, "sa", 2.0, bias=np.ones((5, 5))), ValueError, "bias: found 5 queries and 5 sources, expected 6"),
    (lambda: ms.velocity(X, "sa", 2.0, mask="windw:w=2"), ValueError, "window"),
    (lambda: ms.velocity(X, "sa", 2.0, v=np.eye(2)), ValueError, "."),
    (lambda: ms.velocity(X, "sa", 2.0, mlp=(1, 2)), ValueError, "expected .w1, b1, w2, b2."),
    (lambda: ms.velocity(X, ms.Dynamics("sa", beta=2.0), beta=1.0), ValueError, "together with a Dynamics"),
    (lambda: ms.energy(1.0, "men"), ValueError, "unknown energy scale `men`"),
    (lambda: ms.energy(0.0).value(X), ValueError, "unit"),
    (lambda: ms.energy(1.0).hess_vec(X, X[:3]), ValueError, "u: found an array of shape"),
    (lambda: ms.solve("sa", X, beta=2.0), ValueError, "t_end: found none"),
    (lambda: ms.solve("sa", X, -1.0, beta=2.0), ValueError, "t_end"),
    (lambda: ms.solve("sa", X, 1.0, beta=2.0, rtol=2.0), ValueError, "rtol"),
    (lambda: ms.solve("sa", X, 1.0, beta=2.0, merge_radius=-1.0), ValueError, "merge_radius"),
    (lambda: ms.solve("sa", X, 1.0, beta=2.0, method="rk45"), ValueError, "unknown integrator `rk45`"),
    (lambda: ms.solve("sa", X, 1.0, beta=2.0, t_eval=[2.0]), ValueError, "t_eval"),
    (lambda: ms.solve("sa", X, 1.0, beta=2.0, t_eval=[0.5, 0.1]), ValueError, "ascending"),
    (lambda: ms.solve("sa", X, 1.0, beta=2.0, observables="enrgy"), ValueError, "unknown observable `enrgy`"),
    (lambda: ms.solve(3, X, 1.0), ValueError, "dynamics: found 3"),
    (lambda: ms.layers("sa", X, -1, beta=2.0), ValueError, "count"),
    (lambda: ms.noise("sa", X, 1.0, kappa=-1.0, step=0.1, beta=2.0), ValueError, "kappa"),
    (lambda: ms.tokens("uniorm", 3, 3), ValueError, "uniform"),
    (lambda: ms.predict("wendl", n=3, d=2), ValueError, "wendel"),
    (lambda: ms.predict("wendel", n=3), ValueError, "d"),
    (lambda: ms.predict("wendel", n=0, d=3), ValueError, "n: found 0"),
    (lambda: ms.check("no-such-claim"), ValueError, "unknown"),
    (lambda: ms.figure("gamma-curv"), ValueError, "gamma-curve"),
    (lambda: ms.modes(np.array(["x"]), 1.0), TypeError, "samples: found an array of dtype"),
    (lambda: ms.entropy(np.full((5, 3), np.nan)), ValueError, "tokens"),
    (lambda: ms.clusters(X), ValueError, "radius"),
    (lambda: ms.clusters(X, 4.0), ValueError, "radius: found 4"),
    (lambda: ms.clusters(2 * X, 0.1), ValueError, "expected a unit vector"),
    (lambda: ms.load("nowhere"), ValueError, "path: found nothing at nowhere"),
    (lambda: ms.threads(0), ValueError, r"expected a number in \[1, 256\]"),
]


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_invalid_input_has_a_message(k):
    call, kind, sentence = REFUSED[k]
    with pytest.raises(kind, match=sentence) as caught:
        call()
    assert "--" not in str(caught.value) and tempfile.gettempdir() not in str(caught.value), caught.value


def test_errors_of_a_function_are_reported():
    with pytest.raises(ValueError, match=r"found an array of shape \[6, 2\], expected an array of shape \(6, 3\)"):
        ms.solve(lambda t, x: x[:, :2], X, 1.0)
    with pytest.raises(ValueError, match="None .is a `return` missing"):
        ms.solve(lambda t, x: None, X, 1.0)
    with pytest.raises(ZeroDivisionError):
        ms.solve(lambda t, x: 1 / 0, X, 1.0)
    with pytest.raises(ValueError, match="NaN for token 0"):
        ms.velocity(X, lambda t, x: np.full_like(x, np.nan))
    calls = []

    def late(t, x):
        calls.append(t)
        if t > 0.5:
            raise RuntimeError("late")
        return -x

    with pytest.raises(RuntimeError, match="late"):
        ms.solve(late, X, 1.0)
    assert calls[0] == 0.0


def test_a_failed_run_raises_no_exception():
    end = ms.solve("sa", X, 1e6, beta=9.0, max_steps=3)
    assert not end.success and end.status == -1 and end.outcome == "max-steps" and 0 < end.t < 1e6
