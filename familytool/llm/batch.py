"""Batches: requests as files of the OpenAI Batch format, which `vllm run-batch` takes as well, and their results into the ledger.

A folder holds `requests-0001-MODEL.jsonl`, ... (to submit, one file each: a line has custom_id = key, method, url, body; one model to
a file, as providers demand) and `asked.jsonl` (key, purpose and logical request of every line, which a body does not tell any more).
Results come as output and error files in any number and order: lines with custom_id, response {status_code, body} and error. OpenAI
reports a refused request as a response of status 400 with the error in its body, and one that was not run as an error
(`batch_expired`, `batch_cancelled`, `request_timeout`); vLLM writes status 400, no body and the error beside it. All of these stay
unfinished and can be asked again.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from familytool.errors import FamilytoolError, UsageError
from familytool.llm.batch_results import ASKED, UNREADABLE, Asked, Failed, Unknown, result_row
from familytool.llm.jsonl import Problem, Problems, read_objects
from familytool.llm.ledger import Ledger
from familytool.llm.prices import Prices
from familytool.llm.redact import redact
from familytool.llm.requests import Purpose, Request
from familytool.llm.rows import Row, json_text, plain
from familytool.model import Json, Record
from familytool.runs import cut_torn_line

URL = "/v1/chat/completions"
MAX_REQUESTS = 50_000
MAX_BYTES = 200_000_000
"""The limits of the OpenAI Batch API for one file (50,000 requests, 200 MB), as its reference stated in 2026."""

_PART = re.compile(r"requests-(\d{4,})-[^/]*\.jsonl")
GROUP_BYTES = 4 << 20


class Part(Record):
    """A file to submit."""

    path: Path
    model: str
    requests: int
    size: int


class BatchReport(Record):
    """What result files held, and what a folder still waits for.

    `answered`: new rows of the ledger. `known`: answers it had. `errors`: lines that tell of a failure or are unreadable, by kind.
    `failed`: keys of such lines that have no answer and can be asked again. `waiting`: keys that were asked and have neither.
    `unknown`: lines of requests that this folder did not write. `malformed`: lines that are no results. `problems` tells the first of
    the unreadable, unknown and malformed lines.
    """

    answered: int
    known: int
    errors: dict[str, int]
    failed: frozenset[str]
    waiting: frozenset[str]
    unknown: int
    malformed: int
    problems: tuple[Problem, ...]


def write_batch(
    asked: Iterable[tuple[Purpose, Request]],
    folder: Path,
    body_of: Callable[[Request], dict[str, Json]],
    *,
    skip: Container[str] = (),
    max_requests: int = MAX_REQUESTS,
    max_bytes: int = MAX_BYTES,
) -> list[Part]:
    """Write these requests into a folder's next files, each key once and none of `skip`; the files, in order of their numbers.

    `body_of` makes the body in the endpoint's dialect. A file appears when it is whole. Nothing to ask makes no file to submit.

    Raises:
        UsageError: one request alone is larger than a file may be.
        FamilytoolError: the folder cannot be written.
    """
    written: set[bytes] = set()
    parts: list[tuple[Part, Path]] = []
    open_files: dict[str, _OpenPart] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = max((int(found[1]) for file in folder.iterdir() if (found := _PART.fullmatch(file.name))), default=0)
        cut_torn_line(folder / ASKED)
        with (folder / ASKED).open("ab") as names:
            for purpose, request in asked:
                key = request.key
                if key in skip or bytes.fromhex(key) in written:
                    continue
                written.add(bytes.fromhex(key))
                line = _bytes({"custom_id": key, "method": "POST", "url": URL, "body": body_of(request)})
                if len(line) > max_bytes:
                    raise UsageError(
                        f"A {purpose} request for {plain(request.model)} has {len(line):,} bytes, and a batch file at most {max_bytes:,}; run it without --batch."
                    )
                part = open_files.get(request.model)
                if part is None or part.requests == max_requests or part.size + len(line) > max_bytes:
                    if part is not None:
                        parts.append(part.closed())
                    number += 1
                    part = open_files[request.model] = _OpenPart(
                        folder / f"requests-{number:04d}-{_slug(request.model)}.jsonl", request.model
                    )
                part.write(line)
                names.write(_bytes({"key": key, "purpose": purpose, "request": request.model_dump()}))
            parts += [part.closed() for part in open_files.values()]
            open_files.clear()
            names.flush()
            os.fsync(names.fileno())
        for made, unfinished in parts:  # only now: what is submitted can be read back
            unfinished.replace(made.path)
    except OSError as error:
        raise FamilytoolError(
            f"{folder}: the batch cannot be written ({error.strerror or error}); make room or give another folder."
        ) from None
    finally:
        for part in open_files.values():
            part.file.close()
    return sorted((made for made, _ in parts), key=lambda made: made.path.name)


class _OpenPart:
    """A file that is being written, under a name that nobody submits."""

    def __init__(self, path: Path, model: str) -> None:
        self.path = path
        self.unfinished = path.with_name(path.name + ".part")
        self.model = model
        self.requests = self.size = 0
        self.file: BinaryIO = self.unfinished.open("wb")

    def write(self, line: bytes) -> None:
        self.file.write(line)
        self.requests += 1
        self.size += len(line)

    def closed(self) -> tuple[Part, Path]:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        return Part(path=self.path, model=plain(self.model), requests=self.requests, size=self.size), self.unfinished


def read_batch(
    paths: Iterable[Path],
    ledger: Ledger,
    folder: Path,
    *,
    prices: Prices | None = None,
    endpoint: str = "batch",
) -> BatchReport:
    """Take the results of a folder's batches into the ledger: output and error files, or folders of them, in parts and any order.

    Twice the same file changes nothing; the first answer to a key stays. Prices are those of the batch interface.

    Raises:
        FamilytoolError: a file cannot be read, the folder holds no batch, or the ledger cannot be written.
    """
    asked = Asked(folder)
    problems, errors = Problems(), Counter[str]()
    counts = dict.fromkeys(("answered", "known", "unknown", "malformed"), 0)
    failed: set[str] = set()
    group: list[Row] = []

    def commit() -> None:
        new = sum(ledger.store(group)) if group else 0
        counts["answered"] += new
        counts["known"] += len(group) - new
        group.clear()

    with asked:
        size = 0
        for path in _result_files(paths):
            for number, value in read_objects(path):
                try:
                    row = result_row(value, asked, ledger, prices, endpoint)
                except Failed as failure:
                    errors[failure.kind] += 1
                    failed.add(failure.key)
                    if failure.kind == UNREADABLE:
                        problems.add(path, number, redact(str(failure), ledger.secrets))
                except Unknown as error:
                    counts["unknown"] += 1
                    problems.add(path, number, str(error))
                except ValueError as error:
                    counts["malformed"] += 1
                    problems.add(path, number, str(error))
                else:
                    if row is None:
                        counts["known"] += 1
                        continue
                    group.append(row)
                    size += len(row.request) + len(row.response)
                    if size >= GROUP_BYTES:
                        commit()
                        size = 0
        commit()
        unanswered = {key for key in asked.places if key not in ledger}
    return BatchReport(
        **counts,
        errors=dict(sorted(errors.items())),
        failed=frozenset(unanswered & failed),
        waiting=frozenset(unanswered - failed),
        problems=tuple(problems.first),
    )


def _result_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        yield from sorted(file for file in path.glob("*.jsonl") if file.name != ASKED and not _PART.fullmatch(file.name))


def _bytes(value: Json) -> bytes:
    return (json_text(value) + "\n").encode("utf-8")


def _slug(model: str) -> str:
    """A model's name for a file's name."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", model)[:60].strip(".-") or "model"
