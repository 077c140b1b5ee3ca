"""The twin of wSWA (Appendix C.2)."""

from twins.common import History, argmax, pull_counts
from twins.swa import last_means, swa, swa_window


def wswa(
    history: History, arms: int, alpha: float, sigma: float, restart: str = "forget"
) -> set[int]:
    """Restart SWA in epochs (wSWA, Appendix C.2): horizon 2^(n-1) in rounds 2^(n-1) .. 2^n - 1.

    "forget" starts each epoch empty; "keep" only changes M, and first brings every arm to M pulls.
    """
    t = len(history) + 1
    horizon = 1
    while 2 * horizon <= t:
        horizon *= 2
    if restart == "forget":
        return swa(history[horizon - 1 :], arms, horizon, alpha, sigma)
    if restart != "keep":
        raise ValueError(f"restart must be 'forget' or 'keep', not {restart!r}")
    window = swa_window(alpha, sigma, arms, horizon)
    counts = pull_counts(history, arms)
    if min(counts) < window:
        return {counts.index(min(counts))}
    return argmax(last_means(history, arms, window))
