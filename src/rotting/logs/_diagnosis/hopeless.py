"""Logs from which nothing can be concluded, and why."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rotting.logs._log import Log

_LEAST_ROWS, _LEAST_SUCCESSES, _LEAST_KEYS = 50, 30, 40
MOST_ZEROS = 0.5  # of amounts: with more, they are no amounts around a curve
_ALWAYS = 0.9  # of the successes are the last row of their story: some tables are not quite clean


class Reason(NamedTuple):
    """Why a log cannot tell, in a sentence, and the experiment that could."""

    code: str
    sentence: str
    advice: str


_FRESH = (
    "At their third showing, say, give a random half of the keys a fresh arm instead of the same "
    "one again. If the fresh arm pays more than the old one there, it is fatigue; if both pay "
    "the same, it is selection."
)


MONEY = (
    "Ask whether anything was paid instead of how much: name a column of zeros and ones (--reward "
    "clicked), or make one. Where nearly every row pays no way to ask was found that can be relied "
    "on; a policy that learns while it plays, as Fatigue('gaussian'), needs no verdict."
)


def hopeless(log: Log) -> Reason | None:
    """Why the log cannot tell whether it rots; None if it can be asked."""
    known = ~np.isnan(log.reward)
    rewards = log.reward[known]
    if rewards.size < _LEAST_ROWS:
        return Reason(
            "few-rows",
            f"There are only {rewards.size} rows whose reward is known, and at least "
            f"{_LEAST_ROWS} are needed before anything can be said.",
            "Wait until there are more rows.",
        )
    if float(np.ptp(rewards)) == 0.0:
        return Reason(
            "constant-reward",
            f"Every reward is {rewards[0]:g}, so nothing can be said about what moves it.",
            "Check that the column is the reward, and that rows without one are in the table.",
        )
    fewer = int(min((rewards == 0.0).sum(), (rewards == 1.0).sum()))
    if log.binary and fewer < _LEAST_SUCCESSES:
        return Reason(
            "few-successes",
            f"There are only {fewer} rewards of {'one' if rewards.mean() < 0.5 else 'zero'}, and "
            f"at least {_LEAST_SUCCESSES} are needed before anything can be said.",
            "Wait until there are more rows.",
        )
    nothing = float(np.mean(rewards == 0.0))
    if not log.binary and nothing > MOST_ZEROS:
        return Reason(
            "mostly-zeros",
            f"Rewards are amounts, and {100.0 * nothing:.0f} % of them are zero: what moves their "
            "mean is whether anything is paid, and the model of amounts, which scatter evenly "
            "around a curve, does not describe that.",
            MONEY,
        )
    if log.rows == "last":
        return Reason(
            "last-rows",
            "The table has only the last row of each story, and a story ends with its success. "
            "So those who are still there at the n-th showing are those who did not answer "
            "before: the willing leave first, and the rate falls with n even if nobody tires. "
            "Fatigue and selection cannot be told apart from such a table by any method.",
            _FRESH + " And keep a row for every showing.",
        )
    if int(log.exposure.max()) == 1 or not np.any(np.diff(np.sort(log.exposure[known]))):
        return Reason(
            "one-exposure",
            "No key was shown an arm twice, so nothing can be said about the second time.",
            "Show some keys the same arm again, and log it.",
        )
    if ends_with_success(log):
        return Reason(
            "ends-with-success",
            "Stories end with their first success: nobody is shown an arm again after it paid. "
            "So those who are still there at the n-th showing are those who did not answer "
            "before: the willing leave first, and the rate falls with n even if nobody tires. "
            "Fatigue and selection cannot be told apart from such a log by any method.",
            _FRESH,
        )
    if log.has_keys and log.keys < _LEAST_KEYS:
        return Reason(
            "few-keys",
            f"There are only {log.keys} keys, and at least {_LEAST_KEYS} are needed to tell those "
            "who leave from those who tire.",
            "Wait until there are more keys; or leave the key out (--key none) if the arms wear "
            "out for everybody.",
        )
    return None


def ends_with_success(log: Log) -> bool:
    """Whether, with rewards of zero and one, nearly every one is the last row of its story."""
    if not log.has_keys or not log.binary:
        return False
    last = np.zeros(log.key.size, dtype=bool)
    last[log.story_starts()[1:] - 1] = True
    paid = log.reward == 1.0
    return bool(
        paid.sum() >= _LEAST_SUCCESSES
        and np.mean(last[paid]) >= _ALWAYS
        and np.mean(last[~paid]) < 0.9
    )
