"""A run folder: one process at a time, every row appended as it is finished, nothing finished lost.

A row is committed by the newline that ends it. A torn last line (kill, full disk) is cut before the next append; whole files
are written beside their place and renamed. Counts are read from the files and stored nowhere else.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import marshal
import os
import shutil
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from familytool.errors import FamilytoolError
from familytool.graph import KnowledgeGraph
from familytool.model import Json, Record, Sample, Tool, Triple

MANIFEST = "manifest.json"
LEDGER = "ledger.sqlite"
SUPERSEDED = "superseded"
"""A folder of a run: what edits of its campaign have made stale, each edit's files in a folder of its number."""
_NOT_ROWS = ("lock", MANIFEST, LEDGER, SUPERSEDED + "/")
CHUNK = 1 << 20


class RunFolder:
    """The folder of one run of one campaign. Use it as a context manager: it is locked while open.

    Raises:
        FamilytoolError: another process holds it, it belongs to another campaign, or it cannot be written.
    """

    def __init__(self, path: Path, identity: dict[str, Json] | None = None) -> None:
        self.path = path
        self.identity = identity
        self.edited_from: dict[str, Any] | None = None
        """The identity of the run that this one takes the place of: the same campaign before it was edited."""
        self._lock: int | None = None

    def __enter__(self) -> RunFolder:
        self._refuse_foreign()
        with _writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._take_lock()
        try:
            if self.identity is not None:
                self._claim(self.identity)
        except BaseException:
            self._release_lock()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._release_lock()

    def _take_lock(self) -> None:
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(handle, 200).decode("utf-8", "replace").strip() or "another process"
            os.close(handle)
            raise FamilytoolError(f"{self.path}: in use by {holder}; wait until it has ended, or give another --run-dir.") from None
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        self._lock = handle

    def _release_lock(self) -> None:
        if self._lock is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def _refuse_foreign(self) -> None:
        """Leave alone a folder that is no run folder and holds something."""
        if not self.path.is_dir() or (self.path / MANIFEST).exists():
            return
        foreign = sorted(
            p.name for p in self.path.iterdir() if p.name != "lock" and not p.name.startswith(LEDGER) and not p.name.endswith(".part")
        )
        if foreign:
            raise FamilytoolError(f"{self.path}: not a run folder (it holds {', '.join(foreign[:3])}); give a new or empty --run-dir.")

    def holder(self) -> str:
        """Who holds this folder now, or ""."""
        path = self.path / "lock"
        if not path.exists():
            return ""
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return file.read(200).decode("utf-8", "replace").strip() or "another process"
        return ""

    def _claim(self, identity: dict[str, Json]) -> None:
        """Make the folder this run's, or find that it is another's."""
        manifest = self.manifest()
        if not manifest:
            self.write_json(MANIFEST, {"identity": identity, "stages": {}})
            return
        known = manifest.get("identity", {})
        if known == identity:
            return
        differences = differences_of(known, identity)
        if _name_of(known) is not None and _name_of(known) == _name_of(identity):
            self.edited_from = known
            return
        raise FamilytoolError(
            f"{self.path}: this folder holds a run of something else ({'; '.join(differences)}); give another --run-dir, or remove the folder to start afresh."
        )

    def supersede(self, names: Iterable[str], stages: Iterable[str]) -> Path | None:
        """Take this run's identity: set what an edit made stale aside in a folder of its own; that folder, if anything was there."""
        manifest = self.manifest()
        stale = [name for name in names if (self.path / name).exists()]
        number = 1 + max((int(p.name) for p in (self.path / SUPERSEDED).glob("[0-9]*") if p.name.isdigit()), default=0)
        aside = self.path / SUPERSEDED / f"{number:04d}"
        with _writing(aside):
            for name in stale:
                (aside / name).parent.mkdir(parents=True, exist_ok=True)
                (self.path / name).replace(aside / name)
            if stale:
                shutil.copyfile(self.path / MANIFEST, aside / MANIFEST)
        kept = {stage: facts for stage, facts in manifest.get("stages", {}).items() if stage not in set(stages)}
        files = {name: facts for name, facts in manifest.get("files", {}).items() if name.split("/")[0] not in set(stale)}
        self.write_json(MANIFEST, {**manifest, "identity": self.identity, "stages": kept, "files": files})
        self.edited_from = None
        return aside if stale else None

    def manifest(self) -> dict[str, Any]:
        """The manifest, or {} where there is none yet."""
        file = self.path / MANIFEST
        if not file.exists():
            return {}
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FamilytoolError(f"{file}: the manifest cannot be read ({error}); remove the folder, or restore the file.") from None
        if not isinstance(content, dict):
            raise FamilytoolError(f"{file}: not a manifest; give another --run-dir.")
        return content

    def check_unchanged(self, names: Iterable[str]) -> None:
        """Raise FamilytoolError if one of these finished files is not what the manifest says it was when it was finished."""
        recorded = self.manifest().get("files", {})
        for name in names:
            path = self.path / name
            if name not in recorded:
                continue
            if not path.is_file():
                raise FamilytoolError(f"{path}: this finished file is missing; restore it, or remove the folder and run again.")
            if file_hash(path) != recorded[name]:
                raise FamilytoolError(
                    f"{path}: changed since it was finished (its hash is not the manifest's); restore it, or remove the folder and run again."
                )

    def finish_stage(self, stage: str, facts: dict[str, Json]) -> None:
        """Record that a stage is complete, with facts about it and the hashes of all files."""
        manifest = self.manifest()
        manifest.setdefault("stages", {})[stage] = facts
        manifest["files"] = {name: file_hash(self.path / name) for name in self.files()}
        self.write_json(MANIFEST, manifest)

    def files(self) -> list[str]:
        """The run's own files, by name, without lock, manifest and unfinished ones."""
        found = (str(p.relative_to(self.path)) for p in self.path.rglob("*") if p.is_file())
        return sorted(name for name in found if not name.startswith(_NOT_ROWS) and ".part" not in name)

    def write_json(self, name: str, value: Json) -> None:
        """Write a whole JSON file, or leave the old one."""
        self.write_text(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a whole file, or leave the old one."""
        self.write_chunks(name, [text])

    def write_chunks(self, name: str, chunks: Iterable[str]) -> None:
        """Write a whole file piece by piece beside its place, then rename it."""
        target = self.path / name
        part = target.with_name(target.name + ".part")
        with _writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(chunks)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)

    def write_records(self, name: str, rows: Iterable[Record | dict[str, Any]]) -> None:
        """Write a whole JSONL file."""
        self.write_chunks(name, (line(row) for row in rows))

    def appender(self, name: str) -> Appender:
        """A JSONL file to append to; a torn last line is cut first."""
        return Appender(self.path / name)

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The finished rows of a JSONL file; none where there is no file."""
        return read_rows(self.path / name)


def differences_of(known: dict[str, Json], identity: dict[str, Json]) -> list[str]:
    """What differs between two identities, each in a few words."""
    return [_difference(known.get(k), identity.get(k), k) for k in sorted({*known, *identity}) if known.get(k) != identity.get(k)]


def _name_of(identity: dict[str, Any]) -> Json:
    campaign = identity.get("campaign")
    return campaign.get("name") if isinstance(campaign, dict) else None


def _difference(old: Json, new: Json, key: str) -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        parts = [_difference(old.get(k), new.get(k), f"{key}.{k}") for k in sorted({*old, *new}) if old.get(k) != new.get(k)]
        return "; ".join(parts[:6])
    return f"{key} was {_short(old)}, is {_short(new)}"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


class Appender:
    """Rows at the end of a JSONL file, each in one write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _writing(path):
            cut_torn_line(path)
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, rows: Iterable[Record | dict[str, Any]]) -> None:
        """Append these rows."""
        data = "".join(line(row) for row in rows).encode("utf-8")
        with _writing(self.path):
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]

    def close(self) -> None:
        """Make the rows durable and close the file."""
        with _writing(self.path):
            os.fsync(self._handle)
        os.close(self._handle)

    def __enter__(self) -> Appender:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FamilytoolError(
            f"{path}: cannot be written ({error.strerror or error}); make room or choose another --run-dir, then run again: what is finished is kept."
        ) from None


def line(row: Record | dict[str, Any]) -> str:
    """A row as one line of JSON in the author's key order."""
    value = sample_object(row) if isinstance(row, Sample) else row.model_dump(mode="json") if isinstance(row, Record) else row
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": ")) + "\n"


def tool_object(tool: Tool) -> dict[str, Json]:
    """A candidate tool as samples and releases hold it: name, description, parameters."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def sample_object(sample: Sample) -> dict[str, Json]:
    """A sample as `samples.jsonl` holds it."""
    value = sample.model_dump(mode="json", exclude={"candidate_tools"})
    return {
        key: [tool_object(t) for t in sample.candidate_tools] if key == "candidate_tools" else value[key] for key in Sample.model_fields
    }


def cut_torn_line(path: Path) -> int:
    """Cut what stands behind the last newline of a file; the number of bytes that were cut."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - CHUNK)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end < size:
            file.truncate(end)
        return size - end


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file; a torn last line is not yet a row.

    Raises:
        FamilytoolError: a finished line that is not a JSON object, with its number.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.endswith(b"\n"):
                return
            try:
                value = json.loads(raw)
            except (ValueError, RecursionError) as error:
                raise FamilytoolError(
                    f"{path}:{number}: not a JSON row ({error}); restore the file, or remove the folder and run again."
                ) from None
            if not isinstance(value, dict):
                raise FamilytoolError(f"{path}:{number}: not a JSON object; restore the file, or remove the folder and run again.")
            yield value


_interned: dict[bytes, Tool] = {}


def read_samples(path: Path) -> Iterator[Sample]:
    """The samples of a JSONL file, one after the other; equal tool documents are one object."""
    for number, row in enumerate(read_rows(path), 1):
        try:
            yield sample_of(row)
        except (ValueError, TypeError, KeyError) as error:
            raise FamilytoolError(
                f"{path}:{number}: not a sample ({str(error).splitlines()[0]}); restore the file, or remove the folder and run again."
            ) from None


def sample_of(row: dict[str, Any]) -> Sample:
    """The sample of a row; equal tool documents are one object (ValueError, TypeError or KeyError: the row is none)."""
    return Sample.model_validate({**row, "candidate_tools": tuple(map(_intern, row["candidate_tools"]))})


def _intern(value: dict[str, Any]) -> Tool:
    key = marshal.dumps(value, 2)  # as strict as JSON on types and the order of keys, in a third of its time; never loaded
    tool = _interned.get(key)
    if tool is None:
        if len(_interned) > 4096:
            _interned.clear()
        tool = _interned[key] = Tool.model_validate(value)
    return tool


def read_graphs(path: Path) -> dict[str, KnowledgeGraph]:
    """The graphs of a run's graph.jsonl, by id."""
    graphs: dict[str, KnowledgeGraph] = {}
    for row in read_rows(path):
        graphs.setdefault(row["graph_id"], KnowledgeGraph(graph_id=row["graph_id"])).add(
            Triple(head=row["head"], relation=row["relation"], tail=row["tail"])
        )
    return graphs


def funnel(run: RunFolder) -> dict[str, dict[str, Any]]:
    """For each stratum: candidates, accepted, and the rejected by check and code; it always adds up."""
    table: dict[str, dict[str, Any]] = {}
    for row in run.rows("samples.jsonl"):
        entry = table.setdefault(row["provenance"]["stratum"], {"candidates": 0, "accepted": 0, "rejected": {}})
        entry["candidates"] += 1
        entry["accepted"] += 1
    for row in run.rows("rejected.jsonl"):
        entry = table.setdefault(row["stratum"], {"candidates": 0, "accepted": 0, "rejected": {}})
        entry["candidates"] += 1
        reason = f"{row['check']}: {row['code']}"
        entry["rejected"][reason] = entry["rejected"].get(reason, 0) + 1
    return table


def file_hash(path: Path) -> dict[str, Json]:
    """SHA-256, size and (for JSONL) number of rows of a file."""
    hasher, size, rows = hashlib.sha256(), 0, 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            hasher.update(chunk)
            size += len(chunk)
            rows += chunk.count(b"\n")
    facts: dict[str, Json] = {"sha256": hasher.hexdigest(), "bytes": size}
    return {**facts, "rows": rows} if path.suffix == ".jsonl" else facts


def replace_folder(part: Path, target: Path) -> None:
    """Put a finished folder in its place; an old one of that name goes away only then."""
    with _writing(target):
        old = target.with_name(target.name + ".old.part")
        _remove(old)
        if target.exists():
            target.replace(old)
        part.replace(target)
        _remove(old)


def _remove(path: Path) -> None:
    """Remove a folder or a file that may not be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
