"""What is shown while work goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import typer

from familytool.cli.saying import counted
from familytool.errors import FamilytoolError


class Pending:
    """The rows of all strata together, as they are told stratum by stratum: how many there are, and what the rest will take.

    Strata are filled in order, so those before the one that is told of are full. What the rest will take is reckoned from the rows
    that this process made, for those of an earlier start cost it nothing.
    """

    def __init__(self, strata: Mapping[str, int], clock: Callable[[], float] = time.monotonic) -> None:
        self.strata = {name: wanted for name, wanted in strata.items() if wanted}
        self.made = self.done = 0
        self._clock, self._start = clock, clock()
        self._spent = Decimal(0)

    @property
    def wanted(self) -> int:
        """Rows of all strata."""
        return sum(self.strata.values())

    def count(self, what: str, done: int, meter: Any = None) -> bool:
        """Take note of a row; False where this is no stratum: what went before the rows is not reckoned on them."""
        if what not in self.strata:
            if not self.made:
                self._start, self._spent = self._clock(), Decimal(0) if meter is None else meter.price
            return False
        names = list(self.strata)
        self.done = sum(self.strata[name] for name in names[: names.index(what)]) + done
        self.made += 1
        return True

    def left(self, meter: Any) -> str:
        """Rows that are still to be made, and about how long and for how much, or ""."""
        rest = self.wanted - self.done
        if rest <= 0 or not self.made:
            return ""
        price = Decimal(0) if meter is None else meter.price - self._spent
        cost = f" and ${price * rest / self.made:.2f}" if price else ""
        return f"{counted(rest, 'row')} to go: about {duration((self._clock() - self._start) * rest / self.made)}{cost}"


def duration(seconds: float) -> str:
    """A time in the two units that tell most.

    >>> duration(5), duration(312), duration(7_500), duration(200_000)
    ('5 s', '5 min 12 s', '2 h 5 min', '2 d 7 h')
    """
    whole = max(0, round(seconds))
    for unit, name, smaller, small in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit:
            rest = whole % unit // smaller
            return f"{whole // unit} {name}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


@contextmanager
def progress_shown(meter: Any = None, strata: Mapping[str, int] | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for each stage on a terminal; elsewhere a line when a stage is done. Ctrl-C ends with one sentence.

    A meter's calls, tokens and money stand beside it, and with `strata` (the rows wanted of each) what the rest will take.
    """
    pending = Pending(strata or {})
    try:
        if sys.stderr.isatty():
            with _progress_bars(meter, pending) as show:
                yield show
        else:

            def tell(what: str, done: int, of: int) -> None:
                pending.count(what, done, meter)
                if done == of:
                    notes = [note for note in (meter.line() if meter is not None else "", pending.left(meter)) if note]
                    told = f"  ({'; '.join(notes)})" if notes else ""
                    typer.echo(f"  {what}: {done:,} of {of:,}{told}", err=True)

            yield tell
    except KeyboardInterrupt:
        raise FamilytoolError("stopped; what is finished is kept, and the same command goes on.") from None


@contextmanager
def _progress_bars(meter: Any, pending: Pending) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage and one for all rows; below them lines of their own, which 80 columns hold."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    columns = (BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    bars = Progress(TextColumn("  {task.description:<11}"), *columns, auto_refresh=False)
    tasks: dict[str, Any] = {}

    def shown() -> Group:
        notes = [note for note in (pending.left(meter), meter.line() if meter is not None else "") if note]
        return Group(bars, *(Text(f"  {note}") for note in notes))

    with Live(get_renderable=shown, console=Console(stderr=True), refresh_per_second=4):

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of or None)
            bars.update(tasks[what], completed=done, total=of or None)
            if pending.count(what, done, meter) and len(pending.strata) > 1:
                if "" not in tasks:
                    tasks[""] = bars.add_task("all rows", total=pending.wanted)
                bars.update(tasks[""], completed=pending.done)

        yield show


@contextmanager
def rows_shown(what: str, count: Callable[[], int | None]) -> Iterator[Callable[[int], None]]:
    """A progress bar of rows on standard error, if that is a terminal; the rows are counted only then."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=count())
        yield lambda done: bar.update(task, completed=done)
