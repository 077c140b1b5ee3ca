"""Results as data: saving, loading, summaries."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.cases import scenarios
from rotting import Result, policies, simulate
from rotting._experiments import archive
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


def saved_as(path: Path, result: Result, **changes: Any) -> Path:
    """A result's file with some arrays changed; None leaves one out."""
    names = ("checkpoints", "regret", "pulls", "total_reward", "adversarial_regret")
    about = {"format": 1, "provenance": result.provenance}
    arrays = {name: getattr(result, name) for name in names}
    arrays = {"about": np.array(json.dumps(about)), **arrays, **changes}
    np.savez_compressed(path, **{name: a for name, a in arrays.items() if a is not None})
    return path


@pytest.mark.parametrize(
    ("words", "name", "change"),
    [
        ("it has no regret", "regret", lambda a: None),
        ("it has no about", "about", lambda a: None),
        ("regret must have 2 axes, got shape", "regret", lambda a: a[0]),
        ("for each run, 5, got 4", "total_reward", lambda a: a[:-1]),
        ("for each checkpoint, 100, got 99", "regret", lambda a: a[:, 1:]),
        ("for each checkpoint, at least one, got 0", "checkpoints", lambda a: a[:0]),
        ("for each arm, at least one, got 0", "pulls", lambda a: a[:, :0]),
        ("regret must be numbers, got <U32", "regret", lambda a: a.astype(str)),
        ("pulls must be whole numbers, got float64", "pulls", lambda a: a.astype(float)),
        ("holds Python objects", "regret", lambda a: a.astype(object)),
        ("rounds in rising order", "checkpoints", lambda a: a[::-1].copy()),
        ("rounds in rising order", "checkpoints", lambda a: a - 3),
        ("pulls must be counts", "pulls", lambda a: -a),
        ("regret must be numbers, got float16", "regret", lambda a: a.astype(np.float16)),
        ("regret must be finite numbers", "regret", lambda a: a * np.nan),
        ("about must be a text", "about", lambda a: np.zeros(3)),
        ("its provenance must be a table, got None", "about", lambda a: np.array('{"format": 1}')),
        ("it has format True", "about", lambda a: np.array('{"format": true}')),
        ("it has format None", "about", lambda a: np.array("3")),
        ("recursion", "about", lambda a: np.array("[" * 10**5)),
    ],
)
def test_what_is_no_result_is_refused(
    words: str, name: str, change: Any, result: Result, tmp_path: Path
) -> None:
    path = saved_as(tmp_path / "x.npz", result)
    assert Result.load(path).provenance == result.provenance
    saved_as(path, result, **{name: change(getattr(result, name, None))})
    with pytest.raises(ValueError, match=f"not a saved result, or is damaged: .*{words}"):
        Result.load(path)


def test_a_file_that_would_expand_too_much_is_not_unpacked(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    large = {"regret": np.zeros((5, 100_000)), "checkpoints": np.arange(1, 100_001)}
    saved_as(path, result, **large)
    assert path.stat().st_size * archive._RATIO < 4_000_000  # by the file's size it is refused
    Result.load(path)
    monkeypatch.setattr(archive, "MOST", 1 << 20)
    with pytest.raises(ValueError, match="would expand to more than"):
        Result.load(path)


def test_a_size_that_is_a_lie_is_refused(result: Result, tmp_path: Path) -> None:
    """The header of an array says a million runs, the file has five."""
    path = saved_as(tmp_path / "x.npz", result)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    old = members["total_reward.npy"]
    members["total_reward.npy"] = old.replace(b"(5,), }      ", b"(1000000,), }")
    assert members["total_reward.npy"] != old
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    with pytest.raises(ValueError, match=r"total_reward\.npy must be as long as its shape"):
        Result.load(path)
