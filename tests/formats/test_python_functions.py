import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from familytool.formats import python_functions
from familytool.formats.openai import DocumentError
from familytool.model import Tool

HEAD = """
from enum import Enum, auto
class Unit(Enum):
    "A unit."
    METRIC = "m"
    OLD = "o"
class Odd(Enum):
    A = auto()
@dataclass
class Node:
    name: str
    next: "Node | None" = None
    tags: list[str] = field(default_factory=list)
class Options(TypedDict, total=False):
    a: Required[int]
    b: str
Name = Union[str, int]
"""


def tools(text: str, rejected: list[str] | None = None) -> list[Tool]:
    found = list(python_functions.read_tools([("f.py", text)], rejected if rejected is not None else []))
    for tool in found:
        Draft202012Validator.check_schema(tool.parameters)
    return found


def parameter(annotation: str, default: str = "") -> Any:
    [tool] = tools(HEAD + f"def f(p: {annotation}{default}): ...")
    return tool.parameters["properties"]["p"]


ANNOTATIONS = {
    "str": {"type": "string"},
    "float": {"type": "number"},
    "list[int]": {"type": "array", "items": {"type": "integer"}},
    "typing.List['str']": {"type": "array", "items": {"type": "string"}},
    "dict[str, bool]": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "dict": {"type": "object"},
    "Optional[int]": {"type": ["integer", "null"]},
    "int | str | None": {"type": ["integer", "string", "null"]},
    "Union[list[int], str]": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]},
    "Union[str, NotGiven]": {"type": "string"},
    "Literal['a', 'b']": {"type": "string", "enum": ["a", "b"]},
    "Literal[1, True, 1]": {"enum": [1, True]},
    "tuple[int, ...]": {"type": "array", "items": {"type": "integer"}},
    "tuple[int, str]": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
    "set[str]": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "Annotated[int, 'How many.']": {"type": "integer", "description": "How many."},
    "datetime.date": {"type": "string", "format": "date"},
    "Name": {"type": ["string", "integer"]},
    "Unit": {"$ref": "#/$defs/Unit"},
    "Any": {},
    "Unheard": {},
    "open('x').read()": {},
}


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_annotations_become_schemas(annotation: str) -> None:
    assert parameter(annotation) == ANNOTATIONS[annotation]


def test_classes_of_the_file_stand_in_defs_and_may_be_circular() -> None:
    [tool] = tools(HEAD + "def f(u: Unit, n: Node, o: Options, x: Odd): ...")
    assert tool.parameters["$defs"] == {
        "Unit": {"type": "string", "enum": ["m", "o"], "description": "A unit."},
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": None},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "additionalProperties": False,
            "required": ["name"],
        },
        "Options": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "additionalProperties": False,
            "required": ["a"],
        },
        "Odd": {"type": "string", "enum": ["A"]},
    }


def test_members_of_base_classes_of_the_file_belong_to_an_object() -> None:
    [tool] = tools("class A(TypedDict):\n    a: int\nclass B(A, total=False):\n    b: str\nclass C(C): ...\ndef f(b: B, c: C): ...")
    assert list(tool.parameters["$defs"]["B"]["properties"]) == ["a", "b"]
    assert tool.parameters["$defs"]["B"]["required"] == ["a"]


DEFAULTS = {
    "= 3": 3,
    "= -1.5": -1.5,
    "= None": None,
    "= (1, 2)": [1, 2],
    "= Unit.OLD": "o",
    "= Unit.METRIC.value": "m",
    "= {'a': [1]}": {"a": [1]},
}


@pytest.mark.parametrize("default", DEFAULTS)
def test_defaults_are_literals_or_members_of_enums(default: str) -> None:
    assert parameter("Any", default)["default"] == DEFAULTS[default]


@pytest.mark.parametrize("default", ["= f()", "= 1e999", "= b'x'", "= {1: 2}", "= X.Y", "= [1].pop()"])
def test_a_default_that_is_no_literal_is_left_out_with_a_note_and_nothing_runs(default: str) -> None:
    [tool] = tools(f"def f(p{default}): ...")
    assert tool.parameters["properties"] == {"p": {}}
    assert "required" not in tool.parameters
    assert any("no literal" in note for note in tool.notes)


GOOGLE = """Look.

    More.

    Args:
        city (str): Where:
            really.
        n: How many.

    Returns:
        The sight."""
NUMPY = """Look.

    More.

    Parameters
    ----------
    city : str
        Where:
        really.
    n : int, optional
        How many.

    Returns
    -------
    The sight."""
REST = """Look.

    More.

    :param str city: Where:
        really.
    :param n: How many.
    :type n: int
    :returns: The sight."""


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, REST], ids=["Google", "NumPy", "reST"])
def test_docstrings_describe_function_parameters_and_result(docstring: str) -> None:
    [tool] = tools(f'async def look(city, n: int = 1):\n    """{docstring}\n    """\n')
    assert (tool.name, tool.description) == ("look", "Look.\n\nMore.")
    assert tool.parameters["properties"] == {
        "city": {"type": "string", "description": "Where: really."},
        "n": {"type": "integer", "description": "How many.", "default": 1},
    }
    assert tool.parameters["required"] == ["city"]
    assert tool.response == {"description": "The sight."}


DOCUMENTED = {"list of int": {"type": "array", "items": {"type": "integer"}}, "{'a', 'b'}, optional": {"type": "string", "enum": ["a", "b"]},
              "int or None": {"type": ["integer", "null"]}, "a kind of thing": {}}  # fmt: skip


@pytest.mark.parametrize("kind", DOCUMENTED)
def test_a_docstring_gives_types_where_no_annotation_does(kind: str) -> None:
    [tool] = tools(f'def f(p):\n    """F.\n\n    Parameters\n    ----------\n    p : {kind}\n    """')
    assert tool.parameters["properties"]["p"] == DOCUMENTED[kind]


def test_only_public_functions_at_the_top_are_tools() -> None:
    text = "@deco(1)\nasync def a(x, /, y, *, z): ...\ndef _b(): ...\nclass C:\n    def d(self): ...\n@overload\ndef e(): ...\nif x:\n    def g(): ...\n"
    [tool] = tools(text)
    assert tool.parameters["required"] == ["x", "y", "z"]
    assert tool.raw == "@deco(1)\nasync def a(x, /, y, *, z): ..."


def test_stars_are_noted_and_further_names_allowed() -> None:
    [tool] = tools("def f(a, *args, **more: int): ...")
    assert tool.parameters["additionalProperties"] == {"type": "integer"}
    assert list(tool.parameters["properties"]) == ["a"]
    assert len(tool.notes) == 2


def test_two_functions_of_one_name_are_both_kept() -> None:
    assert ["ambiguous" in t.notes[-1] for t in tools("def f(a): ...\ndef f(b): ...")] == [True, True]


def test_aliases_that_double_at_each_level_end_soon() -> None:
    text = "".join(f"A{n} = Union[{', '.join([f'list[A{n + 1}]'] * 20)}]\n" for n in range(12))
    [tool] = tools(text + "A = B\nB = A\ndef f(p: A0, q: A): ...")
    assert len(tool.notes) < 1_100


BROKEN = {
    "syntax": "def f(:",
    "zero": "def f(): ...\0",
    "deep": "def f(): ...\nx = " + "(" * 500,
    "signs": "def f(): ...\nx = " + "-" * 200_000 + "1",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_an_error_of_one_sentence(text: str) -> None:
    assert not python_functions.looks_like(text)
    with pytest.raises(DocumentError):
        tools(text)


def test_half_of_a_surrogate_pair_rejects_one_function() -> None:
    rejected: list[str] = []
    assert [t.name for t in tools('def f(a="\\ud800"): ...\ndef g(): ...', rejected)] == ["g"]
    assert len(rejected) == 1


@settings(max_examples=100)
@given(annotation=st.text(alphabet="abUnionit[], |'\"()1.*:", max_size=30), said=st.text(alphabet="ab:()\n -Args,*\\param", max_size=60))
def test_junk_never_ends_in_a_traceback(annotation: str, said: str) -> None:
    for text in (
        f"def f(p: {annotation}): ...",
        f"def f(ab):\n    {said!r}",
        said,
        f"def f(p: {annotation!r} = {said!r}): 'Args:\\n  p ({said[:9]!s}'",
    ):
        try:
            json.dumps([tool.model_dump() for tool in tools(text)])
        except DocumentError:
            assert not python_functions.looks_like(text)
