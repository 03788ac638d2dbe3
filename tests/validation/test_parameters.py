"""The schema part of the parameters check: references, holes, placeholders, alternatives, documents of one name."""

from typing import Any

import pytest

from familytool.formats.schema import normalise_parameters
from familytool.graph import KnowledgeGraph
from familytool.model import Check, Json, RelationPath, Sample, Tool, ToolCall, Triple
from familytool.validation.conformity import Conformity
from familytool.validation.parameters import check_parameters

GRAPH = KnowledgeGraph([Triple(head="Bob", relation="prefer_time", tail="dinner_time_0001")], "g")


def tool(name: str, properties: dict[str, Json] | None = None, required: tuple[str, ...] = (), response: Json = None) -> Tool:
    schema = normalise_parameters({"type": "object", "properties": properties or {}, "required": list(required)})[0]
    return Tool(name=name, parameters=schema, response=response or {})


def checked(tools: list[Tool], calls: list[tuple[str, dict[str, Json]]], graph: KnowledgeGraph = GRAPH, **fields: Any) -> Check:
    """The parameters check of these calls."""
    sample = Sample(
        id="t-1",
        benchmark="t",
        kind=fields.pop("kind", "multi_call" if len(calls) > 1 else "no_graph"),
        speaker="",
        query="Please do it.",
        graph_id="",
        candidate_tools=tuple(tools),
        calls=tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls),
        **fields,
    )
    return check_parameters(sample, graph)


def said(check: Check) -> list[str]:
    """Verdict, and code and place of each finding."""
    return [check.verdict, *(f"{finding.code} {finding.path}" for finding in check.findings)]


READ = tool("get_current_temperature", response={"temperature": {"type": "integer"}})
SET = tool("adjust", {"temperature": {"type": "integer"}}, ("temperature",))
READING = ("get_current_temperature", {})
AS_TEXT = "get_current_temperature.temperature"
PLACE = "/calls/1/arguments/temperature"


def setting(value: Json) -> tuple[str, dict[str, Json]]:
    return "adjust", {"temperature": value}


REFERENCES: dict[str, tuple[list[Tool], list[tuple[str, dict[str, Json]]], list[str]]] = {
    "val-009 after its call": ([READ, SET], [READING, setting(AS_TEXT)], ["pass"]),
    "val-009 before its call": ([READ, SET], [setting(AS_TEXT), READING], ["fail", "broken_reference /calls/0/arguments/temperature"]),
    "val-009 without a call": ([READ, SET], [setting(AS_TEXT)], ["fail", "broken_reference /calls/0/arguments/temperature"]),
    "val-009 a result nobody declares": ([READ, SET], [READING, setting("get_current_temperature.humidity")], ["fail", f"broken_reference {PLACE}"]),
    "val-009 in its own call": (
        [tool("f", {"x": {}}, response={"r": {}})], [("f", {"x": "f.r"})], ["fail", "broken_reference /calls/0/arguments/x"]),
    "of a tool that nobody offers": ([READ, SET], [READING, setting("get_temperature.temperature")], ["fail", f"type_mismatch {PLACE}"]),
    "of a tool that is called and not offered": ([SET], [READING, setting("get_current_temperature.x")], ["unknown"]),
    "of a tool without declared results": ([tool("read"), SET], [("read", {}), setting("read.anything")], ["pass"]),
    "of a response that is a schema": (
        [tool("read", response={"type": "object", "properties": {"t": {}}}), SET], [("read", {}), setting("read.t")], ["pass"]),
    "of a response that is a schema without it": (
        [tool("read", response={"type": "object", "properties": {"t": {}}}), SET], [("read", {}), setting("read.u")], ["fail", f"broken_reference {PLACE}"]),
    "of a response without properties": ([tool("read", response={"type": "object"}), SET], [("read", {}), setting("read.u")], ["pass"]),
    "of a response in parts": ([tool("read", response={"anyOf": [{}]}), SET], [("read", {}), setting("read.u")], ["pass"]),
    "a result named type": ([tool("read", response={"type": {"type": "string"}}), SET], [("read", {}), setting("read.type")], ["pass"]),
    "a result named properties": ([tool("read", response={"properties": {"type": "integer"}}), SET], [("read", {}), setting("read.properties")], ["pass"]),
    "into an item": (
        [tool("read", response={"rows": {"type": "array", "items": {"properties": {"t": {}}}}}), SET], [("read", {}), setting("read.rows[0].t")], ["pass"]),
    "into an item without it": (
        [tool("read", response={"rows": {"type": "array", "items": {"properties": {"t": {}}}}}), SET],
        [("read", {}), setting("read.rows[0].u")], ["fail", f"broken_reference {PLACE}"]),
    "into something that is not described": ([tool("read", response={"row": {"type": "object"}}), SET], [("read", {}), setting("read.row.u")], ["pass"]),
    "to a result inside a result": (
        [tool("read", response={"row": {"type": "object", "properties": {"t": {}}}}), SET], [("read", {}), setting("read.t")], ["pass"]),
    "a name with dots": (
        [tool("Buses.Find", response={"id": {}}), tool("Buses"), SET], [("Buses.Find", {}), setting("Buses.Find.id")], ["pass"]),
    "in a list": ([READ, tool("f", {"l": {"type": "array", "items": {"type": "integer"}}})], [READING, ("f", {"l": [1, AS_TEXT]})], ["pass"]),
    "under an enum": ([READ, tool("f", {"x": {"enum": ["a"]}})], [READING, ("f", {"x": AS_TEXT})], ["pass"]),
    "under a pattern": ([READ, tool("f", {"x": {"pattern": "^[0-9]$"}})], [READING, ("f", {"x": AS_TEXT})], ["pass"]),
    "under a format": ([READ, tool("f", {"x": {"format": "date"}})], [READING, ("f", {"x": AS_TEXT})], ["pass"]),
    "under alternatives": ([READ, tool("f", {"x": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}})], [READING, ("f", {"x": AS_TEXT})], ["pass"]),
    "under a prohibition": ([READ, tool("f", {"x": {"not": {"type": "string"}}})], [READING, ("f", {"x": AS_TEXT})], ["pass"]),
    "as a text": ([READ, tool("f", {"x": {"type": "string"}})], [READING, ("f", {"x": AS_TEXT})], ["pass"]),
    "as a text, without a call": ([READ, tool("f", {"x": {"type": "string"}})], [("f", {"x": AS_TEXT})], ["fail", "broken_reference /calls/0/arguments/x"]),
    "as an argument that nobody declares": ([READ, tool("f")], [READING, ("f", {"x": AS_TEXT})], ["fail", "unknown_parameter /calls/1/arguments/x"]),
    "val-009 a title": ([READ, tool("f", {"x": {"type": "string"}}), tool("Dr")], [("f", {"x": "Dr. Smith"})], ["pass"]),
    "val-009 an abbreviation": ([READ, tool("f", {"x": {"type": "string"}})], [("f", {"x": "e.g.something"})], ["pass"]),
    "val-009 a sentence": ([READ, tool("f", {"x": {"type": "string"}})], [("f", {"x": "Use get_current_temperature.temperature, please."})], ["pass"]),
    "another case": ([READ, SET], [READING, setting("Get_Current_Temperature.temperature")], ["fail", f"type_mismatch {PLACE}"]),
    "the name alone": ([READ, tool("f", {"x": {"type": "string"}})], [("f", {"x": "get_current_temperature"})], ["pass"]),
    "the whole name of another tool": ([tool("math"), tool("math.add"), tool("f", {"x": {"type": "string"}})], [("f", {"x": "math.add"})], ["pass"]),
    "a file": ([tool("sort"), tool("f", {"x": {"type": "string"}})], [("f", {"x": "sort.txt"})], ["pass"]),
    "a host": ([tool("example"), tool("f", {"x": {"type": "string"}})], [("f", {"x": "example.com"})], ["pass"]),
    "a result named like a file": ([tool("make", response={"pdf": {}}), tool("f", {"x": {"type": "string"}})], [("f", {"x": "make.pdf"})], ["fail", "broken_reference /calls/0/arguments/x"]),
    "twice called": ([READ, SET], [READING, setting(AS_TEXT), READING], ["pass"]),
    "two documents of one name, one of which declares it": (
        [tool("read", response={"a": {}}), tool("read", {"x": {}}, response={"b": {}}), SET], [("read", {}), setting("read.b")], ["pass"]),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "calls", "expected"), REFERENCES.values(), ids=REFERENCES.keys())
def test_a_reference_is_legal_where_an_earlier_call_gives_that_result(tools: list[Tool], calls: list, expected: list[str]) -> None:
    assert said(checked(tools, calls)) == expected


def test_a_result_that_is_only_written_otherwise_has_a_hint() -> None:
    check = checked([READ, SET], [READING, setting("get_current_temperature.Temperature")])
    assert [finding.hint for finding in check.findings] == ["near: temperature"]


def result(call: int | None, name: str, text: str, **more: Json) -> dict[str, Json]:
    return {"source": "result", "call": call, "result": name, "text": text, "embedded": False, **more}


RECORDED: dict[str, tuple[Json, dict[str, Json], list[str]]] = {
    "of the first call": ("$v.temperature$", result(0, "temperature", "$v.temperature$"), ["pass"]),
    "all of its result": ("$v$", result(0, "", "$v$"), ["pass"]),
    "a label that stands for a result": ("API_call_0", result(0, "API_call_0", "API_call_0"), ["pass"]),
    "inside a longer text": ("5 * $v.temperature$", result(0, "temperature", "$v.temperature$", embedded=True), ["pass"]),
    "a result with spaces": ("$v.Exchange Rate$", result(0, "Exchange Rate", "$v.Exchange Rate$"), ["fail", f"broken_reference {PLACE}"]),
    "of no call": ("$w.temperature$", result(None, "temperature", "$w.temperature$"), ["fail", f"broken_reference {PLACE}"]),
    "of an earlier turn": (AS_TEXT, result(None, "temperature", AS_TEXT, earlier_turn=True), ["pass"]),
    "of an earlier turn, not declared": (
        "get_current_temperature.x", result(None, "x", "get_current_temperature.x", earlier_turn=True), ["fail", f"broken_reference {PLACE}"]),
    "of its own call": ("$v.temperature$", result(1, "temperature", "$v.temperature$"), ["fail", f"broken_reference {PLACE}"]),
    "of a call that is not there": ("$v.temperature$", result(7, "temperature", "$v.temperature$"), ["fail", f"broken_reference {PLACE}"]),
    "of a call that is no number": ("$v.temperature$", result(True, "temperature", "$v.temperature$"), ["fail", f"broken_reference {PLACE}"]),
    "a sound one and a broken one": (
        "$v.temperature$ $w.x$", result(0, "temperature", "$v.temperature$", also=[result(None, "x", "$w.x$")]), ["fail", f"broken_reference {PLACE}"]),
    "imp-027 a hole": ("${animeId from searchAnime}", {"source": "hole", "text": "${animeId from searchAnime}"}, ["unknown"]),
    "a hole where a text is declared": ("<city>", {"source": "hole", "text": "<city>"}, ["unknown"]),
    "a hole beside a reference": (
        "$v.temperature$ ${x}", result(0, "temperature", "$v.temperature$", also=[{"source": "hole", "text": "${x}"}]), ["unknown"]),
    "a source of another kind": ("4 degrees", {"source": "query", "span": [0, 4]}, ["fail", f"type_mismatch {PLACE}"]),
}  # fmt: skip


@pytest.mark.parametrize(("value", "source", "expected"), RECORDED.values(), ids=RECORDED.keys())
def test_what_a_reader_recorded_of_a_value_decides_how_it_is_judged(value: Json, source: dict[str, Json], expected: list[str]) -> None:
    check = checked([READ, SET], [READING, setting(value)], argument_sources={"/1/arguments/temperature": source})
    assert said(check) == expected


def test_a_reference_is_not_judged_by_its_kind_either() -> None:
    taxi = tool("order_taxi", {"date": {"type": "string", "description": "Date of the ride."}})
    find = tool("find", response={"when": {}})
    assert said(checked([find, taxi], [("find", {}), ("order_taxi", {"date": "find.when"})])) == ["pass"]
    assert said(checked([find, taxi], [("find", {}), ("order_taxi", {"date": "Casa Verde"})])) == [
        "fail",
        "wrong_entity /calls/1/arguments/date",
    ]


def test_a_place_that_a_reader_records_and_that_is_not_there_changes_nothing() -> None:
    for pointer in ("/9/arguments/temperature", "/1/arguments/other", "/1/arguments/temperature/0", "temperature", "", "/x"):
        check = checked([READ, SET], [READING, setting(4)], argument_sources={pointer: result(0, "temperature", "$v$")})
        assert said(check) == ["pass"]


ALARM = tool(
    "set_alarm",
    {"time": {"format": "HH:MM"}, "days": {"type": "array"}, "count": {"type": "integer"}, "code": {"pattern": "^[0-9]+$", "maxLength": 4}},
)

PLACEHOLDERS: dict[str, tuple[dict[str, Json], list[str]]] = {
    "under a format": ({"time": "dinner_time_0001"}, ["pass"]),
    "under a pattern and a length": ({"code": "dinner_time_0001"}, ["pass"]),
    "of no entity": ({"time": "dinner_time_0009"}, ["fail", "format_mismatch /calls/0/arguments/time"]),
    "an entity that is no placeholder": ({"code": "Bob"}, ["fail", "pattern_mismatch /calls/0/arguments/code"]),
    "where a list is declared": ({"days": "dinner_time_0001"}, ["fail", "type_mismatch /calls/0/arguments/days"]),
    "where a number is declared": ({"count": "dinner_time_0001"}, ["fail", "type_mismatch /calls/0/arguments/count"]),
    "beside a literal that is wrong": ({"time": "7:00", "code": "dinner_time_0001"}, ["fail", "format_mismatch /calls/0/arguments/time"]),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), PLACEHOLDERS.values(), ids=PLACEHOLDERS.keys())
def test_a_placeholder_of_the_graph_is_judged_by_its_type_and_not_by_its_form(arguments: dict[str, Json], expected: list[str]) -> None:
    assert said(checked([ALARM], [("set_alarm", arguments)])) == expected


def test_the_end_of_a_golden_path_is_an_entity_without_the_graph() -> None:
    golden = {
        "kind": "graph",
        "golden_triples": (Triple(head="Bob", relation="prefer_time", tail="alarm_time_0002"),),
        "golden_paths": (RelationPath(start="Bob", relations=("prefer_time",)),),
    }
    assert said(checked([ALARM], [("set_alarm", {"time": "alarm_time_0002"})], KnowledgeGraph(), **golden)) == ["pass"]


WEATHER = [tool("GetWeather", {"city": {"type": "string"}}, ("city",)), tool("GetWeather", {"location": {"type": "string"}}, ("location",))]


def test_a_call_that_satisfies_one_of_several_documents_of_its_name_passes() -> None:
    """Case imp-009."""
    assert said(checked(WEATHER, [("GetWeather", {"city": "Oslo"})])) == ["pass"]
    assert said(checked(WEATHER, [("GetWeather", {"location": "Oslo"})])) == ["pass"]


def test_a_call_that_satisfies_no_document_of_its_name_is_told_of_the_best_one() -> None:
    """Case imp-009."""
    assert said(checked(WEATHER, [("GetWeather", {"location": 1})])) == ["fail", "type_mismatch /calls/0/arguments/location"]


def test_a_document_that_cannot_be_used_might_be_satisfied() -> None:
    broken = Tool(name="GetWeather", parameters={"type": "object", "properties": {"city": {"$ref": "#/$defs/none"}}})
    assert said(checked([WEATHER[1], broken], [("GetWeather", {"city": "Oslo"})])) == ["unknown"]
    assert said(checked([WEATHER[0], broken], [("GetWeather", {"city": "Oslo"})])) == ["pass"]


def test_a_tool_that_is_not_offered_is_not_judged() -> None:
    """Case val-025."""
    assert said(checked([tool("get_book_status"), tool("renew_books")], [("FindBooks", {})])) == ["unknown"]


def test_a_tool_that_is_not_offered_hides_no_other_fault() -> None:
    assert said(checked([SET], [("FindBooks", {}), setting("x")])) == ["fail", f"type_mismatch {PLACE}"]


@pytest.mark.parametrize("calls", [[], [("", {})], [(" ", {})]], ids=["no call", "val-027 an empty name", "a blank name"])
def test_no_call_passes(calls: list) -> None:
    assert said(checked([SET], calls, kind="no_tool")) == ["pass"]


def test_gold_that_could_not_be_read_is_not_judged() -> None:
    unparsed = [{"path": "/calls/0", "code": "parse_error", "message": "no JSON", "text": "{"}]
    assert said(checked([SET], [], provenance={"unparsed": unparsed})) == ["unknown"]


BOOK = tool(
    "book",
    {
        "city": {"type": "string", "enum": ["Oslo", "Bergen"]},
        "guests": {"type": "integer"},
        "extra": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
    ("city",),
)


def any_of(*values: Json, optional: bool = False) -> dict[str, Json]:
    return {"$any": list(values), "optional": optional}


HERE = "/alternatives/0/0/arguments"
ALTERNATIVES: dict[str, tuple[dict[str, Json], list[str]]] = {
    "all legal": ({"city": any_of("Oslo", "Bergen"), "guests": any_of(1, 2)}, []),
    "the second is not": ({"city": any_of("Oslo", "Paris")}, [f"not_in_enum {HERE}/city/$any/1"]),
    "the first is not": ({"city": any_of("Paris", "Oslo")}, [f"not_in_enum {HERE}/city/$any/0"]),
    "none is": ({"city": any_of("Paris", "Rome")}, [f"not_in_enum {HERE}/city/$any/0", f"not_in_enum {HERE}/city/$any/1"]),
    "of two values one each": (
        {"city": any_of("Oslo", "Paris"), "guests": any_of("1", 2)}, [f"not_in_enum {HERE}/city/$any/1", f"type_mismatch {HERE}/guests/$any/0"]),
    "left out": ({"city": any_of("Oslo"), "guests": any_of(1, "", optional=True)}, []),
    "left out although it is required": ({"city": any_of("Oslo", optional=True)}, [f"missing_required {HERE}/city"]),
    "no value at all": ({"city": any_of()}, [f"missing_required {HERE}"]),
    "a name that nobody declares": ({"city": any_of("Oslo"), "town": any_of("a", "b")}, [f"unknown_parameter {HERE}/town"]),
    "inside an object": ({"city": any_of("Oslo"), "extra": any_of({"n": 1}, {"n": "x"})}, [f"type_mismatch {HERE}/extra/$any/1/n"]),
    "alternatives inside alternatives": (
        {"city": any_of("Oslo"), "extra": any_of({"n": 1}, {"n": any_of(2, "x")})}, [f"type_mismatch {HERE}/extra/$any/1/n/$any/1"]),
    "beside a value that is none": ({"city": "Paris", "guests": any_of(1)}, [f"not_in_enum {HERE}/city"]),
    "no alternatives": ({"city": "Paris"}, [f"not_in_enum {HERE}/city"]),
    "an argument that only looks like them": ({"city": "Oslo", "extra": {"$any": 3}}, []),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), ALTERNATIVES.values(), ids=ALTERNATIVES.keys())
def test_every_alternative_of_a_value_is_judged_at_its_place(arguments: dict[str, Json], expected: list[str]) -> None:
    check = checked([BOOK], [("book", {"city": "Oslo"})], alternatives=((ToolCall(name="book", arguments=arguments),),))
    assert said(check) == ["fail" if expected else "pass", *expected]


def test_alternatives_may_refer_to_results_as_calls_do() -> None:
    calls = [("get_current_temperature", {}), ("adjust", {"temperature": AS_TEXT})]
    other = (
        ToolCall(name="get_current_temperature", arguments={}),
        ToolCall(name="adjust", arguments={"temperature": any_of(AS_TEXT, 4, "x")}),
    )
    assert said(checked([READ, SET], calls, alternatives=(other,))) == [
        "fail",
        "type_mismatch /alternatives/0/1/arguments/temperature/$any/2",
    ]
    turned = (ToolCall(name="adjust", arguments={"temperature": AS_TEXT}), ToolCall(name="get_current_temperature", arguments={}))
    assert said(checked([READ, SET], calls, alternatives=(turned,))) == ["fail", "broken_reference /alternatives/0/0/arguments/temperature"]


def test_a_hole_in_the_calls_is_one_in_the_alternatives() -> None:
    check = checked(
        [SET], [setting("<t>")], argument_sources={"/0/arguments/temperature": {"source": "hole", "text": "<t>"}},
        alternatives=((ToolCall(name="adjust", arguments={"temperature": any_of("<t>")}),),),
    )  # fmt: skip
    assert said(check) == ["unknown"]


CHOICE = tool(
    "play",
    {
        "genre": {"type": "string", "enum": ["War", "Drama"], "default": "dontcare"},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "count": {"type": "integer", "default": "any"},
        "place": {"type": "object", "properties": {"city": {"enum": ["Oslo"], "default": ""}}},
        "days": {"type": "array", "items": {"type": "string", "enum": ["Mon"], "default": "all"}},
        "title": {"type": "string", "default": "dontcare"},
        "note": {"type": "string", "nullable": True},
    },
)
NOTE = "legal_by_default /calls/0/arguments"
BY_DEFAULT: dict[str, tuple[dict[str, Json], list[str]]] = {
    "val-011 the document's own default": ({"genre": "dontcare"}, ["pass", f"{NOTE}/genre"]),
    "val-011 the same word where it is no default": ({"kind": "dontcare"}, ["fail", "not_in_enum /calls/0/arguments/kind"]),
    "val-011 both": ({"genre": "dontcare", "kind": "dontcare"}, ["fail", "not_in_enum /calls/0/arguments/kind", f"{NOTE}/genre"]),
    "val-011 a default of another type": ({"count": "any"}, ["pass", f"{NOTE}/count"]),
    "val-011 inside an object": ({"place": {"city": ""}}, ["pass", f"{NOTE}/place/city"]),
    "val-011 an item": ({"days": ["Mon", "all"]}, ["pass", f"{NOTE}/days/1"]),
    "null where it may be": ({"note": None}, ["pass", f"{NOTE}/note"]),
    "a default that is legal anyway": ({"title": "dontcare"}, ["pass"]),
    "a value of the list": ({"genre": "War"}, ["pass"]),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), BY_DEFAULT.values(), ids=BY_DEFAULT.keys())
def test_a_value_that_is_legal_only_as_the_documents_default_passes_and_is_noted(arguments: dict[str, Json], expected: list[str]) -> None:
    assert said(checked([CHOICE], [("play", arguments)])) == expected


def test_only_the_document_that_is_satisfied_is_noted() -> None:
    other = tool("play", {"genre": {"type": "integer"}})
    assert said(checked([other, CHOICE], [("play", {"genre": "dontcare"})])) == ["pass", f"{NOTE}/genre"]
    assert said(checked([CHOICE, tool("play", {"genre": {}})], [("play", {"genre": "War"})])) == ["pass"]


def test_a_note_is_no_fault_in_the_share_of_calls_that_fit() -> None:
    sample = Sample(
        id="t-1", benchmark="t", kind="no_graph", speaker="", query="Play.", graph_id="", candidate_tools=(CHOICE,),
        calls=(ToolCall(name="play", arguments={"genre": "dontcare"}),),
    )  # fmt: skip
    conformity = Conformity()
    conformity.add(sample, [check_parameters(sample, GRAPH)])
    assert (conformity.checked, conformity.conform) == (1, 1)


def test_golden_calls_that_are_not_given_are_not_judged() -> None:
    assert said(checked([SET], [], kind="no_graph", provenance={"golden_not_given": True})) == ["unknown"]
