"""Requests made up from the service's own description: none is answered with 5xx."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.result import Ok

from serve_process import Server

EXAMPLES = 3  # of every operation


def test_nothing_that_fits_or_does_not_fit_the_description_is_answered_5xx(tmp_path: Path) -> None:
    # a policy that is changed is compiled first, which nobody waits for here
    plain = {"ROTTING_SERVE_COMPILED": "false"}
    with Server(tmp_path / "rotting.db", environment=plain) as server:
        made = {"name": "e", "arms": ["A", "B"], "policy": "ucb1"}
        assert server.client().post("/v1/experiments", made)[0] == 201
        base = f"http://127.0.0.1:{server.port}"
        schema = schemathesis.openapi.from_url(f"{base}/v1/openapi.json")
        bad: list[str] = []
        count = 0
        for found in schema.get_all_operations():
            assert isinstance(found, Ok), found
            operation = found.ok()
            for mode in schemathesis.GenerationMode:

                @given(case=operation.as_strategy(generation_mode=mode))
                @settings(
                    max_examples=EXAMPLES,
                    deadline=None,
                    derandomize=True,
                    database=None,
                    phases=[Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )
                def tried(case: schemathesis.Case[Any]) -> None:
                    nonlocal count
                    count += 1
                    if "name" in (case.path_parameters or {}) and count % 2:
                        case.path_parameters["name"] = "e"  # one that exists, half of the time
                    answer = case.call(base_url=base)
                    if answer.status_code >= 500:
                        bad.append(f"{case.as_curl_command()}: {answer.text}")

                with contextlib.suppress(Unsatisfiable):  # nothing can be wrong without a parameter
                    tried()
        assert bad == []
        assert count > 40
        assert server.client().get("/ready")[0] == 200
        assert "Traceback" not in server.said(), server.said()
