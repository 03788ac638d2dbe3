"""Counts of verdicts and findings over a stream of samples, kept as the stream passes: nothing of a sample stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from familytool.model import Check, Finding, Sample


@dataclass
class Tally:
    """The counts of `summary.json`: samples, verdicts by check, findings by code, failed samples by tool and by hop."""

    n_samples: int = 0
    n_failed: int = 0
    by_check: dict[str, Counter[str]] = field(default_factory=dict)
    samples_by_code: Counter[str] = field(default_factory=Counter)
    findings_by_code: Counter[str] = field(default_factory=Counter)
    by_tool: dict[str, list[int]] = field(default_factory=dict)
    by_hop: dict[str, list[int]] = field(default_factory=dict)

    def add(self, sample: Sample, checks: Iterable[Check]) -> None:
        """Count one sample and the verdicts on it; a code that several checks report of one sample counts as one sample."""
        self.n_samples += 1
        failed = False
        codes: Counter[str] = Counter()
        for check in checks:
            self.by_check.setdefault(check.check, Counter())[check.verdict] += 1
            failed = failed or check.verdict == "fail"
            codes.update(finding.code for finding in check.findings)
        self.n_failed += failed
        self.samples_by_code.update(codes.keys())
        self.findings_by_code.update(codes)
        for table, keys in ((self.by_hop, [f"hop{sample.hops}"]), (self.by_tool, [call.name for call in sample.calls])):
            for key in dict.fromkeys(keys):
                row = table.setdefault(key, [0, 0])
                row[0] += 1
                row[1] += failed

    def add_late(self, findings: Iterable[Finding], samples: int) -> None:
        """Count findings that only the whole set shows (duplicates, the graph), and how many samples each code touches."""
        codes = Counter(finding.code for finding in findings)
        self.findings_by_code.update(codes)
        self.samples_by_code.update(dict.fromkeys(codes, samples))

    def as_json(self) -> dict[str, Any]:
        """The counts as `summary.json` holds them; codes from the most frequent on, tools and hops by name."""
        order = sorted(self.findings_by_code, key=lambda code: (-self.samples_by_code[code], -self.findings_by_code[code], code))
        return {
            "n_samples": self.n_samples,
            "n_failed": self.n_failed,
            "failed_share": self.n_failed / self.n_samples if self.n_samples else None,
            "by_check": {name: {v: counts[v] for v in ("pass", "fail", "unknown")} for name, counts in self.by_check.items()},
            "by_code": {code: {"samples": self.samples_by_code[code], "findings": self.findings_by_code[code]} for code in order},
            "by_tool": {name: {"samples": s, "failed": f} for name, (s, f) in sorted(self.by_tool.items())},
            "by_hop": {name: {"samples": s, "failed": f} for name, (s, f) in sorted(self.by_hop.items())},
        }


def finding_rows(sample_id: str, check: Check) -> Iterator[dict[str, Any]]:
    """The rows of `findings.jsonl` for one verdict."""
    for finding in check.findings:
        yield {
            "sample_id": sample_id,
            "check": check.check,
            "verdict": check.verdict,
            **finding.model_dump(mode="json"),
            "judge": check.judge,
        }
