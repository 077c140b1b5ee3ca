"""A day of traffic in a few minutes: does memory stay flat, and do archives keep the file small?

    python benchmarks/serve_day.py [--decisions 400000] [--hours 24] [--quick]

The whole service but HTTP runs in one process, on a clock of its own: 20,000 visitors, ten arms, a
control group, a reward window of ten minutes with a default, clicks after a minute or so, one in
fifty of them too late. Every six hours what is older than three hours is archived, on command.
Memory is the process's resident memory at every full hour. The limit: from the sixth hour on it
grows by less than 10 %. At the end everything is verified, archives included.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from record import record
from rotting._serve.app import Service
from rotting._serve.archive import archive
from rotting._serve.book import Answer, Book
from rotting._serve.requests import NewDecision, NewExperiment, NewReward
from rotting._serve.verify import verify

VISITORS, ARMS, WINDOW = 20_000, 10, 600.0
SETTLED, GROWTH = 6, 1.10  # hours after which memory counts, and by how much it may grow


def resident() -> float:
    """Megabytes of this process in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("this needs /proc")


class Day:
    def __init__(self, path: Path, decisions: int, hours: int) -> None:
        self.path, self.hours = path, hours
        self.now = self.start = 1.8e9
        self.service = Service(path, clock=lambda: self.now)
        self.random = random.Random(5)
        self.each = max(1, decisions * 10 // (hours * 3600))  # in ten seconds
        self.number = 0
        self.clicks: list[tuple[float, str]] = []
        self.rows: list[dict[str, Any]] = []

    async def run(self) -> None:
        journal = self.service.journal
        await journal.start()
        labels = [f"arm {i}" for i in range(ARMS)]
        wanted = NewExperiment(
            "day",
            labels,
            audience=True,
            control=0.1,
            reward_window=WINDOW,
            default_reward=0.0,
            seed=1,
        )
        made = await journal.answer(lambda book: book.create(wanted))
        made.data.player.go_compiled()
        for step in range(self.hours * 360):
            self.now += 10.0
            await journal.answer(self.ten_seconds)
            if step % 60 == 59:
                await journal.snapshot()
            if step % 360 == 359:
                hour = (step + 1) // 360
                moved = await self.moved(hour) if hour % 6 == 0 else 0
                self.note(hour, moved, made.data)
        await journal.close()

    def ten_seconds(self, book: Book) -> Answer:
        one = book.find("day")
        while self.clicks and self.clicks[0][0] <= self.now:
            book.reward(one, NewReward(heapq.heappop(self.clicks)[1], 1.0))
        while book.tick():
            pass
        items = []
        for _ in range(self.each):
            self.number += 1
            who = f"visitor {self.random.randrange(VISITORS)}"
            items.append(NewDecision(f"d{self.number}", who))
        found = book.about(one, (item.id for item in items))
        keys = book.keys(one, (item.key for item in items))
        answers = book.decide_many(one, items, found, keys)
        if answers is None:
            answers = [book.decide(one, item, found, keys) for item in items]
        for answer in answers:
            if self.random.random() < 0.2 / answer.data["pull"]:
                late = WINDOW if self.random.random() < 0.02 else 0.0
                due = self.now + late + self.random.expovariate(1 / 60)
                heapq.heappush(self.clicks, (due, answer.data["id"]))
        return Answer(None, book.seq)

    async def moved(self, hour: int) -> int:
        target = self.path.with_name(f"until-{hour}.db")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            None, lambda: archive(self.path, target, older=3 * 3600.0, now=self.now)
        )

    def note(self, hour: int, moved: int, one: Any) -> None:
        self.rows.append(
            {
                "hour": hour,
                "decisions": one.counts.decisions,
                "outstanding": len(one.waiting),
                "late": one.counts.late,
                "archived": moved,
                "memory_mb": round(resident(), 1),
                "file_mb": round(self.path.stat().st_size / 2**20, 1),
            }
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decisions", type=int, default=400_000)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--quick", action="store_true", help="do not record")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "day.db"
        day = Day(path, asked.decisions, asked.hours)
        began = time.perf_counter()
        asyncio.run(day.run())
        took = time.perf_counter() - began
        found = verify(path)
    table = Table(*day.rows[0])
    for row in day.rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)
    before, after = (day.rows[min(hour, asked.hours) - 1]["memory_mb"] for hour in (SETTLED, 10**9))
    kept = after <= GROWTH * before and not found.problems
    print(f"{took:.0f} s; memory {after / before:.3f} of what it was after {SETTLED} hours")
    print(*found.lines, *found.problems, sep="\n")
    if not asked.quick:
        about = {"growth": after / before, "limit": GROWTH, "problems": found.problems}
        record("serve_day", day.rows, **about, kept=kept, verified=found.lines)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
