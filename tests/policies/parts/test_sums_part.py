"""theta-hat by sums: prompt or late, the model whose expected sum is closest."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from rotting import models
from rotting.policies.parts.family import check_family, table_of
from rotting.policies.parts.sums import detect, in_order, no_sums


@pytest.mark.parametrize("kind", ["prompt", "late", "lost", "first lost", "late at last"])
@pytest.mark.parametrize("ordered", [0, 61])
def test_the_closest_of_all_expected_sums(kind: str, ordered: int) -> None:
    """Sums over the observed pulls, in any order, each arm apart."""
    rng = np.random.default_rng(len(kind))
    mu = np.vstack([np.zeros(4), np.sort(rng.random((60, 4)) + 0.1, axis=1)])
    params = SimpleNamespace(mu=mu, sums=np.cumsum(mu, axis=0), ordered=ordered)
    order = {
        "prompt": np.arange(1, 41),
        "late": rng.permutation(np.arange(1, 41)),
        "lost": np.delete(np.arange(1, 60), [5, 6, 20]),
        "first lost": np.arange(2, 40),
        "late at last": np.append(np.arange(1, 30), [31, 30]),
    }[kind]
    kept = no_sums(2, 4)
    seen = 0.0
    expected = np.zeros(4)
    for n, pull in enumerate(order, start=1):
        reward = float(mu[pull, 2] + 0.3 * rng.normal())
        seen += reward
        expected += mu[pull]
        detect(params, kept, 1, n, pull, reward)
        assert kept.total[1] == pytest.approx(seen, abs=1e-9)
        assert kept.closest[1] == np.argmin(np.abs(seen - expected))
        if kept.gaps[1]:
            np.testing.assert_allclose(kept.expected[1], expected, atol=1e-9)
        else:
            assert order[:n].tolist() == list(range(1, n + 1))
    assert kept.gaps.tolist() == [0, int(kind != "prompt")]
    assert not kept.total[0]
    assert not kept.expected[0].any()


def test_once_out_of_order_an_arm_keeps_its_own_sums() -> None:
    """Even when the gap is filled: in_order says no, and adds the pull to them once."""
    mu = np.array([[0.0, 0.0], [1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    sums, kept = np.cumsum(mu, axis=0), no_sums(1, 2)
    assert in_order(mu, sums, kept, 0, 1, 1)
    assert not kept.expected.any()
    assert not in_order(mu, sums, kept, 0, 2, 3)
    assert kept.expected.tolist() == [[101.0, 202.0]]
    assert not in_order(mu, sums, kept, 0, 3, 2)
    assert kept.expected.tolist() == [[111.0, 222.0]]
    assert in_order(mu, sums, kept, 0, 3, 3) is False  # as many as pulls, but not from the first on


def zero_after(pulls: int) -> models.Family:
    """Positive for the first pulls only."""
    return models.Family.of([models.Step(pulls, 1.0, 0.0), models.Constant(0.5)])


def test_a_family_is_one_of_positive_models() -> None:
    family = models.Polynomial().over([0.1, 0.4])
    check_family("CTO", family)
    with pytest.raises(ValueError, match=r"family of CTO must be a Family"):
        check_family("CTO", models.Polynomial(0.1))  # type: ignore[arg-type]
    check_family("CTO", zero_after(1))  # how far it must reach is not known yet
    with pytest.raises(ValueError, match=r"CTO needs a positive family .* mu\(1; .* = -1"):
        check_family("CTO", models.Family.of([models.Constant(-1.0), models.Constant(0.5)]))


def test_a_table_has_one_pull_more_than_it_must_reach() -> None:
    """The next pull is scored before it is made, so its mean must be positive, too."""
    family = models.Polynomial().over([0.1, 0.4])
    table = table_of("CTO", family, 5)
    assert table.shape == (7, 2)
    np.testing.assert_array_equal(table[1:, 0], np.arange(1, 7) ** -0.1)
    assert table_of("CTO", zero_after(6), 5)[6].tolist() == [1.0, 0.5]
    with pytest.raises(ValueError, match=r"CTO needs a positive family .* mu\(6; .* = 0"):
        table_of("CTO", zero_after(5), 5)
