"""Time of the schema part of the parameters check, against bare jsonschema on the same calls, and against jsonschema-rs as the limit.

Usage: python benchmarks/checking.py [--run-dir DIR] [--calls N ...]   The calls are those of a run (made for this purpose unless one is
given), repeated to N. Baseline is jsonschema's `Draft202012Validator(schema)`, built once for each schema, `list(iter_errors(arguments))`.
Printed are ratios, since absolute times depend on the machine; and how the time of patterns grows with the length of the text.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import jsonschema

from familytool.formats.patterns import is_match
from familytool.graph import KnowledgeGraph
from familytool.model import Json, Sample
from familytool.validation.parameters import call_findings
from familytool.validation.references import broken_references, specials_of
from familytool.validation.syntax import check_syntax

ROUNDS = 5
SEARCHES = 20
PATTERNS = (
    r"^\d{4}-\d{2}-\d{2}$", r"^[a-z]+(-[a-z]+)*$", r"^(?=.*[A-Z])(?=.*\d).{8,}$", r"\d+-\d+", r"^[^@]+@[^@]+$", r"^\S+@\S+\.\S+$",
    r"^.*.*$", r"^a*a*$", r"^(a|ab)*$", r"^(a+)+$", r"^(a{1,100}){1,100}$", r"^.*.*.*.*.*x$",
)  # fmt: skip
TEXTS = ("a", "ab", "a-", "1", "@.", "a@a.", "A1")


Judges = dict[str, Callable[[Json], list[object]]]
"""Name of a tool -> what is wrong with arguments."""


def samples_of(run_dir: Path | None) -> list[Sample]:
    """The samples of a run folder, or of the built-in campaign made here."""
    from familytool.pipeline import Job, find_campaign, generate
    from familytool.runs import RunFolder, read_samples

    if run_dir is not None:
        return list(read_samples(run_dir / "samples.jsonl"))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(*find_campaign("home"))
        with RunFolder(Path(folder) / "run", job.identity()) as run:
            generate(job, run)
        return list(read_samples(Path(folder) / "run" / "samples.jsonl"))


def schema_part(samples: Iterator[Sample], graph: KnowledgeGraph) -> int:
    """All of the parameters check that is about schemas and references."""
    found = 0
    for sample in samples:
        specials = specials_of(sample, sample.calls)
        for number, call in enumerate(sample.calls):
            found += len(call_findings(sample, graph, call, specials[number], "") or ())
            found += len(broken_references(sample, sample.calls, number, specials[number], ""))
    return found


def bare_part(samples: Iterator[Sample], validators: Judges) -> int:
    """The same calls through one validator for each name of a tool."""
    return sum(len(validators[call.name](call.arguments)) for sample in samples for call in sample.calls)


def seconds(*works: Callable[[], object]) -> list[float]:
    """Processor time of each work in its fastest round; the works take turns, so that a busy moment of the machine hits all of them."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, taken in zip(works, times, strict=True):
            begun = time.process_time()
            work()
            taken.append(time.process_time() - begun)
    return [min(taken) for taken in times]


def repeated(samples: list[Sample], calls: int) -> list[Sample]:
    """Samples, over and over, until they have so many calls."""
    taken: list[Sample] = []
    for sample in itertools.cycle([s for s in samples if s.calls]):
        if calls <= 0:
            return taken
        taken.append(sample)
        calls -= len(sample.calls)
    return taken


def broken(sample: Sample) -> Sample:
    """The same sample with a text where its first call has something else, and a parameter that nobody declares."""
    calls = [call.model_copy(update={"arguments": {**call.arguments, "nobody": 1}}) for call in sample.calls]
    return sample.model_copy(update={"calls": tuple(calls)})


def print_checking(samples: list[Sample], sizes: list[int]) -> None:
    """The table of ratios for each number of calls."""
    schemas = {tool.name: tool.parameters for sample in samples for tool in sample.candidate_tools}
    bare = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas.items()}
    baseline = {name: lambda arguments, v=validator: list(v.iter_errors(arguments)) for name, validator in bare.items()}
    try:
        import jsonschema_rs

        fast = {name: jsonschema_rs.validator_for(schema) for name, schema in schemas.items()}
        limit = {name: lambda arguments, v=validator: list(v.iter_errors(arguments)) for name, validator in fast.items()}
    except ImportError:
        limit = {}
    print(f"{len(schemas)} schemas; baseline: bare jsonschema {version('jsonschema')} on the same calls")
    print(
        f"{'calls':>9} {'x baseline':>11} {'x jsonschema-rs':>16} {'x syntax check':>15} {'failing calls x baseline':>25} {'x time a call':>14}"
    )
    first = 0.0
    for size in sizes:
        first = print_row(samples, size, baseline, limit, first)


def print_row(samples: list[Sample], size: int, baseline: Judges, limit: Judges, first: float) -> float:
    """The ratios at one number of calls; the time of one call in the first row, with which others are compared."""
    graph = KnowledgeGraph()
    taken = repeated(samples, size)
    failing = [broken(sample) for sample in repeated(samples, size // 10)]
    base, ours, syntax, base_failing, failed, best = seconds(
        lambda: bare_part(iter(taken), baseline),
        lambda: schema_part(iter(taken), graph),
        lambda: [check_syntax(sample, graph) for sample in taken],
        lambda: bare_part(iter(failing), baseline),
        lambda: schema_part(iter(failing), graph),
        lambda: bare_part(iter(taken), limit) if limit else None,
    )
    first = first or ours / size
    of_limit = f"{ours / best:.1f}" if limit else "not installed"
    print(
        f"{size:>9,} {ours / base:>11.2f} {of_limit:>16} {syntax / base:>15.2f} {failed / base_failing:>25.2f} {ours / size / first:>14.2f}"
    )
    return first


def print_reading(samples: list[Sample]) -> None:
    """How much dearer a call is when its sample is read again, so that no schema is the object it was."""
    taken = [sample for sample in samples if sample.calls]
    graph = KnowledgeGraph()
    lines = [sample.model_dump_json() for sample in taken]
    [kept] = seconds(lambda: schema_part(iter(taken), graph))
    fresh = []
    for _ in range(ROUNDS):
        again = [Sample.model_validate(json.loads(line)) for line in lines]
        begun = time.process_time()
        schema_part(iter(again), graph)
        fresh.append(time.process_time() - begun)
    print(f"schemas read again with every sample: x {min(fresh) / kept:.2f} of the time a call")


def print_patterns() -> None:
    """The slowest hostile text for each pattern at 1,000 and 10,000 characters; a text that is too long for it is not searched."""
    print(f"{'pattern':<32} {'x time, 10,000 : 1,000 characters':>34} {'slowest of all, x a plain search':>33}")
    [plain] = seconds(lambda: [is_match("^[a-z]*$", "a" * 9_999 + "!") for _ in range(SEARCHES)])
    for pattern in PATTERNS:
        times = {}
        for length in (50, 100, 500, 1_000, 5_000, 10_000):
            texts = [(text * length)[: length - 2] + "!\n" for text in TEXTS]
            if is_match(pattern, texts[0]) is not None:
                times[length] = max(seconds(*(lambda t=text: [is_match(pattern, t) for _ in range(SEARCHES)] for text in texts)))  # noqa: B023  called at once
        growth = f"{times[10_000] / times[1_000]:.1f}" if 10_000 in times else f"up to {max(times):,} alone" if times else "never run"
        print(f"{pattern:<32} {growth:>34} {max(times.values(), default=0) / plain:>33.1f}")


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run-dir", type=Path)
    parser.add_argument("--calls", type=int, nargs="*", default=[10_000, 100_000])
    arguments = parser.parse_args()
    samples = samples_of(arguments.run_dir)
    print_checking(samples, arguments.calls)
    print_reading(samples)
    print_patterns()


if __name__ == "__main__":
    main()
