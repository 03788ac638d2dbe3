"""The profile `lenient`: which unequal values mean the same, by named switches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .differences import json_in, number_in, text_difference
from .strict_json import Json
from .tools import property_of
from .values import LIMIT, is_equal

POLICIES = {
    "scalar_for_list": "a value stands for a list of it alone, where the tool's schema says array",
    "json_in_string": "an object or a list may be sent as its JSON text",
    "dates": "2025-9-1 is 2025-09-01",
    "times": "9:00 AM is 09:00",
    "enum_spelling": "another spelling of exactly one of the allowed values is that value",
    "repair": "an answer whose meaning is plain is read although it is no JSON (trailing commas, single quotes, True)",
}
"""The switches of the lenient profile that are a policy. Always lenient are: a number as text, letter case, outer space,
typographic punctuation, compatibility forms (NFKC), null for an absent argument, a name as providers spell it."""

_ALWAYS = frozenset({"case", "whitespace", "punctuation", "unicode"})
_BY_POLICY = {"dates": "date_format", "times": "time_format", "enum_spelling": "enum"}


class Lenience:
    """What is taken for equal beside what is equal; all policies by default.

    >>> Lenience().same("New York", "new york ", {}), Lenience().same(5, "5", {}), Lenience().same(True, 1, {})
    (True, True, False)
    """

    def __init__(self, policies: frozenset[str] = frozenset(POLICIES)) -> None:
        unknown = sorted(policies - POLICIES.keys())
        if unknown:
            raise ValueError(f"there is no lenient policy {unknown[0]!r}; there are {', '.join(POLICIES)}.")
        self.policies = policies
        self._text_codes = _ALWAYS | {code for policy, code in _BY_POLICY.items() if policy in policies}

    def same(self, golden: Json, predicted: Json, schema: Mapping[str, Any]) -> bool:
        """Whether the two values, both in normal form, mean the same; `schema` is that of the golden value."""
        if is_equal(golden, predicted):
            return True
        if golden is LIMIT or predicted is LIMIT or isinstance(golden, bool) or isinstance(predicted, bool):
            return False
        if isinstance(golden, str) and isinstance(predicted, str):
            return text_difference(golden, predicted, schema) <= self._text_codes
        if isinstance(golden, int | float) and isinstance(predicted, str):
            return is_equal(golden, number_in(predicted))
        if isinstance(golden, str) and isinstance(predicted, int | float):
            return is_equal(number_in(golden), predicted)
        if isinstance(golden, list) and isinstance(predicted, list):
            items = schema.get("items")
            of_item = items if isinstance(items, Mapping) else {}
            return len(golden) == len(predicted) and all(self.same(g, p, of_item) for g, p in zip(golden, predicted, strict=True))
        if isinstance(golden, dict) and isinstance(predicted, dict):
            return golden.keys() == predicted.keys() and all(
                self.same(value, predicted[key], property_of(schema, key)) for key, value in golden.items()
            )
        as_text = "json_in_string" in self.policies and isinstance(golden, list | dict) and isinstance(predicted, str)
        if as_text and is_equal(golden, json_in(predicted)):
            return True
        if isinstance(golden, list) and len(golden) == 1 and "scalar_for_list" in self.policies and schema.get("type") == "array":
            return is_equal(golden[0], predicted)
        return False
