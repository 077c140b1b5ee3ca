"""Counter-based random numbers: every draw is a pure function of its key and its counter.

The reward of (run, arm, pull) must not depend on threads, chunks, engines or the order of play,
so this module has no hidden state. A *stream* is a pair of 64-bit words (key, odd step); its n-th
word is `mix(key + n * step)`, the generator of Steele, Lea & Flood, "Fast splittable pseudorandom
number generators" (2014), with the finaliser constants of Stafford. Every (seed, purpose, run,
arm) has its own key *and* its own step, so that two streams never run along the same sequence.

Normals come from a ziggurat of 256 layers (Marsaglia & Tsang 2000) that nearly always spends one
word a draw: 8 bits choose the layer, 54 signed bits the position in it.

The `draw` that a policy receives is an array of three words, (key, step, counter): `uniform(draw)`
and `normal(draw)` advance its counter; `tie(draw, arm, pull)` does not.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rotting.kernel.compilable import seldom, wrapping

__all__ = [
    "Draw",
    "new_draw",
    "normal",
    "tie",
    "uniform",
]

Draw = npt.NDArray[np.uint64]
"""The random numbers of a decision: an array of three words, (key, step, counter)."""

# The purpose of a stream. Streams of different purposes never meet.
BANDITS, NOISE, DECISIONS, CONTROL, ARRIVALS, FACTORS = 1, 2, 3, 4, 5, 6

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_M3 = np.uint64(0xFF51AFD7ED558CCD)
_ONE = np.uint64(1)
_S10, _S11 = np.uint64(10), np.uint64(11)
_S27, _S30, _S31, _S33 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(33)
_LAYER_MASK = np.uint64(255)
_TO_UNIT = 2.0**-53


def _ziggurat() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Right edges of the 256 layers, widest first, and the density exp(-x^2/2) at them.

    All layers have the same area v. Layer 0 is the base strip with the tail beyond r, given the
    virtual width v / f(r), so that it is handled like the others.
    """

    def density(x: float) -> float:
        return math.exp(-0.5 * x * x)

    def area(r: float) -> float:
        return r * density(r) + math.sqrt(math.pi / 2) * math.erfc(r / math.sqrt(2))

    def top(r: float) -> float:
        """Height left over when 255 layers are stacked on the base strip; 1 for the right r."""
        v, x = area(r), r
        for _ in range(255):
            y = v / x + density(x)
            if y >= 1.0:
                return 2.0
            x = math.sqrt(-2.0 * math.log(y))
        return density(x)

    low, high = 3.0, 5.0  # a larger r leaves a stack that is too low
    for _ in range(200):
        middle = 0.5 * (low + high)
        if top(middle) > 1.0:
            low = middle
        else:
            high = middle
    r = high
    v = area(r)
    edges = [v / density(r), r]
    for _ in range(254):
        edges.append(math.sqrt(-2.0 * math.log(v / edges[-1] + density(edges[-1]))))
    edges.append(0.0)
    heights = [density(x) for x in edges]
    return np.array(edges), np.array(heights)


EDGE, HEIGHT = _ziggurat()
_TAIL = float(EDGE[1])


def seed_word(seed: int) -> np.uint64:
    """The seed as the 64-bit word that enters every key."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ValueError(f"seed must be an integer from 0 to 2**64 - 1, got {seed!r}")
    if not 0 <= int(seed) < 2**64:
        raise ValueError(f"seed must be an integer from 0 to 2**64 - 1, got {seed}")
    return np.uint64(int(seed))


def digest(text: str) -> np.uint64:
    """A stable 64-bit digest of a text (never Python's `hash`, which changes between runs)."""
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))


@wrapping
def mix(z: Any) -> Any:
    """Scramble a 64-bit word (or an array of them) one to one."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@wrapping
def fold(key: Any, word: Any) -> Any:
    """A new key from a key and one more word: `fold(fold(seed, purpose), run)` and so on."""
    return mix((key + _GOLDEN) ^ mix(word + _GOLDEN))


@wrapping
def step_of(key: Any) -> Any:
    """The odd step that belongs to a key."""
    z = (key ^ (key >> _S33)) * _M3
    return (z ^ (z >> _S33)) | _ONE


@wrapping
def word(key: Any, step: Any, counter: Any) -> Any:
    """The word at a counter of the stream (key, step)."""
    return mix(key + counter * step)


@wrapping
def to_unit(bits: Any) -> Any:
    """The top 53 bits of a word as a float in [0, 1)."""
    return np.float64(bits >> _S11) * _TO_UNIT


@wrapping
def normal_at(key: Any, step: Any, counter: Any) -> Any:
    """The standard normal at a counter of the stream (key, step)."""
    return normal_from(EDGE, HEIGHT, key, step, counter)


@wrapping
def normal_from(edge: Any, height: Any, key: Any, step: Any, counter: Any) -> Any:
    """As `normal_at`, with the ziggurat's tables given: a GPU reads them faster than constants."""
    # numba puts global arrays into a GPU's constant memory, where threads of a warp that read
    # different addresses wait for each other: UCB1 is then several times slower
    bits = mix(key + counter * step)
    layer = np.int64(bits & _LAYER_MASK)
    x = np.float64(np.int64(bits) >> 10) * _TO_UNIT * edge[layer]
    if abs(x) < edge[layer + 1]:
        return x
    return _normal_retry(edge, height, bits, layer, x)


@wrapping
@seldom
def _normal_retry(edge: Any, height: Any, bits: Any, layer: Any, x: Any) -> Any:
    """The rare rest of the ziggurat; its further words are a stream started by the first."""
    key = bits ^ _M3
    step = step_of(bits)
    counter = _ONE
    while True:
        if layer == 0:
            # beyond the tail's start: Marsaglia's two exponentials
            while True:
                a = -math.log(1.0 - to_unit(mix(key + counter * step))) / _TAIL
                b = -math.log(1.0 - to_unit(mix(key + (counter + _ONE) * step)))
                counter = counter + _ONE + _ONE
                if b + b >= a * a:
                    break
            return _TAIL + a if x > 0.0 else -_TAIL - a
        u = to_unit(mix(key + counter * step))
        counter = counter + _ONE
        if height[layer] + u * (height[layer + 1] - height[layer]) < math.exp(-0.5 * x * x):
            return x
        bits = mix(key + counter * step)
        counter = counter + _ONE
        layer = np.int64(bits & _LAYER_MASK)
        x = np.float64(np.int64(bits) >> 10) * _TO_UNIT * edge[layer]
        if abs(x) < edge[layer + 1]:
            return x


@wrapping
def start(draw: Draw, key: Any) -> None:
    """Set `draw` to the beginning of the stream of a key."""
    draw[0] = key
    draw[1] = step_of(key)
    draw[2] = np.uint64(0)


@wrapping
def uniform(draw: Draw) -> Any:
    """The next uniform number in [0, 1).

    Args:
        draw: What the verb `choose` gets; its counter advances by one.

    Returns:
        A float.

    >>> draw = new_draw(seed=0)
    >>> first, second = uniform(draw), uniform(draw)
    >>> bool(0.0 <= first < 1.0), bool(first == second)
    (True, False)
    """
    draw[2] += _ONE
    return to_unit(mix(draw[0] + draw[2] * draw[1]))


@wrapping
def normal(draw: Draw) -> Any:
    """The next standard normal number.

    Args:
        draw: What the verb `choose` gets; its counter advances by one.

    Returns:
        A float.

    >>> float(normal(new_draw(seed=0))) == float(normal(new_draw(seed=0)))
    True
    """
    draw[2] += _ONE
    return normal_at(draw[0], draw[1], draw[2])


@wrapping
def tie(draw: Draw, arm: Any, pull: Any) -> Any:
    """A random rank that breaks ties between arms: the smallest wins.

    A hash of the draw's key, the arm and the pull, so a scan over the arms and a tree agree,
    whatever order they compare in.

    Args:
        draw: What the verb `choose` gets; its counter stays.
        arm: The arm's number.
        pull: The number of its next pull.

    Returns:
        A 64-bit word.

    >>> draw = new_draw(seed=0)
    >>> int(tie(draw, 0, 1)) == int(tie(draw, 0, 1))
    True
    """
    return mix(draw[0] + np.uint64(arm) * _GOLDEN + np.uint64(pull) * draw[1])


def new_draw(seed: int, purpose: int = DECISIONS, run: int = 0) -> Draw:
    """A draw at the beginning of a stream of its own.

    Engines and players make one for each run. Make one yourself to call verbs in tests.

    Args:
        seed: From 0 to 2^64 - 1.
        purpose: What the stream is for; streams of different purposes never meet.
        run: The number of the run.

    Returns:
        The words (key, step, counter).

    Raises:
        ValueError: The seed is not an integer in that range.

    >>> draw = new_draw(seed=0)
    >>> 0.0 <= float(uniform(draw)) < 1.0
    True
    """
    draw = np.zeros(3, dtype=np.uint64)
    start(draw, fold(fold(seed_word(seed), np.uint64(purpose)), np.uint64(run)))
    return draw
