"""Results as data: saving, loading, summaries."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cases import scenarios
from rotting import Result, policies, simulate
from rotting.papers import levine2017


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(policies.UCB1(), scenarios()["constants"], runs=5, seed=1)


def test_round_trip(result: Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "x.npz")
    again = Result.load(path)
    for name in ("checkpoints", "regret", "pulls", "total_reward", "adversarial_regret"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    assert again.provenance == result.provenance
    assert list(tmp_path.iterdir()) == [path]


def test_provenance_names_what_was_run(result: Result) -> None:
    about = result.provenance
    assert about["policy"] == "UCB1"
    assert about["parameters"] == "UCB1(c=2.0)"
    assert about["seed"] == 1
    assert about["noise"] == "independent"
    assert {"rotting", "numpy", "python", "seconds", "scenario"} <= set(about)


def test_summaries(result: Result) -> None:
    np.testing.assert_allclose(result.mean_regret, result.regret.mean(axis=0))
    expected = result.regret.std(axis=0, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(result.standard_error, expected)
    assert "5 runs" in repr(result)
    one = simulate(policies.UCB1(), scenarios()["fixed"], runs=1)
    assert np.isnan(one.standard_error[-1])


def test_a_data_frame(result: Result) -> None:
    pytest.importorskip("pandas", reason="pandas is an extra")
    frame = result.to_frame()
    assert list(frame.columns) == ["run", "t", "regret"]
    assert len(frame) == 5 * 100
    assert frame.regret.iloc[-1] == result.final_regret[-1]


def test_damage_is_refused(result: Result, tmp_path: Path) -> None:
    path = result.save(tmp_path / "x.npz")
    whole = path.read_bytes()
    flipped = [
        whole[:k] + bytes([whole[k] ^ 16]) + whole[k + 1 :] for k in range(200, len(whole), 997)
    ]
    for wrong in (b"", b"text", whole[: len(whole) // 2], *flipped):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match="not a saved result, or is damaged"):
            Result.load(path)
    names = ("checkpoints", "regret", "pulls", "total_reward", "adversarial_regret")
    arrays: dict[str, Any] = {name: np.zeros(1) for name in names}
    np.savez(path, about=np.array('{"format": 99}'), **arrays)
    with pytest.raises(ValueError, match="format 99"):
        Result.load(path)
    with pytest.raises(FileNotFoundError):
        Result.load(tmp_path / "nothing.npz")


def test_a_failed_save_leaves_nothing(result: Result, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        result.save(tmp_path / "nowhere" / "x.npz")
    path = result.save(tmp_path / "x.npz")
    before = path.read_bytes()
    broken = Result(
        result.checkpoints,
        result.regret,
        result.pulls,
        result.total_reward,
        result.adversarial_regret,
        {"bad": object()},
    )
    with pytest.raises(TypeError):
        broken.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_format_1_is_read() -> None:
    """A result saved by an earlier version: it loads, and what it holds is what comes out today."""
    saved = Result.load(Path(__file__).parents[1] / "files" / "result-format-1.npz")
    assert saved.provenance["policy"] == "UCB1"
    scenario = dataclasses.replace(levine2017.non_parametric(), horizon=200)
    fresh = simulate(policies.UCB1(), scenario, runs=3, checkpoints=4)
    for name in ("checkpoints", "pulls"):
        np.testing.assert_array_equal(getattr(saved, name), getattr(fresh, name))
    for name in ("regret", "total_reward", "adversarial_regret"):
        np.testing.assert_allclose(getattr(saved, name), getattr(fresh, name), rtol=1e-12)
