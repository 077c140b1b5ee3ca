"""The twin of wSWA (Appendix C.2)."""

from twins.common import History, Opened
from twins.swa import balance, swa_window


def wswa(
    history: History,
    arms: int,
    alpha: float,
    sigma: float,
    restart: str = "forget",
    opened: Opened | None = None,
) -> set[int]:
    """Restart SWA in epochs (wSWA, Appendix C.2): horizon 2^(n-1) in rounds 2^(n-1) .. 2^n - 1.

    "forget" starts each epoch empty; "keep" only changes M, and first brings every arm to M pulls.
    K is the number of open arms when the last round before the epoch was over.
    """
    t = len(history) + 1
    horizon = 1
    while 2 * horizon <= t:
        horizon *= 2
    open_then = arms if opened is None else len(opened.open[max(0, horizon - 2)])
    window = swa_window(alpha, sigma, open_then, horizon)
    if restart == "forget":
        return balance(history[horizon - 1 :], arms, window, opened)
    if restart != "keep":
        raise ValueError(f"restart must be 'forget' or 'keep', not {restart!r}")
    return balance(history, arms, window, opened)
