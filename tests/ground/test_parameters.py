"""Rules in the types of parameters: what is checked, converted and said."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pytest

from rotting import _checks
from rotting.parameters import (
    Checked,
    Count,
    NonNegative,
    Number,
    OneOf,
    Positive,
    Probability,
    Real,
    Switch,
    Whole,
)

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class Everything(Checked):
    sigma: Positive | None = None
    z: NonNegative = 0.0
    delta: Probability = 0.1
    every: Count = 1
    restart: Annotated[str, OneOf("forget", "keep")] = "forget"
    constants: Switch = False
    nodes: Annotated[int, Whole(least=3, most=10)] = 3
    share: Annotated[float | None, Number(above=0, most=1)] = None
    free: Any = "anything"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("sigma", 0, "sigma must be a number > 0, got 0"),
        ("sigma", "1", "sigma must be a number > 0, got '1'"),
        ("z", -1, "z must be a number >= 0, got -1"),
        ("z", None, "z must be a number >= 0, got None"),
        ("delta", 1.0, "delta must be a number > 0 and < 1, got 1.0"),
        ("every", 0.5, "every must be an integer >= 1, got 0.5"),
        ("every", True, "every must be an integer >= 1, got True"),
        ("restart", "lose", "restart must be one of 'forget', 'keep', got 'lose'"),
        ("constants", 1, "constants must be True or False, got 1"),
        ("nodes", 11, "nodes must be an integer from 3 to 10, got 11"),
        ("share", 1.5, "share must be a number > 0 and <= 1, got 1.5"),
    ],
)
def test_a_refusal_names_argument_value_and_range(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match="must be") as refusal:
        Everything(**{field: value})
    assert str(refusal.value) == message


def test_values_are_stored_converted() -> None:
    given: Any = {"sigma": np.float32(0.5), "z": 2, "every": 1e3, "constants": np.True_, "share": 1}
    made = Everything(**given)
    assert repr(made.sigma) == "0.5"
    assert repr(made.z) == "2.0"
    assert repr(made.every) == "1000"
    assert made.constants is True
    assert repr(made.share) == "1.0"
    assert made.free == "anything"


def test_none_passes_where_the_type_allows_it() -> None:
    assert Everything(sigma=None, share=None).sigma is None


def test_replacing_a_field_checks_it() -> None:
    with pytest.raises(ValueError, match="every must be"):
        dataclasses.replace(Everything(), every=0)


@dataclass(frozen=True)
class Base(Checked):
    low: Real

    def argument(self, field: str) -> str:
        return f"{field} of {type(self).__name__}"


@dataclass(frozen=True)
class Derived(Base):
    high: Real = 1.0
    width: float = 0.0

    def check(self) -> None:
        self._set("width", _checks.number("width", self.high - self.low, least=0))


def test_rules_and_names_are_inherited_and_check_comes_last() -> None:
    assert Derived(0.25).width == 0.75
    with pytest.raises(ValueError, match="low of Derived must be a finite number"):
        Derived("a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="width must be a number >= 0"):
        Derived(2.0)


def test_a_type_that_cannot_be_looked_up_is_an_error_and_not_an_unchecked_field() -> None:
    @dataclass(frozen=True)
    class Unknown(Checked):
        part: Fraction

    with pytest.raises(TypeError, match=r"the type of Unknown\.part must be known"):
        Unknown(None)  # type: ignore[arg-type]


def test_classes_of_executed_text_are_checked_too() -> None:
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from rotting.parameters import Checked, Positive\n"
        "@dataclass(frozen=True)\n"
        "class Own(Checked):\n"
        "    x: Positive\n"
        "    def double(self): return 2 * self.x\n"
    )
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["Own"](3).double() == 6.0
    with pytest.raises(ValueError, match="x must be a number > 0"):
        names["Own"](0)
