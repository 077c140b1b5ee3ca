"""The service against its description, by schemathesis with all its checks.

    python tests/serve/schema.py --examples 300        (make serve-study)

Every answer must be of a status, a type and headers that are described; what does not fit the
description must be refused, and what fits be taken.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok

sys.path[:0] = [str(Path(__file__).parents[2] / "benchmarks")]
from serve_process import Server  # noqa: E402

# What a description cannot say: it depends on the experiment, or on what Python takes for whole.
BY_STATE = re.compile(
    r"the experiment has (no|an) audience|there is no arm|must be an arm of the experiment|"
    r"must hold arms of the experiment|fallback must be one of the arms|policy must be one of|"
    r"arms of .* cannot come and go|a policy for|Expected `int.*got `float`|policy must be"
)
PLAIN = {"ROTTING_SERVE_COMPILED": "false"}


def is_right(title: str, answer: Any) -> bool:
    """Whether an answer that schemathesis takes for wrong is right."""
    if title == "Schema-valid request rejected":
        return BY_STATE.search(answer.text) is not None
    return title == "Schema-violating request accepted" and answer.status_code == 413


def tried(base: str, operation: Any, examples: int, found: Counter[str]) -> int:
    """Requests of an operation that fit the description, and as many that do not."""
    count = 0
    for mode in schemathesis.GenerationMode:

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def try_(case: schemathesis.Case[Any]) -> None:
            nonlocal count
            count += 1
            if "name" in (case.path_parameters or {}) and count % 4:
                case.path_parameters["name"] = "e"  # one that exists, most of the time
            answer = case.call(base_url=base)
            try:
                case.validate_response(answer)
            except FailureGroup as group:
                for each in group.exceptions:
                    title = getattr(each, "title", str(each)[:60])
                    if is_right(title, answer):
                        continue
                    words = f"{operation.method.upper()} {operation.path}: {title}"
                    if words not in found:
                        sent = case.as_curl_command()[:600]
                        print(words, sent, answer.text[:300], each, sep="\n  ")
                    found[words] += 1

        with contextlib.suppress(Unsatisfiable):  # nothing can be wrong without a parameter
            try_()
    return count


def study(examples: int) -> tuple[int, Counter[str]]:
    """How many requests were made, and what was wrong."""
    found: Counter[str] = Counter()
    count = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(Path(folder) / "rotting.db", environment=PLAIN) as server,
    ):
        made = {"name": "e", "arms": ["A", "B"], "policy": "ucb1"}
        assert server.client().post("/v1/experiments", made)[0] == 201
        base = f"http://127.0.0.1:{server.port}"
        schema = schemathesis.openapi.from_url(f"{base}/v1/openapi.json")
        for each in schema.get_all_operations():
            assert isinstance(each, Ok), each
            count += tried(base, each.ok(), examples, found)
        assert server.client().get("/ready")[0] == 200
        assert "Traceback" not in server.said(), server.said()
    return count, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--examples", type=int, default=300, help="of each operation and mode")
    count, found = study(parser.parse_args().examples)
    print(f"{count:,} requests, {len(found)} kinds of failures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
