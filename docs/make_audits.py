"""Writes docs/audits.md from audits of published sets: `python docs/make_audits.py DATA`.

DATA is a folder of the reader's with `familytool/`, `mtu-bench/` and `nestful/` as their repositories have them (no file of them
is part of this project). A test keeps the page current where the data are there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from familytool.validation.audit import Order, audit
from familytool.validation.codes import CODES

SETS: dict[str, tuple[str, str | None, str]] = {
    # name: (benchmark, graph, what it is)
    "FamilyTool v0": ("familytool/familytool-v0.jsonl", "familytool/familykg-v0.txt", "the paper's data (commit 9453dff)"),
    "FamilyTool b": ("familytool/familytool-b.jsonl", "familytool/familykg-b.txt", "the repaired set (commit c3c5fc7)"),
    "FamilyTool e": ("familytool/familytool-e.jsonl", "familytool/familykg-e.txt", "the extended set (commit c3c5fc7)"),
    "MTU-Eval": ("mtu-bench", None, "the evaluation files of MTU-Bench (commit d0811f8), all five splits"),
    "NESTFUL executable": ("nestful/executable-data.json", None, "with executable-spec.json beside it"),
    "NESTFUL glaive": ("nestful/non-executable-glaive-data.json", None, "with non-executable-glaive-spec.json beside it"),
    "NESTFUL sgd": ("nestful/non-executable-sgd-data.json", None, "with non-executable-sgd-spec.json beside it"),
}

NOTES = {
    "FamilyTool b": "With the form of placeholders judged too (`appointment_time_0002` where HH:MM is declared), 157 samples break their schema; here a "
    "placeholder of the graph is judged by its type alone.",
    "MTU-Eval": "757 calls fit if the last document of a name decides, formats are not checked, and `options` is an enum. Here one of several documents is "
    "enough (+1), a document's own default is legal (+5), and an e-mail format is checked (-2): 761 as text, and more with references legal.",
    "NESTFUL executable": "Entry 3 calls `TripadvisorSearchRestaurants` without its required `locationId`.",
}

HEAD = """# What the audit finds in published benchmarks

Each table is what one command prints and writes; the data stay where you keep them. "Samples" counts a sample once for each code;
a verdict of "unknown" (rules cannot tell) is never counted as a failure, and the codes at the end of a table (`undecided_...`) say why
it is open. `familytool audit --help` says more, and [checks.md](checks.md) what an audit writes.

"As text" counts calls by their schema alone, as if a reference to an earlier result were the text it is written as; the audit itself
takes a sound reference as legal in any position.
"""


def quiet(what: str, done: int, of: int) -> None:
    """No progress is shown."""


def audits_page(data: Path) -> str:
    """The page, made by auditing the sets in `data`."""
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as out:
        for number, (name, (path, graph, what)) in enumerate(SETS.items()):
            order = Order(data / path, graph=data / graph if graph else None)
            summary = audit(order, Path(out) / str(number), quiet)
            parts.append(_section(name, path, graph, what, summary))
    return "\n".join(parts)


def _section(name: str, path: str, graph: str | None, what: str, summary: dict[str, Any]) -> str:
    calls = summary["calls"]
    options = f" --graph DATA/{graph}" if graph else ""
    lines = [
        f"## {name}",
        "",
        f"{what[0].upper()}{what[1:]}.",
        "",
        f"    familytool audit DATA/{path}{options} --out audits/{name.lower().replace(' ', '-')}",
        "",
        f"{summary['n_samples']:,} samples, {summary['n_failed']:,} with a failed check. "
        f"Calls: {calls['n']:,}; of offered tools {calls['checked']:,}, of which {calls['conform']:,} fit their tool's schema "
        f"({calls['conform_as_text']:,} as text); {calls['not_offered']:,} of tools that are not offered.",
        "",
        "| check | pass | fail | unknown |",
        "|---|---:|---:|---:|",
        *(f"| {check} | {v['pass']:,} | {v['fail']:,} | {v['unknown']:,} |" for check, v in summary["by_check"].items()),
        "",
        "| code | samples | findings | meaning |",
        "|---|---:|---:|---|",
        *(f"| `{code}` | {c['samples'] or '-'} | {c['findings']:,} | {CODES[code]} |" for code, c in summary["by_code"].items()),
        "",
    ]
    if name in NOTES:
        lines += [NOTES[name], ""]
    if summary["kinship"]["samples"]:
        k = summary["kinship"]
        lines += [
            f"Kinship words: of {k['samples']:,} samples whose golden chain goes through a relative, the lexicon reads a kinship word in "
            f"{k['mentioned']:,} ({100 * k['recall']:.1f} %), and a name in {k['named']:,} more; {k['agree']:,} agree with the chain, "
            f"{k['contradict']:,} contradict it, {k['silent']:,} cannot be told.",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python docs/make_audits.py DATA   (the folder with familytool/, mtu-bench/, nestful/)")
    Path(__file__).with_name("audits.md").write_text(audits_page(Path(sys.argv[1])), encoding="utf-8")
