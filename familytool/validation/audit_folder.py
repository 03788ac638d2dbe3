"""The folder of an audit: one audit at a time writes into it, beside what is there, and puts it in place when it is whole.

Only what an audit has written is ever removed: its summary lists it (`written`). Other files of the folder stay, and a file of
somebody else's in the place of a new one is an error. A killed audit leaves `audit.part/`, which the next one clears; until the
very end the former audit is whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from familytool.errors import FamilytoolError, UsageError

SUMMARY = "summary.json"
PART = "audit.part"
_OWNED = "owned.json"
"""In audit.part: the files of the folder that are an audit's, former and new; it also says that the folder is ours."""

WRITTEN = (
    SUMMARY,
    "findings.jsonl",
    "rejected.jsonl",
    "report.html",
    "patches.jsonl",
    "left.jsonl",
    "rejected_rows.txt",
    "patched",
    "data_docs",
)
"""What an audit may write into its folder."""


@contextlib.contextmanager
def audit_folder(out: Path) -> Iterator[Path]:
    """Give the folder to write into; if all goes well, its files are then put in place, and what the former audit wrote is removed.

    The last file that is put in place is the summary, which gets `written`, the list of all of them.

    Raises:
        UsageError: `out` is no folder, another audit is writing into it, or it holds a file of another origin where one of ours belongs.
        FamilytoolError: a file of another origin is in the way of one that only turned up while writing; then the new audit stays in
            audit.part.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: a file of this name is there; choose another folder.")
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    with _locked(out):
        part = out / PART
        owned = _owned(out)
        _refuse_others(out, owned)
        if part.is_dir() and not (part / _OWNED).is_file() and any(part.iterdir()):
            raise UsageError(f"--out {out}: '{PART}' in it was not written by an audit; choose another folder.")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        _note_owned(part, owned)
        try:
            yield part
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            if is_new:
                with contextlib.suppress(OSError):
                    out.rmdir()
            raise
        _put_in_place(part, out, owned)


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    descriptor = os.open(out, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"--out {out}: another audit is writing into it; wait for it, or choose another folder.") from None
        yield
    finally:
        os.close(descriptor)


def _owned(out: Path) -> set[str]:
    """The files in the folder that an audit wrote: those of the last summary, and of an audit that was killed while it put its own in place."""
    found = _names_in(out / SUMMARY, "written") | _names_in(out / PART / _OWNED, "owned")
    return {name for name in found if _is_ours(name) and (out / name).is_file()}


def _names_in(path: Path, key: str) -> set[str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    names = content.get(key) if isinstance(content, dict) else None
    if names is None and isinstance(content, dict) and {"familytool", "n_samples", "by_code"} <= content.keys():
        names = [name for name in WRITTEN if not (path.parent / name).is_dir()]  # an audit of before, which kept no list
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _is_ours(name: str) -> bool:
    """Whether a name from a file is one that an audit can have written: in the folder, and not by way of `..`."""
    parts = PurePosixPath(name).parts
    return bool(parts) and parts[0] in WRITTEN and ".." not in parts and not PurePosixPath(name).is_absolute()


def _refuse_others(out: Path, owned: set[str]) -> None:
    """Raise UsageError for a file or link of another origin in a place where an audit is sure to write, or a file for a folder."""
    for name in WRITTEN:
        path = out / name
        is_folder = name in ("patched", "data_docs")
        in_the_way = path.is_symlink() or (path.exists() and (not path.is_dir() if is_folder else path.is_dir() or name not in owned))
        if in_the_way:
            raise UsageError(f"--out {out}: '{name}' in it was not written by an audit and would be lost; choose another folder.")


def _note_owned(part: Path, names: set[str]) -> None:
    (part / _OWNED).write_text(json.dumps({"owned": sorted(names)}), encoding="utf-8")


def _put_in_place(part: Path, out: Path, owned: set[str]) -> None:
    written = sorted(path.relative_to(part).as_posix() for path in part.rglob("*") if path.is_file() and path.name != _OWNED)
    foreign = next((name for name in written if name not in owned and (os.path.lexists(out / name) or _is_blocked(out, name))), None)
    if foreign is not None:
        raise FamilytoolError(
            f"--out {out}: '{foreign}' in it was not written by an audit and is kept; the audit is in {part}, move one of them."
        )
    summary = json.loads((part / SUMMARY).read_text(encoding="utf-8"))
    (part / SUMMARY).write_text(json.dumps({**summary, "written": written}, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    _note_owned(part, owned | set(written))
    for name in sorted(owned - set(written), reverse=True):
        (out / name).unlink(missing_ok=True)
        for folder in (out / name).parents:
            if folder == out or any(folder.iterdir()):
                break
            folder.rmdir()
    for name in (*(name for name in written if name != SUMMARY), SUMMARY):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (part / name).replace(out / name)
    shutil.rmtree(part)


def _is_blocked(out: Path, name: str) -> bool:
    """Whether a folder on the way to a file is a file, or a link that leads elsewhere."""
    return any((out / parent).is_symlink() or (out / parent).is_file() for parent in PurePosixPath(name).parents if parent.parts)
