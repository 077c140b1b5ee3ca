"""Twins of misdetection by likelihood, which is not the paper's rule."""

import math

from twins.common import Model
from twins.theory_detection import normal_cdf


def likelihood_misdetection(n: int, theta: float, other: float, mu: Model, sigma: float) -> float:
    """P(other is likelier than theta) after n pulls of theta with Gaussian noise (not the paper).

    With r = mu1 + e and d = mu1 - mu2, other wins when sum (e + d)^2 < sum e^2, that is when
    sum d e < -sum d^2 / 2, and sum d e is Normal(0, sigma^2 sum d^2): Phi(-|d| / (2 sigma)).
    Where the models coincide the two tie, and 1/2 (the limit, a fair coin) is returned.
    """
    squares = math.fsum((mu(j, theta) - mu(j, other)) ** 2 for j in range(1, n + 1))
    return normal_cdf(-math.sqrt(squares) / (2 * sigma))


def likelihood_misdetection_profiled(
    n: int, theta: float, other: float, mu: Model, sigma: float
) -> float:
    """likelihood_misdetection when each model's unknown constant is its best fit (not the paper).

    The best constant is the mean residual, so the residuals e and e + d are replaced by their
    centred versions, whatever the true constant; sum (d - dbar)(e - ebar) = sum (d - dbar) e is
    Normal(0, sigma^2 sum (d - dbar)^2), and the argument above holds with d - dbar for d.
    """
    differences = [mu(j, theta) - mu(j, other) for j in range(1, n + 1)]
    mean = math.fsum(differences) / n
    squares = math.fsum((difference - mean) ** 2 for difference in differences)
    return normal_cdf(-math.sqrt(squares) / (2 * sigma))
