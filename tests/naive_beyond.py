"""Naive twins of the policies from beyond the paper, written as those in naive.py.

A twin returns the set of arms its rule allows at round t = len(history) + 1, recomputed from the
full history. N_i is the pulls of arm i so far, mean_i(h) the mean of its last h rewards and ln the
natural logarithm. The draws of a randomised rule are arguments: the numbers of this round.
"""

import math

from naive import (
    TOLERANCE,
    History,
    Model,
    argmax,
    constant_ucb,
    pull_counts,
    rewards_of,
    unpulled,
)

Windows = list[tuple[int, float]]  # (length, mean) or (length, sum), shortest window first


# ---------------------------------------------------------------- what the rules have in common


def every_window(rewards: list[float]) -> Windows:
    """Return (h, mean(h)) for h = 1 .. N: the mean of the last h rewards."""
    return [(h, sum(rewards[-h:]) / h) for h in range(1, len(rewards) + 1)]


def confidence(t: int, h: int, alpha: float, sigma: float) -> float:
    """c_t(h) = sqrt(2 alpha sigma^2 ln t / h)."""
    return math.sqrt(2 * alpha * sigma**2 * math.log(t) / h)


def short_of(history: History, arms: int, pulls: int) -> set[int]:
    """Return the least pulled arm of those with fewer pulls, lowest index first, or nothing."""
    counts = pull_counts(history, arms)
    return {counts.index(min(counts))} if min(counts) < pulls else set()


def drawn(weights: list[float], u: float) -> list[int]:
    """Every k that rounding may make of "the first with weights_0 + ... + weights_k > u".

    The last one if there is none; a u within the tolerance of a boundary allows both sides.
    """
    below = 0.0
    possible = []
    for k, weight in enumerate(weights):
        above = below + weight
        last = k == len(weights) - 1
        if below - TOLERANCE <= u and (last or u < above + TOLERANCE):
            possible.append(k)
        below = above
    return possible


# -------------------------------------------------------------------------- RAW-UCB and its kin


def raw_ucb(history: History, arms: int, alpha: float, sigma: float) -> set[int]:
    """RAW-UCB: each arm once, then argmax_i min_{1<=h<=N_i} mean_i(h) + c_t(h)."""
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    scores = []
    for arm in range(arms):
        windows = every_window(rewards_of(history, arm))
        scores.append(min(mean + confidence(t, h, alpha, sigma) for h, mean in windows))
    return argmax(scores)


def raw_ucb_pp(
    history: History, arms: int, alpha: float, sigma: float, beta: float = 0.0
) -> set[int]:
    """RAW-UCB++: as RAW-UCB, of width sqrt((2 alpha sigma^2 / h) ln(x (1 + ln x)^(beta/alpha))).

    Here x = max(1, t / (h K)).
    """
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    scores = []
    for arm in range(arms):
        bounds = []
        for h, mean in every_window(rewards_of(history, arm)):
            x = max(1.0, t / (h * arms))
            logarithm = math.log(x * math.pow(1 + math.log(x), beta / alpha))
            bounds.append(mean + math.sqrt(2 * alpha * sigma**2 / h * logarithm))
        scores.append(min(bounds))
    return argmax(scores)


def eff_windows(rewards: list[float], growth: float) -> Windows:
    """Return (w_j, current sum) of the windows that have one; w_0 = 1, w_{j+1} = ceil(growth w_j).

    Every active window adds each reward to its pending (sum, count). Then, from the largest to
    the smallest, a window whose count is w_j makes the pending sum its current one; the largest
    hands the completed pair to a new window j + 1; and the pending pair of window j - 1 (nothing
    for j = 0), not yet refreshed in this round, becomes its own.
    """
    lengths = [1]
    current: list[float | None] = [None]
    pending = [(0.0, 0)]
    for reward in rewards:
        pending = [(total + reward, count + 1) for total, count in pending]
        largest = len(lengths) - 1
        for j in range(largest, -1, -1):
            total, count = pending[j]
            if count != lengths[j]:
                continue
            current[j] = total
            if j == largest:
                lengths.append(math.ceil(growth * lengths[j] - 1e-9))
                current.append(None)
                pending.append((total, count))
            pending[j] = pending[j - 1] if j > 0 else (0.0, 0)
    return [(w, total) for w, total in zip(lengths, current, strict=True) if total is not None]


def eff_raw_ucb(history: History, arms: int, alpha: float, sigma: float, growth: float) -> set[int]:
    """EFF-RAW-UCB: each arm once, then argmax_i min_j current_j / w_j + c_t(w_j)."""
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    scores = []
    for arm in range(arms):
        windows = eff_windows(rewards_of(history, arm), growth)
        scores.append(min(total / w + confidence(t, w, alpha, sigma) for w, total in windows))
    return argmax(scores)


# ------------------------------------------------------------------------------ FEWA and its kin


def kept(means: dict[int, float], slack: float) -> set[frozenset[int]]:
    """Every set that rounding may make of the arms with mean >= max mean - slack."""
    threshold = max(means.values()) - slack
    sure = frozenset(arm for arm, mean in means.items() if mean > threshold + TOLERANCE)
    close = [arm for arm, mean in means.items() if abs(mean - threshold) <= TOLERANCE]
    possible = [sure]
    for arm in close:
        possible += [group | {arm} for group in possible]
    return {group for group in possible if group}


def expanding_filter(
    history: History, windows: list[Windows], alpha: float, sigma: float
) -> set[int]:
    """Filter of FEWA over window indices j = 0, 1, ..., from the (length, mean) of every arm.

    S starts as all the arms. If one is left, play it; if some arms of S have no window j, play
    the least pulled of those (lowest index on ties); else keep the arms of S with
    mean_i >= max_S mean - 2 c_t(w_j) and go on to j + 1. Near ties are followed both ways.
    """
    t = len(history) + 1
    counts = pull_counts(history, len(windows))
    allowed: set[int] = set()
    groups = {frozenset(range(len(windows)))}
    j = 0
    while groups:
        filtered: set[frozenset[int]] = set()
        for group in groups:
            missing = [arm for arm in sorted(group) if len(windows[arm]) <= j]
            if len(group) == 1:
                allowed |= group
            elif missing:
                allowed.add(min(missing, key=counts.__getitem__))
            else:
                length = windows[min(group)][j][0]
                means = {arm: windows[arm][j][1] for arm in sorted(group)}
                filtered |= kept(means, 2 * confidence(t, length, alpha, sigma))
        groups = filtered
        j += 1
    return allowed


def fewa(history: History, arms: int, alpha: float, sigma: float) -> set[int]:
    """FEWA: the expanding filter over the windows h = 1, 2, ... of the last h rewards."""
    windows = [every_window(rewards_of(history, arm)) for arm in range(arms)]
    return expanding_filter(history, windows, alpha, sigma)


def eff_fewa(history: History, arms: int, alpha: float, sigma: float, growth: float) -> set[int]:
    """EFF-FEWA: the expanding filter over the efficient windows, of mean current_j / w_j."""
    windows = []
    for arm in range(arms):
        sums = eff_windows(rewards_of(history, arm), growth)
        windows.append([(w, total / w) for w, total in sums])
    return expanding_filter(history, windows, alpha, sigma)


# --------------------------------------------------------------------------------------- GLR-UCB


def divergence(x: float, y: float, sigma: float | None) -> float:
    """kl(x, y): Gaussian (x - y)^2 / (2 sigma^2), or Bernoulli when sigma is None.

    Bernoulli means are clipped to [1e-12, 1 - 1e-12], which leaves no 0 ln 0.
    """
    if sigma is not None:
        return (x - y) ** 2 / (2 * sigma**2)
    x = min(max(x, 1e-12), 1 - 1e-12)
    y = min(max(y, 1e-12), 1 - 1e-12)
    return x * math.log(x / y) + (1 - x) * math.log((1 - x) / (1 - y))


def change(rewards: list[float], sigma: float | None) -> float:
    """sup_{0<s<n} s kl(mean of the first s, mean) + (n - s) kl(mean of the last n - s, mean)."""
    n = len(rewards)
    mean = sum(rewards) / n
    statistics = []
    for s in range(1, n):
        before = sum(rewards[:s]) / s
        after = sum(rewards[s:]) / (n - s)
        statistics.append(
            s * divergence(before, mean, sigma) + (n - s) * divergence(after, mean, sigma)
        )
    return max(statistics)


def since_restart(
    history: History, arm: int, delta: float, every: int, sigma: float | None
) -> tuple[list[float], int]:
    """Return the rewards of an arm since its last restart, and tau_i, the round of that restart.

    At every n >= 2 rewards with n mod `every` = 0, the arm restarts if the change statistic is at
    least (1 + 1/n) ln(2 n^1.5 / delta). tau_i = 0 before any restart.
    """
    rewards: list[float] = []
    tau = 0
    for s, (pulled, reward) in enumerate(history, start=1):
        if pulled != arm:
            continue
        rewards.append(reward)
        n = len(rewards)
        if n >= 2 and n % every == 0:
            threshold = (1 + 1 / n) * math.log(2 * math.pow(n, 1.5) / delta)
            if change(rewards, sigma) >= threshold:
                rewards = []
                tau = s
    return rewards, tau


def bernoulli_bound(mean: float, n: int, level: float) -> float:
    """Return the largest q in [mean, 1] with n kl(mean, q) <= level, by bisection."""
    low, high = min(max(mean, 0.0), 1.0), 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if n * divergence(mean, middle, None) <= level:
            low = middle
        else:
            high = middle
    return low


def glr_ucb(history: History, arms: int, delta: float, every: int, sigma: float | None) -> set[int]:
    """GLR-UCB: an arm with no reward since its restart (lowest index), else the best UCB.

    With n rewards since the restart and f = ln(t - tau_i): mean + sigma sqrt(2 f / n), or for
    Bernoulli rewards (sigma None) the largest q in [mean, 1] with n kl(mean, q) <= f.
    """
    t = len(history) + 1
    scores = []
    for arm in range(arms):
        rewards, tau = since_restart(history, arm, delta, every, sigma)
        n = len(rewards)
        if n == 0:
            return {arm}
        mean = sum(rewards) / n
        f = math.log(t - tau)
        if sigma is None:
            scores.append(bernoulli_bound(mean, n, f))
        else:
            scores.append(mean + sigma * math.sqrt(2 * f / n))
    return argmax(scores)


# ----------------------------------------------------------------------------- randomised rules


def exp3s(
    history: History,
    arms: int,
    gamma: float,
    alpha: float,
    uniforms: list[float],
    low: float = 0.0,
    high: float = 1.0,
) -> set[int]:
    """Exp3.S: draw from p_i = (1 - gamma) w_i / sum w + gamma / K by the uniform number of a round.

    After a reward, w_j <- w_j exp(gamma xhat_j / K) + (e alpha / K) sum w, with xhat_a = x / p_a
    for the arm played and 0 for the others, x = (r - low) / (high - low) clipped to [0, 1].
    """

    def probabilities() -> list[float]:
        return [(1 - gamma) * weight / sum(weights) + gamma / arms for weight in weights]

    weights = [1.0] * arms
    for arm, reward in history:
        x = min(max((reward - low) / (high - low), 0.0), 1.0)
        estimates = [0.0] * arms
        estimates[arm] = x / probabilities()[arm]
        shared = math.e * alpha / arms * sum(weights)
        weights = [
            weight * math.exp(gamma * estimate / arms) + shared
            for weight, estimate in zip(weights, estimates, strict=True)
        ]
        if sum(weights) > 1e100:  # only their ratios matter
            weights = [weight / sum(weights) for weight in weights]
    return set(drawn(probabilities(), uniforms[0]))


def sw_ts(history: History, arms: int, tau: int, sigma: float, normals: list[float]) -> set[int]:
    """Sliding-window Thompson sampling: argmax mean_i + sigma / sqrt(n_i) normals_i.

    On the last tau rounds only; an arm absent from them goes first (the lowest index).
    """
    window = history[-tau:]
    start = unpulled(window, arms)
    if start:
        return start
    scores = []
    for arm in range(arms):
        rewards = rewards_of(window, arm)
        n = len(rewards)
        scores.append(sum(rewards) / n + sigma / math.sqrt(n) * normals[arm])
    return argmax(scores)


def d_ts(history: History, arms: int, gamma: float, sigma: float, normals: list[float]) -> set[int]:
    """Discounted Thompson sampling: argmax mean_gamma + sigma / sqrt(N_gamma) normals_i.

    Each arm once first; round s weighs gamma^(t-1-s).
    """
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    weight = [0.0] * arms
    total = [0.0] * arms
    for s, (arm, reward) in enumerate(history, start=1):
        weight[arm] += gamma ** (t - 1 - s)
        total[arm] += gamma ** (t - 1 - s) * reward
    return argmax(
        [
            total[arm] / weight[arm] + sigma / math.sqrt(weight[arm]) * normals[arm]
            for arm in range(arms)
        ]
    )


# ------------------------------------------------------------------- models by their likelihood


def fit(rewards: list[float], theta: float, mu: Model, constants: bool) -> tuple[float, float]:
    """Return RSS_theta and c_theta: RSS = sum_j (r_j - mu(j; theta) - c)^2.

    With constants c_theta = mean_j (r_j - mu(j; theta)), otherwise 0.
    """
    residuals = [reward - mu(j, theta) for j, reward in enumerate(rewards, start=1)]
    constant = sum(residuals) / len(residuals) if constants else 0.0
    return sum((residual - constant) ** 2 for residual in residuals), constant


def likeliest(rewards: list[float], thetas: list[float], mu: Model, constants: bool) -> list[float]:
    """Every theta-hat that rounding may make of argmin RSS_theta, as naive.closest_to_origin.

    The first of the likeliest models when they have coincided on all the pulls so far; otherwise
    a near tie leaves all of them possible.
    """
    curves = [[mu(j, theta) for j in range(1, len(rewards) + 1)] for theta in thetas]
    squares = [fit(rewards, theta, mu, constants)[0] for theta in thetas]
    closest = [k for k, square in enumerate(squares) if square <= min(squares) + TOLERANCE]
    if all(curves[k] == curves[closest[0]] for k in closest):
        return [thetas[closest[0]]]
    return [thetas[k] for k in closest]


def likelihood_cto(history: History, arms: int, thetas: list[float], mu: Model) -> set[int]:
    """CTO by likelihood: each arm once, then argmax mu(N_i + 1; theta-hat_i), theta-hat by RSS.

    Exact ties of mu go to the least pulled arms; several possible models are treated as in cto.
    """
    start = unpulled(history, arms)
    if start:
        return start
    worst: list[tuple[float, int]] = []
    best: list[tuple[float, int]] = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        scores = [(mu(n + 1, theta), -n) for theta in likeliest(rewards, thetas, mu, False)]
        worst.append(min(scores))
        best.append(max(scores))
    return {arm for arm in range(arms) if best[arm] >= max(worst)}


def likelihood_dcto(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float,
    c: float = 1.0,
    start: int = 2,
) -> set[int]:
    """D-CTO by likelihood: each arm `start` times, then the UCB rule, theta-hat by RSS about c.

    The index is c_theta-hat + mu(N_i + 1; theta-hat_i) + sqrt(c sigma^2 ln t / N_i).
    """
    short = short_of(history, arms, start)
    if short:
        return short
    models = [likeliest(rewards_of(history, arm), thetas, mu, True) for arm in range(arms)]
    return constant_ucb(history, models, mu, sigma, c)


def pooled_variance(
    history: History, arms: int, thetas: list[float], mu: Model, constants: bool
) -> float:
    """Return sum_k min_theta RSS / sum_k (N_k - need) over the arms with a reward.

    It is 1 if the denominator is not positive or the ratio is at most 1e-12.
    """
    need = 2 if constants else 1
    squares = 0.0
    freedom = 0
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        if rewards:
            squares += min(fit(rewards, theta, mu, constants)[0] for theta in thetas)
            freedom += len(rewards) - need
    if freedom > 0 and squares / freedom > 1e-12:
        return squares / freedom
    return 1.0


def posterior(
    history: History,
    arms: int,
    thetas: list[float],
    mu: Model,
    sigma: float | None,
    constants: bool = False,
    rule: str = "mean",
    z: float = 1.0,
    numbers: list[float] | None = None,
) -> set[int]:
    """Bayes over the models, w_theta ~ exp(-RSS_theta / (2 s2)): the best index of c + mu(N_i + 1).

    "mean": E = sum_theta w value, value_theta = c_theta + mu(N_i + 1; theta). "upper": E + z sd,
    of variance sum_theta w (value - E)^2, plus s2 / N_i with constants. "thompson": the value of
    a theta drawn by a uniform number; with constants, plus sqrt(s2 / N_i) times a normal one.

    First the arms with fewer than 2 pulls with constants, 1 without. s2 = sigma^2 if known, else
    the pooled variance after the last reward of the arm. A uniform number at the boundary of two
    models leaves both possible, treated as in cto.
    """
    short = short_of(history, arms, 2 if constants else 1)
    if short:
        return short
    draws = iter(numbers or [])
    worst = []
    best = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        if sigma is not None:
            s2 = sigma**2
        else:
            last = max(s for s, (pulled, _) in enumerate(history, start=1) if pulled == arm)
            s2 = pooled_variance(history[:last], arms, thetas, mu, constants)
        fits = [fit(rewards, theta, mu, constants) for theta in thetas]
        least = min(square for square, _ in fits)
        weights = [math.exp(-(square - least) / (2 * s2)) for square, _ in fits]
        weights = [weight / sum(weights) for weight in weights]
        values = [
            constant + mu(n + 1, theta) for (_, constant), theta in zip(fits, thetas, strict=True)
        ]
        mean = sum(w * value for w, value in zip(weights, values, strict=True))
        if rule == "mean":
            scores = [mean]
        elif rule == "upper":
            variance = sum(
                w * (value - mean) ** 2 for w, value in zip(weights, values, strict=True)
            )
            if constants:
                variance += s2 / n
            scores = [mean + z * math.sqrt(variance)]
        elif rule == "thompson":
            scores = [values[k] for k in drawn(weights, next(draws))]
            if constants:
                shift = math.sqrt(s2 / n) * next(draws)
                scores = [score + shift for score in scores]
        else:
            raise ValueError(f"rule must be 'mean', 'upper' or 'thompson', not {rule!r}")
        worst.append(min(scores))
        best.append(max(scores))
    return {arm for arm in range(arms) if best[arm] >= max(worst) - TOLERANCE}


# ---------------------------------------------------------------------- theta in an interval


def interpolated(nodes: list[float], theta: float, values: list[float]) -> float:
    """The value at theta of the broken line through (node, value)."""
    for left, right, a, b in zip(nodes, nodes[1:], values, values[1:], strict=False):
        if theta <= right:
            return a + (b - a) * (theta - left) / (right - left)
    return values[-1]


def interval_cto(history: History, arms: int, thetas: list[float], mu: Model) -> set[int]:
    """CTO with theta-hat anywhere between the nodes: where the broken line of sums meets the sum.

    Beyond the ends theta-hat is at the end; where all sums are equal, at the first node. Ties go
    to the fewest pulls.
    """
    start = unpulled(history, arms)
    if start:
        return start
    values = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n, total = len(rewards), sum(rewards)
        sums = [sum(mu(j, theta) for j in range(1, n + 1)) for theta in thetas]
        theta = thetas[0]
        if total <= sums[-1] < sums[0]:
            theta = thetas[-1]
        elif sums[-1] < total < sums[0]:
            for left, right, a, b in zip(thetas, thetas[1:], sums, sums[1:], strict=False):
                if b <= total <= a and a > b:
                    theta = left + (right - left) * (a - total) / (a - b)
                    break
        values.append(interpolated(thetas, theta, [mu(n + 1, node) for node in thetas]))
    best = {arm for arm in range(arms) if values[arm] >= max(values) - TOLERANCE}
    counts = pull_counts(history, arms)
    return {arm for arm in best if counts[arm] == min(counts[i] for i in best)} | (
        best if any(values[i] != values[j] for i in best for j in best) else set()
    )


def interval_posterior(
    history: History,
    arms: int,
    low: float,
    high: float,
    mu: Model,
    sigma: float,
    constants: bool = False,
    points: int = 400,
    tolerance: float = 2e-3,
) -> set[int]:
    """Posterior mean of the next reward, theta uniform on [low, high], by a sum over many points.

    All arms within the tolerance of the best are allowed: policies may integrate less finely.
    """
    need = 2 if constants else 1
    counts = pull_counts(history, arms)
    if min(counts) < need:
        return {counts.index(min(counts))}
    values = []
    for arm in range(arms):
        rewards = rewards_of(history, arm)
        n = len(rewards)
        fits, worths = [], []
        for k in range(points + 1):
            theta = low + (high - low) * k / points
            residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
            constant = sum(residuals) / n if constants else 0.0
            fits.append(sum((x - constant) ** 2 for x in residuals))
            worths.append(constant + mu(n + 1, theta))
        weights = [math.exp(-(fit - min(fits)) / (2 * sigma**2)) for fit in fits]
        weights[0] /= 2
        weights[-1] /= 2
        values.append(sum(w * x for w, x in zip(weights, worths, strict=True)) / sum(weights))
    return {arm for arm in range(arms) if values[arm] >= max(values) - tolerance}


# ------------------------------------------------------------------------------- SteadyUCB


def noise_of(history: History, arms: int) -> float:
    """The pooled scatter about the arms' means; the mean square while there is little to go by."""
    per_arm = [rewards_of(history, arm) for arm in range(arms)]
    count = len(history)
    if count < 2 * arms:
        return math.sqrt(sum(r * r for _, r in history) / max(1, count))
    scatter = 0.0
    for rewards in per_arm:
        if rewards:
            mean = sum(rewards) / len(rewards)
            scatter += sum((r - mean) ** 2 for r in rewards)
    return math.sqrt(scatter / (count - arms))


def steady_ucb(
    history: History,
    arms: int,
    sigma: float | None,
    alpha: float = 3.0,
    c: float = 0.87,
    few: float = 0.3,
) -> set[int]:
    """Each arm once; then mean(h) + (1 + few/h) sqrt(2 c s^2 ln(t+10) / h), s = sigma.

    h minimises mean(h) + sqrt(2 alpha s^2 ln(t' + 10) / h), as it was at the arm's last reward,
    in round t', with what was known of s then. Where windows tie, any of them may have been taken.
    """
    start = unpulled(history, arms)
    if start:
        return start
    t = len(history) + 1
    now = sigma if sigma is not None else noise_of(history, arms)
    scores = []
    for arm in range(arms):
        last = max(s for s, (pulled, _) in enumerate(history, start=1) if pulled == arm)
        then = sigma if sigma is not None else noise_of(history[:last], arms)
        rewards = rewards_of(history, arm)
        values = {}
        for h in range(1, len(rewards) + 1):
            width = math.sqrt(2 * alpha * then**2 * math.log(last + 10) / h)
            values[h] = sum(rewards[-h:]) / h + width
        tied = [h for h, value in values.items() if value <= min(values.values()) + 1e-12]
        found = []
        for window in tied:
            padding = math.sqrt(2 * c * now**2 * math.log(t + 10) / window)
            found.append(sum(rewards[-window:]) / window + (1 + few / window) * padding)
        scores.append((min(found), max(found)))
    sure = max(low for low, _ in scores)
    return {arm for arm, (_, high) in enumerate(scores) if high >= sure - TOLERANCE}


# --------------------------------------------------------------------------------- Guarded


def is_doubted(
    history: History, arms: int, thetas: list[float], mu: Model, sigma: float, constants: bool,
    doubt: float,
) -> bool:  # fmt: skip
    """Whether at some 16th reward of an arm its likeliest model missed its last rewards clearly."""
    need = 2 if constants else 1
    for t, (arm, _) in enumerate(history, start=1):
        rewards = rewards_of(history[:t], arm)
        n = len(rewards)
        if n % 16 or n < need:
            continue
        theta = likeliest_first(rewards, thetas, mu, constants)
        residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
        constant = sum(residuals) / n if constants else 0.0
        h = 16
        while h <= n:
            off = abs(sum(residuals[-h:]) - constant * h)
            if off > math.sqrt(2 * doubt * sigma**2 * math.log(t + 10) * h):
                return True
            h *= 2
    return False


def likeliest_first(rewards: list[float], thetas: list[float], mu: Model, constants: bool) -> float:
    """The first theta with the least sum of squares, about the mean residual with constants."""
    fits = []
    for theta in thetas:
        residuals = [r - mu(j, theta) for j, r in enumerate(rewards, start=1)]
        constant = sum(residuals) / len(residuals) if constants else 0.0
        fits.append(sum((x - constant) ** 2 for x in residuals))
    return thetas[min(range(len(thetas)), key=lambda k: (round(fits[k], 9), k))]


def guarded(
    history: History, arms: int, thetas: list[float], mu: Model, sigma: float,
    constants: bool = False, c: float = 1.0, doubt: float = 2.0,
) -> set[int]:  # fmt: skip
    """By the family while nothing clear speaks against it, else as steady_ucb."""
    need = 2 if constants else 1
    counts = pull_counts(history, arms)
    if min(counts) < need:
        return {counts.index(min(counts))}
    if is_doubted(history, arms, thetas, mu, sigma, constants, doubt):
        return steady_ucb(history, arms, sigma)
    if constants:
        return likelihood_dcto(history, arms, thetas, mu, sigma, c)
    return posterior(history, arms, thetas, mu, sigma)
