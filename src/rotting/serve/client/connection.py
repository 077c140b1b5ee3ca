"""What all calls of the client share: the connection, its patience, and answers in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rotting import checks
from rotting.serve.client import sending
from rotting.serve.client.answers import Away, PartlyRefused, Refused, refusal
from rotting.serve.client.retrying import AGAIN_CODES, Caller, Deadline, Later

if TYPE_CHECKING:
    import httpx

LONG = 256 << 20  # bytes of an answer to a question for many things, as events
PATIENCE = 60  # times `timeout`, for what may have to compile a policy or replay a whole experiment


class Connection:
    """A connection to a service; threads may share it."""

    def __init__(
        self,
        url: str,
        key: str | None,
        timeout: float,
        retries: int,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self._url = sending.address(url)
        self._timeout = checks.number("timeout", timeout, above=0, most=3600)
        most = checks.integer("retries", retries, least=0, most=100)
        self._caller = Caller(self._url, sending.secret(key), most, transport)

    def close(self) -> None:
        """Close the connections; the client cannot be used after it."""
        self._caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def _soon(self) -> Deadline:
        return self._caller.deadline(self._timeout)

    def _patient(self) -> Deadline:
        return self._caller.deadline(PATIENCE * self._timeout)

    def _post(
        self, experiment: str, what: str, data: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        """The answer to one body, an object."""
        path = f"/v1/experiments/{sending.experiment_name(experiment)}/{what}"
        return as_object(self._caller.ask("POST", path, deadline, sending.body(data)))

    def _get(self, path: str, deadline: Deadline, **query: str | int) -> dict[str, Any]:
        ask = self._caller.ask
        return as_object(ask("GET", path, deadline, query=query or None, most=LONG))

    def _post_batch(
        self,
        experiment: str,
        what: str,
        items: Sequence[Mapping[str, Any]],
        deadline: Deadline,
        retries: int | None = None,
    ) -> list[dict[str, Any] | Refused]:
        """The answers to a batch, sent again as a whole if items could not be done now."""
        path = f"/v1/experiments/{sending.experiment_name(experiment)}/{what}"

        def check(answers: Any) -> None:
            if not isinstance(answers, list) or len(answers) != len(items):
                raise Away(f"{len(items)} items were sent, but the answer is not a list of so many")
            for each in answers:
                error = each.get("error") if isinstance(each, dict) else None
                if isinstance(error, dict) and error.get("code") in AGAIN_CODES:
                    raise Later(f"part of the batch: {error['code']}")

        body = sending.body(list(items))
        answers = self._caller.ask("POST", path, deadline, body, check=check, retries=retries)
        return [refusal(as_object(each).get("error"), 200) or each for each in answers]


def as_object(answer: Any) -> dict[str, Any]:
    """The answer, if it is a JSON object."""
    if not isinstance(answer, dict):
        raise Away(f"the answer must be a JSON object, got {str(answer)[:80]!r}")
    return answer


def field(answer: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """A field of an answer, if it is there and of one of these kinds."""
    if name not in answer or type(answer[name]) not in kinds:
        raise Away(f"{name} is missing from the answer, or is no {kinds[0].__name__}")
    return answer[name]


def whole_or_refused(answers: Sequence[Any]) -> list[Any]:
    """The answers of a batch, if none was refused."""
    if any(isinstance(each, Refused) for each in answers):
        raise PartlyRefused(answers)
    return list(answers)


def each_or_refused(answers: Sequence[Any], read: Callable[[Any], Any]) -> list[Any]:
    """What `read` makes of those answers of a batch that are no refusals."""
    return [each if isinstance(each, Refused) else read(each) for each in answers]
