"""A phrased query solved back: a model that sees neither draft nor call says which facts it needs, and they must be the golden ones.

The solver knows the query, who speaks, and the names of the graph's relations; of the graph itself it sees nothing. So it cannot know
whether "my grandson" is a son's son or a daughter's: where the query's own word for a relative can mean both its chain and the golden
one, the two count as the same, since the intent check has found that the word means one person in this graph.
"""

from __future__ import annotations

from familytool.kinship import KIN_RELATIONS, Relations, find_mentions
from familytool.llm.asking import Model, ask_for, closed_object, read_object
from familytool.llm.prompts import delimited, render
from familytool.llm.requests import Request
from familytool.model import Check, Finding, Sample, Verdict

SCHEMA = closed_object({"paths": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}})
LONGEST_ANSWER = 20_000
"""Characters."""
MOST_PATHS, MOST_STEPS = 16, 12


async def solve(sample: Sample, relations: list[str], solver: Model) -> tuple[Check, tuple[str, ...]]:
    """The check "solve" and the keys of its calls: pass if the solver names the golden chains and no other, fail if it names others,
    unknown if it says nothing that can be read.

    A chain that is the beginning of another one is told by that one (who looks up the wife's doctor looks up the wife), in the answer
    as in the golden chains. The order of chains, and a chain that is told twice, tell nothing.
    """
    reading = await ask_for(
        solver, _prompt(sample, relations, solver), SCHEMA, "solve", lambda text: read_paths(text, sample.speaker, relations)
    )
    if reading.code:
        return _check(sample, solver, "unknown", Finding(code=reading.code, path="/query", message=reading.message)), reading.keys
    golden = _longest({path.relations for path in sample.golden_paths})
    solved = _longest(reading.value)
    if _as_golden(solved, golden, sample.query) == golden:
        return _check(sample, solver, "pass"), reading.keys
    message = f"{solver.id} solves the query by {_told(solved)}; the golden facts are {_told(golden)}"
    unknown = sorted({relation for path in solved for relation in path} - set(relations))
    if unknown:
        message += f" ({', '.join(unknown)[:200]}: no relation of the graph)"
    finding = Finding(code="solved_differently", path="/query", message=message, value=sorted(map(list, solved)))
    return _check(sample, solver, "fail", finding), reading.keys


def solve_requests(sample: Sample, relations: list[str], solver: Model) -> list[Request]:
    """What `solve` asks if the answer can be read at once."""
    return [solver.request(_prompt(sample, relations, solver), SCHEMA)]


def read_paths(text: str, speaker: str, relations: list[str]) -> set[Relations]:
    """The chains of an answer, without the speaker ("I", or the name) where one begins with it (ValueError: it is not
    `{"paths": [["relation", ...], ...]}`).

    >>> sorted(read_paths('{"paths": [["Bob", "wife", "doctor"], ["prefer_song"]]}', "Bob", ["wife", "doctor", "prefer_song"]))
    [('prefer_song',), ('wife', 'doctor')]
    """
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"{len(text):,} characters are too many")
    value = read_object(text)
    if set(value) != {"paths"} or not isinstance(value["paths"], list):
        raise ValueError("expected an object with the list 'paths' and nothing else")
    if len(value["paths"]) > MOST_PATHS:
        raise ValueError(f"{len(value['paths'])} chains are too many")
    found: set[Relations] = set()
    for path in value["paths"]:
        if not isinstance(path, list) or not all(isinstance(step, str) for step in path):
            raise ValueError("a chain is no list of relations")
        steps = tuple(path[1:] if path and path[0] in ("I", speaker) and path[0] not in relations else path)
        if not 0 < len(steps) <= MOST_STEPS:
            raise ValueError(f"a chain of {len(steps)} relations")
        found.add(steps)
    return found


def _prompt(sample: Sample, relations: list[str], solver: Model) -> str:
    parts = {"relations": ", ".join(relations), "speaker": sample.speaker, "request": sample.query}
    return render(
        solver.template("familytool.generation", "solve"),
        {name: delimited(name, text.replace("<", "&lt;")) for name, text in parts.items()},
    )


def _longest(paths: set[Relations]) -> set[Relations]:
    """The paths that are not the beginning of another one."""
    return {path for path in paths if not any(len(path) < len(other) and other[: len(path)] == path for other in paths)}


def _as_golden(solved: set[Relations], golden: set[Relations], query: str) -> set[Relations]:
    """The solved paths, each of them as the golden path that the query's words cannot tell it from, where there is just one."""
    readings = [mention.readings for mention in find_mentions(query)]

    def read_as(path: Relations) -> Relations:
        owner = _owner(path)
        same = {
            other
            for other in golden
            if other[len(_owner(other)) :] == path[len(owner) :] and any({owner, _owner(other)} <= known for known in readings)
        }
        return same.pop() if path not in golden and len(same) == 1 else path

    return {read_as(path) for path in solved}


def _owner(path: Relations) -> Relations:
    """The part of a path that leads from relative to relative."""
    steps = 0
    while steps < len(path) and path[steps] in KIN_RELATIONS:
        steps += 1
    return path[:steps]


def _told(paths: set[Relations]) -> str:
    return "; ".join(" > ".join(path)[:200] for path in sorted(paths)) or "no facts"


def _check(sample: Sample, solver: Model, verdict: Verdict, *findings: Finding) -> Check:
    return Check(sample_id=sample.id, check="solve", verdict=verdict, findings=findings, judge=solver.id)
