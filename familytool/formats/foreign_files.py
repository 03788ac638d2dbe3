"""Files of any origin as text: what is no regular file of UTF-8 text is refused with the way out, and no line fills the memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from familytool.errors import FamilytoolError, UsageError

MAX_LINE = 16_000_000
"""Bytes of one line; a longer one is passed over as a whole, and told."""
MAX_WHOLE = 256_000_000
"""Bytes of a file that is one value."""

_PACKED = {
    b"\x1f\x8b": "is compressed with gzip; decompress it first (gunzip)",
    b"PK\x03\x04": "is a ZIP archive; unpack it first (unzip)",
    b"BZh": "is compressed with bzip2; decompress it first (bunzip2)",
    b"\xfd7zXZ": "is compressed with xz; decompress it first (unxz)",
    b"\x28\xb5\x2f\xfd": "is compressed with Zstandard; decompress it first (unzstd)",
    b"PAR1": "is a Parquet file; write its rows as JSON lines first, or name the folder if it is a release of familytool",
    b"\x00\x00\xfe\xff": "is UTF-32 text and cannot be read as UTF-8; save it as UTF-8 (iconv -f UTF-32 -t UTF-8)",
    b"\xff\xfe\x00\x00": "is UTF-32 text and cannot be read as UTF-8; save it as UTF-8 (iconv -f UTF-32 -t UTF-8)",
    b"\xff\xfe": "is UTF-16 text and cannot be read as UTF-8; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16 text and cannot be read as UTF-8; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
}
"""How files begin that are no plain text, and what is to be done."""


@dataclass(frozen=True)
class Line:
    """A line of a file: its number from 1, its text without the line feed, or what is wrong with it (then the text is "")."""

    number: int
    text: str
    fault: str = ""


def require_text_file(path: Path) -> None:
    """Refuse what is no regular file of text, before it is opened as one: a pipe would wait without end.

    Raises:
        UsageError: there is no such file, or it is standard input ("-").
        FamilytoolError: a folder, a pipe or device, a file that may not be read, a compressed file, or UTF-16.
    """
    if str(path) == "-":
        raise UsageError("-: standard input is not read, since a source is read more than once; save it as a file and name that.")
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise FamilytoolError(f"{path}: this is a folder, and a file is wanted; name a file in it.")
        if not stat.S_ISREG(mode):
            raise FamilytoolError(
                f"{path}: this is a pipe or a device, and a source is read more than once; save it as a file and name that."
            )
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file or folder.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise FamilytoolError(f"{path}: cannot be read ({reason or 'this is no path'}); mend this and run again.") from None
    for start, sentence in _PACKED.items():
        if head.startswith(start):
            raise FamilytoolError(f"{path}: {sentence}.")
    if b"\x00" in head[:4]:
        raise FamilytoolError(
            f"{path}: holds NUL bytes, so it is no UTF-8 text; if it is UTF-16, save it as UTF-8 (iconv -f UTF-16 -t UTF-8)."
        )


def read_text(path: Path, limit: int = MAX_WHOLE) -> str:
    """The text of a whole file; the line ends stay as they are.

    Raises:
        UsageError, FamilytoolError: as `require_text_file`, and of a file that is too large or no UTF-8.
    """
    require_text_file(path)
    try:
        if path.stat().st_size > limit:
            raise FamilytoolError(f"{path}: larger than {limit:,} bytes in one piece; split it, or write one record a line (JSONL).")
        content = path.read_bytes()
    except OSError as error:
        raise FamilytoolError(f"{path}: cannot be read ({error.strerror}); mend this and run again.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FamilytoolError(f"{path}: cannot be read as UTF-8 text: line {line} {_fault(content, error)}.") from None


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file as they are asked for; one that is too long or no UTF-8 is one `Line` with a fault.

    Raises:
        UsageError, FamilytoolError: as `require_text_file`.
    """
    require_text_file(path)
    try:
        with path.open("rb") as file:
            number = 0
            while content := file.readline(MAX_LINE):
                number += 1
                size = len(content)
                while not content.endswith(b"\n") and (more := file.readline(MAX_LINE)):
                    size, content = size + len(more), more
                if size > MAX_LINE:
                    yield Line(number, "", f"the line has {size:,} bytes (limit {MAX_LINE:,}); split the record")
                    continue
                yield _line(number, content)
    except OSError as error:
        raise FamilytoolError(f"{path}: cannot be read ({error.strerror}); mend this and run again.") from None


def _line(number: int, content: bytes) -> Line:
    try:
        return Line(number, content.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n"))
    except UnicodeDecodeError as error:
        return Line(number, "", f"cannot be read as UTF-8 text: it {_fault(content, error)}")


def _fault(content: bytes, error: UnicodeDecodeError) -> str:
    if error.reason == "unexpected end of data":
        return "ends in the middle of a character, so its rest is missing"
    byte = f"0x{content[error.start]:02X}"
    return f"holds the byte {byte}, which is no UTF-8; if the file is Latin-1, save it as UTF-8 (iconv -f LATIN1 -t UTF-8)"


MAX_FILES = 10_000
"""Files of a folder; more are not looked at, and that is an error."""


def folder_files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The regular files of a folder and its sub-folders that end so, sorted by path, those of the folder itself first.

    Hidden files and folders are passed over, and so are symbolic links that lead out of the folder, and sub-folders that familytool
    wrote (runs, audits).

    Raises:
        FamilytoolError: too many files.
    """
    inside, found = folder.resolve(), list[Path]()
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        folders[:] = [name for name in folders if not name.startswith(".") and not _is_own(here / name)]
        for path in (here / name for name in names if not name.startswith(".") and name.endswith(suffixes)):
            if path.is_file() and path.resolve().is_relative_to(inside):
                found.append(path)
        if len(found) > MAX_FILES:
            raise FamilytoolError(f"{folder}: more than {MAX_FILES:,} files; name a sub-folder.")
    return sorted(found, key=lambda path: (len(path.relative_to(folder).parts) > 1, path.as_posix()))


def _is_own(folder: Path) -> bool:
    if folder.name == "audit.part" and (folder / "owned.json").is_file():
        return True
    return (folder / "manifest.json").is_file() or ((folder / "summary.json").is_file() and (folder / "findings.jsonl").is_file())
