"""The key of a request: what it asks and nothing else."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from familytool.llm.requests import Request, Sampling
from familytool.llm.rows import json_text

texts = st.text(st.characters(codec=None), max_size=20)  # lone surrogates too
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=4)
requests = st.builds(
    Request,
    model=texts,
    messages=st.lists(objects, max_size=3).map(tuple),
    tools=st.lists(objects, max_size=2).map(tuple),
    answer_schema=st.none() | objects,
    sampling=st.builds(
        Sampling,
        temperature=st.none() | st.floats(0, 2),
        top_p=st.none() | st.floats(0, 1),
        seed=st.none() | st.integers(),
        max_output=st.integers(1, 10_000),
        stop=st.lists(texts, max_size=2).map(tuple),
    ),
    sample_index=st.integers(0, 1000),
)


def shuffled(value: Any, draw: random.Random) -> Any:
    """The same value with the keys of all objects in another order."""
    if isinstance(value, list | tuple):
        return [shuffled(item, draw) for item in value]
    if not isinstance(value, dict):
        return value
    items = [(key, shuffled(inner, draw)) for key, inner in value.items()]
    draw.shuffle(items)
    return dict(items)


def the_key_does_not_depend_on_the_order_of_fields(request: Request, seed: int) -> None:
    again = Request.model_validate(shuffled(request.model_dump(), random.Random(seed)))
    assert again.key == request.key
    assert len(request.key) == 64


def the_key_outlives_being_written_and_read(request: Request) -> None:
    text = json_text(request.model_dump())
    text.encode("utf-8")
    assert "\n" not in text
    assert Request.model_validate(json.loads(text)).key == request.key


def requests_of_other_content_have_other_keys(one: Request, other: Request) -> None:
    same = json.dumps(one.model_dump(), sort_keys=True) == json.dumps(other.model_dump(), sort_keys=True)
    assert (one.key == other.key) is same


@settings(max_examples=100)
@given(requests, st.integers())
def test_the_key_does_not_depend_on_the_order_of_fields(request: Request, seed: int) -> None:
    the_key_does_not_depend_on_the_order_of_fields(request, seed)


@settings(max_examples=100)
@given(requests)
def test_the_key_outlives_being_written_and_read(request: Request) -> None:
    the_key_outlives_being_written_and_read(request)


@settings(max_examples=100)
@given(requests, requests)
def test_requests_of_other_content_have_other_keys(one: Request, other: Request) -> None:
    requests_of_other_content_have_other_keys(one, other)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(requests, requests, st.integers())
def test_the_properties_of_keys_hold_for_many_requests(one: Request, other: Request, seed: int) -> None:
    the_key_does_not_depend_on_the_order_of_fields(one, seed)
    the_key_outlives_being_written_and_read(one)
    requests_of_other_content_have_other_keys(one, other)


BASE = Request(
    model="m",
    messages=({"role": "user", "content": "hi"},),
    tools=({"name": "t"},),
    answer_schema={"type": "object"},
    sampling=Sampling(temperature=0.5, top_p=0.5, seed=1, max_output=10, stop=("a",)),
    sample_index=0,
)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m2"},
        {"messages": ({"role": "user", "content": "hi "},)},
        {"messages": ({"role": "system", "content": "hi"},)},
        {"messages": (*BASE.messages, *BASE.messages)},
        {"messages": ({"role": "user", "content": "h\u0131"},)},
        {"messages": ({"role": "user", "content": "hi", "name": None},)},
        {"tools": ()},
        {"tools": ({"name": "t", "strict": True},)},
        {"answer_schema": None},
        {"answer_schema": {}},
        {"answer_schema": {"type": "array"}},
        *({"sampling": BASE.sampling.model_copy(update={name: None})} for name in ("temperature", "top_p", "seed")),
        {"sampling": BASE.sampling.model_copy(update={"max_output": 11})},
        {"sampling": BASE.sampling.model_copy(update={"stop": ("a", "")})},
        {"sample_index": 1},
    ],
    ids=str,
)
def test_any_change_of_a_field_changes_the_key(change: dict[str, Any]) -> None:
    assert BASE.model_copy(update=change).key != BASE.key


def test_one_and_one_point_nought_are_one_temperature() -> None:
    assert (
        Request(model="m", messages=(), sampling=Sampling(temperature=1)).key
        == Request(model="m", messages=(), sampling=Sampling(temperature=1.0)).key
    )


def test_the_key_of_a_request_is_the_same_for_ever() -> None:
    """Keys stand in published ledgers: a change here makes all of them stale, and must be meant."""
    assert BASE.key == "ea91e5742ede6e6fc046e24fa6f9460fe8ea0013e50284a816a5af79a98f3d9e"
