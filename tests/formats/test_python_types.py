from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.formats.python_types import schema_of, text_of_type

INT, FLOAT, STR, NULL = ({"type": name} for name in ("integer", "number", "string", "null"))

TEXTS = {
    "str": (STR, False),
    "str, optional": (STR, True),
    "int, default 5": (INT, True),
    "float, required": (FLOAT, False),
    "List[int]": ({"type": "array", "items": INT}, False),
    "List[List[str]]": ({"type": "array", "items": {"type": "array", "items": STR}}, False),
    "list(str)": ({"type": "array", "items": STR}, False),
    "List": ({"type": "array"}, False),
    "List[Any]": ({"type": "array"}, False),
    "Set[int], optional": ({"type": "array", "items": INT}, True),
    "Tuple[float, str]": ({"type": "array", "prefixItems": [FLOAT, STR]}, False),
    "Tuple[int, ...]": ({"type": "array", "items": INT}, False),
    "Union[int, float]": ({"type": ["integer", "number"]}, False),
    "int | None": ({"type": ["integer", "null"]}, False),
    "Union[str, List[int]]": ({"anyOf": [STR, {"type": "array", "items": INT}]}, False),
    "Union[int, int]": (INT, False),
    "Union[int, Any]": ({}, False),
    "Optional[int]": ({"type": ["integer", "null"]}, True),
    "typing.Dict[str, float]": ({"type": "object", "additionalProperties": FLOAT}, False),
    "Dict": ({"type": "object"}, False),
    "datetime.date": ({"type": "string", "format": "date"}, False),
    "None": (NULL, False),
    "Any": ({}, False),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items(), ids=TEXTS.keys())
def test_a_type_of_python_is_read_as_the_schema_it_means(text: str, expected: Any) -> None:
    assert schema_of(text) == expected


WRONG = ["", "[", "List[int", "List]int[", "List[int)", "Callable[[float], float]", "np.ndarray", "int, str", "Dict[int]", "List[int, str]",
         "Union[]", "int[str]", "__import__('os')", "List[" * 40 + "int" + "]" * 40, "x" * 500]  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20] or "empty")
def test_a_text_that_is_no_type_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"type|brackets|nested|does not take"):
        schema_of(text)


@pytest.mark.parametrize("schema", [{"enum": [1]}, {"$ref": "#"}, {"type": "odd"}, True, None, {"anyOf": []}, {"type": []}], ids=str)
def test_a_schema_without_a_python_name_is_any(schema: Any) -> None:
    assert text_of_type(schema) == "Any"


TYPES = st.recursive(
    st.sampled_from(["int", "float", "str", "bool", "list", "dict", "None", "Any", "date"]),
    lambda inner: (
        inner.map("List[{}]".format)
        | inner.map("Dict[str, {}]".format)
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"Tuple[{', '.join(parts)}]")
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"Union[{', '.join(parts)}]")
    ),
    max_leaves=5,
)


@settings(max_examples=100)
@given(TYPES)
def test_the_text_of_a_schema_is_read_as_that_schema(text: str) -> None:
    schema, _ = schema_of(text)
    assert schema_of(text_of_type(schema))[0] == schema


@settings(max_examples=100)
@given(st.text("[](),.|intListUo ", max_size=30))
def test_any_text_is_a_type_or_an_error(text: str) -> None:
    try:
        schema_of(text)
    except ValueError as error:
        assert str(error)
