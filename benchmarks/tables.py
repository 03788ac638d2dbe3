"""Time and memory of the table expectations, against the same rules written in plain pandas.

Usage: python benchmarks/tables.py [--rows N ...]   Each size runs in a process of its own, once with rows that keep to everything
and once with rows that break nearly all rules (the worst case: every unexpected row has to be told). Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from familytool.model import RelationPath, Sample, Tool, ToolCall, Triple


def samples(rows: int, broken: bool) -> Iterator[Sample]:
    """Rows of kind graph; broken ones share ids and queries, offer one tool twice and call another, and have no triples."""
    tools = tuple(Tool(name=f"tool_{n}", parameters={}) for n in range(8))
    triples = (Triple(head="Ida", relation="mother", tail="Eva"), Triple(head="Eva", relation="city", tail="Oslo"))
    paths = (RelationPath(start="Ida", relations=("mother", "city")),)
    for number in range(rows):
        yield Sample(
            id=f"row-{number // 2 if broken else number}",
            benchmark="measured",
            kind="graph",
            speaker="Ida",
            query=f"Book a room in my mother's city for guest {number // 2 if broken else number}, please.",
            graph_id="family",
            candidate_tools=(tools[0], tools[0]) if broken else tools,
            golden_triples=() if broken else triples,
            golden_paths=paths,
            calls=(ToolCall(name=f"tool_{9 if broken else number % 8}", arguments={"city": "Oslo"}),),
        )


def plain_pandas(frame: Any) -> dict[str, int]:
    """The unexpected rows of each rule, counted with pandas alone; the rules are written out again on purpose."""
    kind = frame["kind"]
    flat, multi, none = kind.isin(["no_graph", "no_tool"]), kind == "multi_call", kind == "no_tool"
    found = {
        "id_filled": frame["id"].isna(),
        "benchmark_filled": frame["benchmark"].isna(),
        "kind_filled": kind.isna(),
        "query_filled": frame["query"].isna(),
        "shape_filled": frame["shape"].isna(),
        **{f"{name}_filled": frame[name].isna() for name in ("n_candidate_tools", "n_distinct_tools", "n_calls", "n_offered_calls")},
        **{f"{name}_filled": frame[name].isna() for name in ("hops", "n_distinct_triples", "depth", "n_golden_calls")},
        "unique_id": frame["id"].duplicated(keep=False),
        "unique_graph_id_speaker_query": frame[["graph_id", "speaker", "query"]].duplicated(keep=False),
        "kind_known": ~kind.isin(["graph", "no_graph", "no_tool", "multi_call"]),
        "shape_known": ~frame["shape"].astype(str).str.fullmatch(r"0|[1-9]\d*(\+[1-9]\d*)*"),
        "candidates": frame["n_candidate_tools"] < 1,
        "candidates_differ": frame["n_candidate_tools"] != frame["n_distinct_tools"],
        "called_tools_offered": frame["n_calls"] != frame["n_offered_calls"],
        "hops_are_triples": frame["hops"] != frame["n_distinct_triples"],
        "hops_cover_depth": frame["hops"] < frame["depth"],
        "speaker_filled_of_kind_graph": (kind == "graph") & frame["speaker"].isna(),
        "graph_id_filled_of_kind_graph": (kind == "graph") & frame["graph_id"].isna(),
        "tool_filled_with_a_golden_call": (frame["n_calls"] > 0) & frame["tool"].isna(),
        "graph_has_hops": (kind == "graph") & (frame["hops"] < 1),
        "others_have_no_hops": flat & (frame["hops"] > 0),
        "no_tool_has_no_call": none & (frame["n_golden_calls"] > 0),
        "others_have_a_call": ~none & (frame["n_golden_calls"] < 1),
        "multi_call_has_calls": multi & (frame["n_golden_calls"] < 2),
        "others_have_one_call": ~multi & (frame["n_calls"] > 1),
    }
    return {name: int(rows.sum()) for name, rows in found.items()}


def measure(rows: int, broken: bool) -> None:
    """Check a table of `rows` in this process; print seconds, memory, and whether plain pandas counts the same."""
    from familytool.tables import Expected, check_frame, frame_of

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    begun = time.process_time()
    check_frame(frame_of(samples(10, broken=False)), Expected())  # imports Great Expectations
    figures: dict[str, Any] = {"rows": rows, "broken": broken, "import_seconds": time.process_time() - begun, "import_peak_mib": peak()}
    begun = time.process_time()
    for _ in samples(rows, broken):
        pass
    figures["samples_seconds"] = time.process_time() - begun
    begun = time.process_time()
    frame = frame_of(samples(rows, broken))
    figures |= {
        "frame_seconds": time.process_time() - begun - figures["samples_seconds"],
        "frame_mib": frame.memory_usage(deep=True).sum() / 2**20,
    }
    begun = time.process_time()
    result = check_frame(frame, Expected())
    figures |= {"check_seconds": time.process_time() - begun, "peak_mib": peak(), "failed": len(result.failures())}
    begun = time.process_time()
    plain = plain_pandas(frame)
    figures |= {"pandas_seconds": time.process_time() - begun}
    figures["same"] = plain == {entry.name: entry.n_unexpected for entry in result.expectations if entry.n_unexpected is not None}
    print(json.dumps(figures))


def main() -> None:
    """Measure each size and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return measure(int(options.one[0]), options.one[1] == "broken")
    for rows in options.rows:
        for kind in ("sound", "broken"):
            done = subprocess.run([sys.executable, __file__, "--one", str(rows), kind], capture_output=True, text=True, check=True)
            f = json.loads(done.stdout)
            print(
                f"{rows} {kind} rows: table {f['frame_seconds']:.1f} s and {f['frame_mib']:.0f} MiB beside {f['samples_seconds']:.1f} s for the samples; "
                f"expectations {f['check_seconds']:.2f} s ({1e6 * f['check_seconds'] / rows:.0f} us a row, {f['failed']} not met), plain pandas "
                f"{f['pandas_seconds']:.2f} s: ratio {f['check_seconds'] / f['pandas_seconds']:.1f}; peak {f['peak_mib']:.0f} MiB, of which "
                f"{f['import_peak_mib']:.0f} after the import ({f['import_seconds']:.1f} s); {'same' if f['same'] else 'OTHER'} counts"
            )
    return None


if __name__ == "__main__":
    main()
