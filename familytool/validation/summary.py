"""Counts of verdicts and findings over a stream of samples, kept as the stream passes: nothing of a sample stays."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from familytool.model import Check, Finding, Sample
from familytool.validation.codes import HARMLESS


@dataclass
class Tally:
    """The counts of `summary.json`: samples, verdicts by check, findings by code, failed samples by tool and by hop.

    Of each sample five bytes stay, so that a check that only the whole set can make (duplicates) can fail it later.
    """

    n_samples: int = 0
    n_failed: int = 0
    by_check: dict[str, Counter[str]] = field(default_factory=dict)
    samples_by_code: Counter[str] = field(default_factory=Counter)
    findings_by_code: Counter[str] = field(default_factory=Counter)
    by_tool: dict[str, list[int]] = field(default_factory=dict)
    by_hop: dict[str, list[int]] = field(default_factory=dict)
    _failed: array[int] = field(default_factory=lambda: array("B"))
    _group: array[int] = field(default_factory=lambda: array("I"))
    _groups: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)

    def add(self, sample: Sample, checks: Iterable[Check]) -> None:
        """Count one sample and the verdicts on it; a code that several checks report of one sample counts as one sample."""
        self.n_samples += 1
        failed = False
        codes: Counter[str] = Counter()
        for check in checks:
            self.by_check.setdefault(check.check, Counter())[check.verdict] += 1
            failed = failed or check.verdict == "fail"
            codes.update(finding.code for finding in (*check.findings, *check.left_open))
        self.samples_by_code.update(codes.keys())
        self.findings_by_code.update(codes)
        group = (f"hop{sample.hops}", tuple(dict.fromkeys(call.name for call in sample.calls)))
        self._group.append(self._groups.setdefault(group, len(self._groups)))
        self._failed.append(0)
        for row in self._rows_of(group):
            row[0] += 1
        if failed:
            self._fail(self.n_samples - 1, group)

    def add_set_check(self, check: str, findings: Sequence[tuple[int, Finding]]) -> None:
        """Count a check of the whole set: (number of the sample in the order of `add`, finding) pairs; the other samples pass."""
        failing = {number for number, _ in findings}
        groups = list(self._groups)
        for number in sorted(failing):
            if not self._failed[number]:
                self._fail(number, groups[self._group[number]])
        self.by_check[check] = Counter({"pass": self.n_samples - len(failing), "fail": len(failing)})
        self.samples_by_code.update(code for _, code in {(number, finding.code) for number, finding in findings})
        self.findings_by_code.update(finding.code for _, finding in findings)

    def add_graph(self, findings: Iterable[Finding]) -> None:
        """Count findings about the graph, which touch no sample."""
        self.findings_by_code.update(finding.code for finding in findings)

    def _fail(self, number: int, group: tuple[str, tuple[str, ...]]) -> None:
        self._failed[number] = 1
        self.n_failed += 1
        for row in self._rows_of(group):
            row[1] += 1

    def _rows_of(self, group: tuple[str, tuple[str, ...]]) -> Iterator[list[int]]:
        yield self.by_hop.setdefault(group[0], [0, 0])
        yield from (self.by_tool.setdefault(name, [0, 0]) for name in group[1])

    def as_json(self) -> dict[str, Any]:
        """The counts as `summary.json` holds them; codes from the most frequent on, those that fail nothing last; tools, hops by name."""

        def rank(code: str) -> tuple[bool, int, int, str]:
            return code in HARMLESS, -self.samples_by_code[code], -self.findings_by_code[code], code

        order = sorted(self.findings_by_code, key=rank)
        return {
            "n_samples": self.n_samples,
            "n_failed": self.n_failed,
            "failed_share": self.n_failed / self.n_samples if self.n_samples else None,
            "by_check": {name: {v: counts[v] for v in ("pass", "fail", "unknown")} for name, counts in self.by_check.items()},
            "by_code": {code: {"samples": self.samples_by_code[code], "findings": self.findings_by_code[code]} for code in order},
            "by_tool": {name: {"samples": s, "failed": f} for name, (s, f) in sorted(self.by_tool.items())},
            "by_hop": {name: {"samples": s, "failed": f} for name, (s, f) in sorted(self.by_hop.items())},
        }


def finding_rows(sample_id: str, check: Check, **more: Any) -> Iterator[dict[str, Any]]:
    """The rows of `findings.jsonl` for one verdict, those of what is left open included; `more` are columns beside a finding's."""
    for finding in (*check.findings, *check.left_open):
        yield {
            "sample_id": sample_id,
            "check": check.check,
            "verdict": check.verdict,
            **finding.model_dump(mode="json"),
            "judge": check.judge,
            **more,
        }
