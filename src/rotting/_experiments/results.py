"""What a simulation leaves: plain arrays with their provenance."""

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
PI_MAX, GREEDY = "pi_max", "greedy"  # what a regret is measured against


def measure_of(against: str) -> str:
    """A regret in words.

    >>> measure_of(PI_MAX), measure_of(GREEDY)
    ('regret', 'regret against greedy play')
    """
    return "regret" if against == PI_MAX else f"regret against {against} play"


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `simulate`: arrays with one row per run.

    Rewards are expected rewards (means), not noisy ones, as in the paper's Eqs. 1 and 2. A regret
    that differs from 0 by no more than rounding explains (`rounding`) is 0.

    Where arms come and go (`Scenario.openings`) pi_max takes the best next mean among the arms that
    are open, and where exposures have a half-life (`Audience.rest`) the best at the time. That is
    greedy and not optimal: `against` says so, and a regret may be negative.

    checkpoints         rounds t at which the regret was kept; the last is the horizon
    regret              [run, checkpoint] policy regret: J of pi_max minus J of the policy
    pulls               [run, arm] pulls of each arm by the horizon
    total_reward        [run] J, the expected total reward collected by the horizon
    adversarial_regret  [run] J of the best single arm minus J of the policy, at the horizon; NaN
                        where arms come and go, since no arm can be played throughout, and in an
                        audience: each key has a bandit of its own, and no arm is best for all;
                        the printed result says so
    provenance          policy, scenario, seed, noise, engine, versions, seconds; with a GPU also
                        gpu_seconds, those in its kernels; in an audience also keys: whether they
                        were "counted" or "ignored"
    """

    checkpoints: IntArray
    regret: FloatArray
    pulls: IntArray
    total_reward: FloatArray
    adversarial_regret: FloatArray
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return int(self.regret.shape[0])

    @property
    def against(self) -> str:
        """What the regret is measured against: "pi_max", or "greedy" where that is not optimal."""
        return str(self.provenance.get("against", PI_MAX))

    @property
    def measure(self) -> str:
        """What the figures are, in words: "regret", or "regret against greedy play"."""
        return measure_of(self.against)

    @property
    def note(self) -> str:
        """What to say beside the figures: "keys ignored" if an audience was played as one key."""
        return "keys ignored" if self.provenance.get("keys") == "ignored" else ""

    @property
    def notes(self) -> list[str]:
        """All that is to be said beside the figures: also why there is no adversarial regret."""
        return [note for note in (self._no_single_arm(), self.note) if note]

    @property
    def final_regret(self) -> FloatArray:
        """Each run's policy regret at the horizon."""
        return self.regret[:, -1]

    @property
    def share(self) -> FloatArray:
        """Each run's part of the reward that pi_max (see `against`) collects by the horizon.

        NaN where that is not positive: there are no shares of a loss.
        """
        most = self.total_reward + self.final_regret
        return np.asarray(self.total_reward / np.where(most > 0.0, most, np.nan))

    @property
    def rounding(self) -> FloatArray:
        """How far rounding can put each run's regrets off: less than that is no difference."""
        final, single = self.final_regret, self.adversarial_regret
        return stats.rounding(self.total_reward, final, single, self.pulls.shape[1])

    def settle(self) -> Result:
        """Put 0, in place, for every regret that is not 0 by rounding alone; returns itself."""
        off = self.rounding
        stats.settle(self.regret, off)
        stats.settle(self.adversarial_regret, off)
        return self

    @property
    def mean_regret(self) -> FloatArray:
        """The mean over runs, at each checkpoint."""
        return np.asarray(self.regret.mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of `mean_regret`, at each checkpoint; NaN for a single run."""
        if self.runs < 2:
            return np.full(self.checkpoints.size, math.nan)
        return np.asarray(self.regret.std(axis=0, ddof=1) / math.sqrt(self.runs))

    def summary(self) -> dict[str, float]:
        """The figures at the horizon, as plain data; those that need two runs are NaN for one.

        low_95 and high_95 are the interval of the mean regret, worst_run is the highest regret of a
        run, mean_share the mean of `share`.
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
        """Draw the regret curve, into these axes or a new figure's; returns the axes."""
        drawn: Axes = _display.plot(self, axes=axes)
        return drawn

    def _repr_html_(self) -> str:
        """For notebooks: the figures and the curve."""
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
        """Why there is no adversarial regret, if there is none."""
        if not np.isnan(self.adversarial_regret).all():
            return ""
        keyed = "keys" in self.provenance
        why = "each key has a bandit of its own" if keyed else "arms come and go"
        return f"no adversarial regret ({why})"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything to an .npz file, atomically; returns its path."""
        target = Path(path)
        about = json.dumps({"format": _FORMAT, "provenance": self.provenance})
        arrays = {name: getattr(self, name) for name in FORMS}
        handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, about=np.array(about), **arrays)
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)  # mkstemp lets only the owner read
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote; ValueError for anything else.

        Nothing is unpacked that is not declared and does not belong to a result.
        """
        try:
            provenance, arrays = read_archive(Path(path), _FORMAT)
        except FileNotFoundError:
            raise
        except Exception as error:  # a damaged archive can raise almost anything
            raise ValueError(f"{path} is not a saved result, or is damaged: {error}") from None
        return cls(provenance=provenance, **arrays)

    def to_frame(self) -> Any:
        """The regret as a pandas data frame with columns run, t, regret (needs pandas)."""
        runs, checkpoints = self.regret.shape
        return frame_of(
            {
                "run": np.repeat(np.arange(runs), checkpoints),
                "t": np.tile(self.checkpoints, runs),
                "regret": self.regret.ravel(),
            }
        )
