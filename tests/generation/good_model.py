"""Good answers to prompts of generation, as several tests' scripted models give them: written from what the prompt shows.

What stands for a writer's common sense, and no prompt tells, is which kind of value a parameter takes and how a value is said.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from familytool.catalogue import tables
from familytool.generation.usable import Parameter, UsableTool
from familytool.kinship import KIN_RELATIONS
from familytool.model import Json

Fact = tuple[str, str, str]
Call = tuple[str, dict[str, Json]]


def blocks(prompt: str, tag: str) -> list[str]:
    """What stands between each pair of these tags."""
    return [part.split(f"\n</{tag}>", 1)[0] for part in prompt.split(f"<{tag}>\n")[1:]]


def shown_facts(prompt: str) -> list[Fact]:
    rows = [json.loads(line) for line in blocks(prompt, "graph")[0].splitlines() if line]
    return [(head, relation, tail) for head, relation, tail in rows]


# The paper's method ------------------------------------------------------------------------------------------------


class Task(Protocol):
    """What a query is to be written for; an order is one."""

    @property
    def tools(self) -> Sequence[UsableTool]: ...
    @property
    def lengths(self) -> Sequence[Sequence[int]]: ...


class Wanted(NamedTuple):
    """A task as a prompt tells it."""

    tools: tuple[UsableTool, ...]
    lengths: tuple[tuple[int, ...], ...]


def wanted(prompt: str, tools: dict[str, UsableTool]) -> Wanted:
    """The task that a prompt for a query tells: "one that lies 2 facts away from the speaker (for book_taxi), and one 1 fact away ..."."""
    shown = [json.loads(text)["name"] for text in blocks(prompt, "tool")]
    lengths: dict[str, list[int]] = {name: [] for name in shown}
    for length, name in re.findall(r"one (?:that lies )?(\d) facts? away from the speaker(?: \(for ([^)]+)\))?", prompt):
        lengths[name or shown[0]].append(int(length))
    return Wanted(tuple(tools[name] for name in shown), tuple(tuple(found) for found in lengths.values()))


@dataclass
class Writer:
    """A good writer. It knows which kind of value a parameter of its tools takes; persons and values it has from the prompt alone."""

    task: Task
    arguments: list[Call] = field(default_factory=list)
    chains: list[list[Fact]] = field(default_factory=list)

    def query(self, prompt: str) -> str:
        speaker = prompt.split("The speaker is ", 1)[1].split(":", 1)[0]
        placed = self._placed(shown_facts(prompt), speaker)
        self.arguments, self.chains = [], [chain for _, _, chain in placed]
        parts = []
        for number, tool in enumerate(self.task.tools):
            values: dict[str, tuple[Json, str]] = {
                path: (chain[-1][2], "my " + "'s ".join(relation.replace("_", " ") for _, relation, _ in chain))
                for of, path, chain in placed
                if of == number
            }
            values |= {p: stated(tool.parameters[p]) for p in required(tool.tool.parameters, ()) if p not in values}
            self.arguments.append((tool.name, nested(tool, {path: value for path, (value, _) in values.items()})))
            words = ", ".join(f"the {spoken(path)} being {said}" for path, (_, said) in values.items())
            parts.append(f"{tool.name.replace('_', ' ')} with {words}")
        return "Please " + ", and also ".join(parts) + ", as soon as you can."

    def calls(self) -> list[Call]:
        return [(name, dict(arguments)) for name, arguments in self.arguments]

    def _placed(self, facts: list[Fact], speaker: str) -> list[tuple[int, str, list[Fact]]]:
        """(number of the tool, parameter, chain) for each wanted length: the first that fit together."""
        wanted = [(n, length) for n, lengths in enumerate(self.task.lengths) for length in sorted(lengths, reverse=True)]
        found: list[tuple[int, str, list[Fact]]] = []

        def place() -> bool:
            if len(found) == len(wanted):
                return True
            number, length = wanted[len(found)]
            taken = {fact for _, _, chain in found for fact in chain}
            for path, parameter in self.task.tools[number].parameters.items():
                if not parameter.takes_fact or any(other[:2] == (number, path) for other in found):
                    continue
                for chain in walks(facts, speaker, length):
                    if fits(parameter, chain[-1][1]) and taken.isdisjoint(chain):
                        found.append((number, path, chain))
                        if place():
                            return True
                        found.pop()
            return False

        assert place(), (self.task.lengths, [tool.name for tool in self.task.tools], facts)
        return found


def calls_for(query: str, facts: Sequence[Fact], speaker: str, tools: Sequence[UsableTool]) -> list[Call]:
    """The calls that a query of `Writer` asks for, read from its words."""
    found: list[Call] = []
    for part, tool in zip(query.removesuffix(", as soon as you can.").split(", and also "), tools, strict=False):
        paths = {spoken(path): path for path in tool.parameters}
        values: dict[str, Json] = {}
        for words in part.partition(" with the ")[2].split(", the "):
            named, _, said = words.partition(" being ")
            if named in paths:
                parameter = tool.parameters[paths[named]]
                values[paths[named]] = followed(said, facts, speaker) if said.startswith("my ") else stated(parameter)[0]
        found.append((tool.name, nested(tool, values)))
    return found


def followed(said: str, facts: Sequence[Fact], speaker: str) -> str:
    """What "my wife's prefer airline" leads to."""
    at = speaker
    for words in said.removeprefix("my ").split("'s "):
        at = next(t for h, r, t in facts if h == at and r.replace("_", " ") == words)
    return at


def spoken(path: str) -> str:
    return path.replace("_", " ").replace(".", " ")


def walks(facts: list[Fact], speaker: str, length: int) -> list[list[Fact]]:
    """Chains of so many facts along relations that have one end each, to what no shorter chain reaches."""
    single = Counter((head, relation) for head, relation, _ in facts)
    reached, layer = {speaker}, [[]]  # type: ignore[var-annotated]
    for _ in range(length):
        longer = [[*c, f] for c in layer for f in facts if f[0] == (c[-1][2] if c else speaker) and f[2] not in reached]
        reached |= {c[-1][2] for c in longer}
        ends = Counter(c[-1][2] for c in longer)
        layer = [c for c in longer if ends[c[-1][2]] == 1 and single[c[-1][0], c[-1][1]] == 1]
    return layer


def fits(parameter: Parameter, relation: str) -> bool:
    if relation in KIN_RELATIONS:
        return parameter.kind == "person" or (parameter.kind == "child" and relation in ("son", "daughter", "brother", "sister"))
    concept = tables.concepts_by_relation().get(relation)
    if concept is None or concept.kind != parameter.kind:
        return False
    return not parameter.relations or relation in parameter.relations


def required(schema: dict[str, Json], prefix: tuple[str, ...]) -> list[str]:
    paths: list[str] = []
    for name in schema.get("required", []):
        node = schema["properties"][name]
        inner = node.get("properties")
        paths += required(node, (*prefix, name)) if inner else [".".join((*prefix, name))]
    return paths


def stated(parameter: Parameter) -> tuple[Json, str]:
    """A value of a parameter and its words."""
    schema = parameter.schema
    value: Json
    if schema.get("enum"):
        value = schema["enum"][0]
        said = str(value).replace("_", " ").lower() if "_" in str(value) else str(value)
    elif schema.get("type") in ("integer", "number"):
        value = schema.get("minimum", 3)
        said = str(value)
    elif schema.get("type") == "boolean":
        value, said = True, "yes"
    elif parameter.kind in ("date", "birthday", "day_off"):
        value, said = "2025-09-14", "14 September 2025"
    elif "time" in parameter.kind:
        value, said = "11:45", "11:45 am"
    else:
        value = said = "blue paper"
    return ([value] if parameter.is_array else value), said


def nested(tool: UsableTool, values: dict[str, Json]) -> dict[str, Json]:
    arguments: dict[str, Json] = {}
    for path, value in values.items():
        at = arguments
        *parents, last = tool.parameters[path].keys
        for key in parents:
            at = at.setdefault(key, {})
        is_list = tool.parameters[path].is_array and not isinstance(value, list)
        number = tool.parameters[path].schema.get("type") in ("integer", "number") and isinstance(value, str)
        at[last] = [value] if is_list else int(value) if number else value
    return arguments


def as_answer(calls: list[Call]) -> str:
    return json.dumps({"tool_calls": [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in calls]})


# Preferences -------------------------------------------------------------------------------------------------------


def keep_all(prompt: str) -> str:
    """A filter that keeps every candidate."""
    numbers = [json.loads(line)["number"] for line in blocks(prompt, "candidates")[0].split("\n")]
    return json.dumps({"verdicts": [{"number": n, "keep": True, "reason": "fine"} for n in numbers]})


def invent(prompt: str, count: int = 30) -> str:
    """Made-up values that the schema takes: digits where a number is declared."""
    schema: Any = json.loads(blocks(prompt, "parameters")[0].split("\n")[0])["schema"]
    stem = prompt.split("Relation: ", 1)[1].split(" ", 1)[0].removeprefix("prefer_").replace("_", " ")
    number = schema.get("type") in ("integer", "number")
    return json.dumps(
        {"values": [str(7_000 + 13 * n) if number else f"{stem.title()} Vo{chr(97 + n % 26)}{'lm'[n // 26]}a" for n in range(count)]}
    )
