"""Values that no file of any format should hold, for the tests that reading them never ends in a traceback."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hypothesis import strategies as st

from familytool.formats.openai import DocumentError
from familytool.model import Tool

Reader = Callable[[Iterable[tuple[str, Any]], list[str]], Iterator[Tool]]


def junk(*keys: str) -> st.SearchStrategy[Any]:
    """JSON values whose objects have these keys."""
    atoms = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["int", "List[str", "dict", "", "[{", *keys])
    return st.recursive(
        atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=5), max_leaves=16
    )


def survives(read: Reader, value: Any) -> bool:
    """Whether reading a value as a record and as a row of a list ends in tools, rejections or a DocumentError."""
    for records in ([("x:1", value)], [("x", [value, value])]):
        rejected: list[str] = []
        try:
            tools = list(read(records, rejected))
        except DocumentError as error:
            assert str(error)
        else:
            assert all(tool.name for tool in tools)
        assert all("x" in sentence for sentence in rejected)
    return True
