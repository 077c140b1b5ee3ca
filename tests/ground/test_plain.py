"""Plain data: written values read back equal; only registered types are written."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rotting
from rotting import _plain, models, policies
from rotting.models import Constant, Exponential, Family, Plateau, Polynomial, Scaled, Step, Table

MIXED = [Exponential(0.1), Step(5, 1.0, 0.4), Scaled(Polynomial(0.2), 0.5)]
VALUES = [
    Plateau(0.3, 100),
    Table([1.0, 0.5]),
    Plateau(length=100).over([0.1, 0.15]),
    Plateau(length=100).over([0.1, 0.2, 0.3], weights=[0.3, 1.1, 0.7]),
    Family.of(MIXED),
    Family.of(MIXED, weights=[1, 3, 7]),
    Polynomial().between(0.1, 0.4, nodes=5),
    rotting.Arm(Constant(0.5), constant=0.25),
    policies.CTO(Plateau(length=20).over([0.4, 0.1])),
    policies.SWUCB(tau=4000),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_written_is_read_back(value: Any) -> None:
    text = json.dumps(_plain.to_plain(value))
    again = _plain.from_plain(json.loads(text))
    assert again == value
    assert repr(again) == repr(value)


def test_the_form_that_saved_players_hold() -> None:
    cto = policies.CTO(Plateau(length=100).over([0.1, 0.15]))
    assert _plain.to_plain(cto) == {
        "policy": "cto",
        "family": {
            "type": "Family",
            "model": {"type": "Plateau", "theta": None, "length": 100},
            "thetas": [0.1, 0.15],
        },
    }


def test_every_model_is_registered() -> None:
    assert set(models.MODELS) >= {
        "constant",
        "exponential",
        "function",
        "plateau",
        "polynomial",
        "scaled",
        "step",
        "table",
    }
    for name in ("Scaled", "Table", "Family", "Interval", "Arm"):
        with pytest.raises(ValueError, match=f"{name}: .*missing"):
            _plain.from_plain({"type": name})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"type": "Popen"}, "unknown type or policy 'Popen'; known: Amplitude, Arm, "),
        ({"type": ["Step"]}, "unknown type or policy"),
        ({"policy": "Step"}, "unknown type or policy 'Step'; known: "),
        ({"at": 3}, r"plain data must name its type or policy, got \['at'\]"),
        ({"type": "Constant", "value": "high"}, "value of Constant must be a finite number"),
    ],
)
def test_other_data_is_refused(data: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _plain.from_plain(data)


def test_what_has_no_plain_form_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written as plain data"):
        _plain.to_plain(rotting.Arm(models.Function(lambda n: 1.0 / n)))
    with pytest.raises(ValueError, match="cannot be written as plain data"):
        _plain.to_plain(object())


def test_a_class_defined_again_takes_the_place_of_the_old_one() -> None:
    def define() -> type:
        return _plain.register(type("Note", (), {"__module__": "notes", "__qualname__": "Note"}))

    old, new = define(), define()
    assert isinstance(_plain.from_plain({"type": "Note"}), new)
    with pytest.raises(ValueError, match="cannot be written"):
        _plain.to_plain(old())
    with pytest.raises(ValueError, match="must be new, but the type 'Note' is notes"):
        _plain.register(type("Note", (), {"__module__": "others", "__qualname__": "Note"}))
