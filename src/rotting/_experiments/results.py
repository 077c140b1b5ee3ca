"""The result of a simulation: plain arrays with their provenance."""

from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rotting import _display, stats
from rotting._experiments.archive import FORMS, read_archive
from rotting._table import frame_of
from rotting.bandits import IntArray
from rotting.models import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FORMAT = 1
PI_MAX, GREEDY = "pi_max", "greedy"  # the plays that a regret is measured against


def measure_of(against: str) -> str:
    """The name of a regret.

    >>> measure_of(PI_MAX), measure_of(GREEDY)
    ('regret', 'regret against greedy play')
    """
    return "regret" if against == PI_MAX else f"regret against {against} play"


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `simulate`: arrays with one row per run.

    Rewards are expected rewards (means), not noisy ones, as in the paper's Eqs. 1 and 2. A regret
    that differs from 0 by no more than rounding explains (`rounding`) is 0.

    Where arms come and go (`Scenario.openings`) pi_max takes the best next mean among the open
    arms, and where exposures have a half-life (`Audience.rest`) the best mean at the time. That is
    greedy and not optimal: `against` says so, and a regret may be negative.

    Attributes:
        checkpoints: The rounds t at which the regret was recorded; the last is the horizon.
        regret: [run, checkpoint], the policy regret: J of pi_max minus J of the policy.
        pulls: [run, arm], the pulls of each arm by the horizon.
        total_reward: [run], J, the expected total reward collected by the horizon.
        adversarial_regret: [run], J of the best single arm minus J of the policy, at the horizon.
            NaN where arms come and go, since no arm can be played throughout, and for an audience,
            since each key has its own bandit; the printed result says so.
        provenance: Policy, scenario, seed, noise, engine, versions and seconds; with a GPU also
            gpu_seconds, those in its kernels; for an audience also keys: whether they were
            "counted" or "ignored".

    >>> from rotting import policies, scenario, simulate
    >>> found = simulate(policies.Uniform(), scenario("fall_08:horizon=50"), runs=3,
    ...                  engine="reference")
    >>> found.regret.shape, found.pulls.sum(axis=1)
    ((3, 50), array([50, 50, 50]))
    """

    checkpoints: IntArray
    regret: FloatArray
    pulls: IntArray
    total_reward: FloatArray
    adversarial_regret: FloatArray
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.regret.shape[0])

    @property
    def against(self) -> str:
        """The play that the regret is measured against: "pi_max", or "greedy" if not optimal."""
        return str(self.provenance.get("against", PI_MAX))

    @property
    def measure(self) -> str:
        """The name of the regret: "regret", or "regret against greedy play"."""
        return measure_of(self.against)

    @property
    def note(self) -> str:
        """A note on the policy: "keys ignored" if it played an audience as one key, else empty."""
        return "keys ignored" if self.provenance.get("keys") == "ignored" else ""

    @property
    def notes(self) -> list[str]:
        """All notes for the figures, among them why there is no adversarial regret."""
        return [note for note in (self._no_single_arm(), self.note) if note]

    @property
    def final_regret(self) -> FloatArray:
        """The policy regret of each run at the horizon."""
        return self.regret[:, -1]

    @property
    def share(self) -> FloatArray:
        """The share of pi_max's reward (see `against`) that each run collects by the horizon.

        NaN where pi_max's reward is not positive: there are no shares of a loss.
        """
        most = self.total_reward + self.final_regret
        return np.asarray(self.total_reward / np.where(most > 0.0, most, np.nan))

    @property
    def rounding(self) -> FloatArray:
        """The most by which rounding can put each run's regrets off; see `stats.rounding`."""
        final, single = self.final_regret, self.adversarial_regret
        return stats.rounding(self.total_reward, final, single, self.pulls.shape[1])

    def settle(self) -> Result:
        """Set regrets that rounding explains to 0, in place; returns itself."""
        off = self.rounding
        stats.settle(self.regret, off)
        stats.settle(self.adversarial_regret, off)
        return self

    @property
    def mean_regret(self) -> FloatArray:
        """The mean regret over runs, at each checkpoint."""
        return np.asarray(self.regret.mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of `mean_regret`, at each checkpoint; NaN for a single run."""
        if self.runs < 2:
            return np.full(self.checkpoints.size, math.nan)
        return np.asarray(self.regret.std(axis=0, ddof=1) / math.sqrt(self.runs))

    def summary(self) -> dict[str, float]:
        """The figures at the horizon, as plain data.

        Returns:
            A dict of runs, mean_regret, standard_error, low_95 and high_95 (the interval of the
            mean regret), worst_run (the highest regret of a run), mean_reward, and mean_share (the
            mean of `share`). Figures that need two runs are NaN for one.
        """
        low, high = stats.interval(self.final_regret)
        return {
            "runs": self.runs,
            "mean_regret": float(self.mean_regret[-1]),
            "standard_error": float(self.standard_error[-1]),
            "low_95": low,
            "high_95": high,
            "worst_run": float(self.final_regret.max()),
            "mean_reward": float(self.total_reward.mean()),
            "mean_share": float(self.share.mean()),
        }

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the regret curve.

        Args:
            axes: Matplotlib's axes to draw into; a new figure's without them.

        Returns:
            The axes.
        """
        drawn: Axes = _display.plot(self, axes=axes)
        return drawn

    def _repr_html_(self) -> str:
        return _display.html(self)

    def __repr__(self) -> str:
        runs, error = "1 run", ""
        if self.runs > 1:
            runs, error = f"{self.runs} runs", f" +- {self.standard_error[-1]:.2g}"
        notes = "".join(f", {note}" for note in self.notes)
        return (
            f"<Result of {self.provenance.get('policy', '?')}: {runs}, T = "
            f"{int(self.checkpoints[-1])}, {self.measure} {self.mean_regret[-1]:.4g}{error}{notes}>"
        )

    def _no_single_arm(self) -> str:
        """The reason why there is no adversarial regret; empty if there is one."""
        if not np.isnan(self.adversarial_regret).all():
            return ""
        keyed = "keys" in self.provenance
        why = "each key has a bandit of its own" if keyed else "arms come and go"
        return f"no adversarial regret ({why})"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to an .npz file, atomically.

        Args:
            path: The file; one that exists is replaced.

        Returns:
            The path.

        Raises:
            OSError: The file cannot be written.
        """
        target = Path(path)
        about = json.dumps({"format": _FORMAT, "provenance": self.provenance})
        arrays = {name: getattr(self, name) for name in FORMS}
        handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, about=np.array(about), **arrays)
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)  # mkstemp's files are readable by the owner only
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a file of `save`.

        Files need no trust: only the declared arrays are unpacked, within the size they declare.

        Args:
            path: The file.

        Returns:
            A `Result`.

        Raises:
            ValueError: The file is no saved result, or is damaged.
            FileNotFoundError: There is no such file.
        """
        try:
            provenance, arrays = read_archive(Path(path), _FORMAT)
        except FileNotFoundError:
            raise
        except Exception as error:  # a damaged archive can raise almost anything
            raise ValueError(f"{path} is not a saved result, or is damaged: {error}") from None
        return cls(provenance=provenance, **arrays)

    def to_frame(self) -> Any:
        """The regret as a pandas data frame with columns run, t and regret.

        Raises:
            ImportError: pandas is not installed.
        """
        runs, checkpoints = self.regret.shape
        return frame_of(
            {
                "run": np.repeat(np.arange(runs), checkpoints),
                "t": np.tile(self.checkpoints, runs),
                "regret": self.regret.ravel(),
            }
        )
