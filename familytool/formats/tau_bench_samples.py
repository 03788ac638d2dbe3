"""tau2-bench task files as a benchmark (`*tasks*.json`, sierra-research, MIT), and tau-bench tasks as records; read only.

A task of tau2 is `{id, user_scenario, evaluation_criteria}`. It holds no utterance: the scenario that the simulated user is given is
the query (reason for the call, what the user knows, how to behave, one paragraph each). Golden calls are `evaluation_criteria.actions`
`{name, arguments, compare_args?}`; actions that the simulated user carries out (`requestor: user`) are none. A task of tau-bench is
`{instruction, actions: [{name, kwargs}]}`; its Python files are not read. Documents are those of the task's domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from familytool.formats import tau_bench
from familytool.formats.benchmark_files import Source, read_records
from familytool.formats.benchmark_rows import (
    Distinct,
    Golden,
    add_call,
    add_unparsed,
    distinct_ids,
    distinct_tools,
    documents_for,
    each_sample,
    files_of,
    made_sample,
    missing_documents,
    number_in,
)
from familytool.formats.openai import DocumentError, shown
from familytool.formats.text import TextError
from familytool.model import Json, Sample, Tool

NAME = "tau-bench"
CARRIES = "documents of the domain, the scenario of the simulated user as the query, golden actions, compare_args and reward_basis"
LOST = "states of the database, assertions in words, what is to be communicated: these stay in raw"

_SCENARIO = ("reason_for_call", "known_info", "task_instructions")
Documents = Mapping[str, tuple[Tool, ...]]
"""Domain -> its documents; "" where the documents name no domains."""


def looks_like(record: Json) -> bool:
    """Whether a record is a task of tau2-bench or of tau-bench."""
    if not isinstance(record, dict):
        return False
    is_tau2 = isinstance(record.get("user_scenario"), dict | str) and "evaluation_criteria" in record
    return is_tau2 or (isinstance(record.get("instruction"), str) and isinstance(record.get("actions"), list))


def read_samples(source: Source, rejected: list[str]) -> Iterator[Sample]:
    """The samples of a file of tasks, or of the `*tasks*.json` files of a folder; what is no task goes into `rejected`.

    Raises:
        FamilytoolError: no tool documents (tau2-bench publishes none).
    """
    documents = _documents(source, rejected)
    distinct = distinct_ids(source.benchmark)
    for file in files_of(source.path, looks_like, rejected, "*tasks*.json|*tasks*.jsonl"):
        yield from each_sample(read_records(file, rejected), partial(_sample, source, documents, distinct), rejected)


def _documents(source: Source, rejected: list[str]) -> Documents:
    here = source.path if source.path.is_dir() else source.path.parent
    path = source.documents or next(iter(sorted(here.glob("tools*.json"))), None)
    if path is None:
        raise missing_documents(source, "what get_info() of tau-bench returns (tools_get_info.json)")
    by_domain = _domains(path, rejected) if path.is_file() else {}
    return by_domain or {"": documents_for(source, [path], path.name, rejected)}


def _domains(path: Path, rejected: list[str]) -> Documents:
    """The documents of a file by the domains that their entries name; empty if they name none.

    Documents are read domain by domain, since one that two domains share would be found in the first alone.
    """
    entries: dict[str, list[tuple[str, Json]]] = {}
    for place, entry in read_records(path, []):
        if tau_bench.looks_like(entry):
            entries.setdefault(entry["domain"], []).append((place, entry))
    try:
        return {domain: tuple(tau_bench.read_tools(listed, rejected)) for domain, listed in entries.items()}
    except DocumentError:
        return {}


def _sample(source: Source, documents: Documents, distinct: Distinct, place: str, row: Json) -> Sample:
    if not looks_like(row):
        raise ValueError(f"{shown(row)} is no task (user_scenario and evaluation_criteria, or instruction and actions)")
    golden = Golden()
    query, domain = _scenario(row)
    origin: dict[str, Json] = {"format": NAME, "place": place, "id": row.get("id")}
    criteria = row.get("evaluation_criteria") or {}
    if not isinstance(criteria, dict):
        add_unparsed(golden, 0, TextError(f"evaluation_criteria is {shown(criteria)}, not an object"), criteria)
        criteria = {}
    _read_actions(criteria.get("actions") if "user_scenario" in row else row["actions"], golden, origin)
    if "reward_basis" in criteria:
        origin["reward_basis"] = criteria["reward_basis"]
    tools = documents[domain] if domain in documents else documents.get("", ()) if domain else distinct_tools(chain(*documents.values()))
    if not tools:
        golden.notes.append(f"no documents of the domain '{domain}' (there are {', '.join(documents)})")
    sample_id = distinct(row.get("id"), number_in(place), golden.notes)
    return made_sample(source, sample_id, query, tools, golden, origin, row, domain)


def _scenario(row: dict[str, Json]) -> tuple[str, str]:
    """What the simulated user is told, and the domain ("" where it is not said)."""
    scenario = row.get("user_scenario", row.get("instruction"))
    told = scenario.get("instructions") if isinstance(scenario, dict) else scenario
    if not isinstance(told, dict):
        return (told if isinstance(told, str) else ""), str(row.get("domain") or "")
    domain = told.get("domain")
    texts = [told[key].strip() for key in _SCENARIO if isinstance(told.get(key), str)]
    return "\n\n".join(text for text in texts if text), domain if isinstance(domain, str) else ""


def _read_actions(actions: Json, golden: Golden, origin: dict[str, Json]) -> None:
    """Add the actions of the agent; those of the simulated user and `compare_args` stay in the provenance.

    `compare_args` goes from the index of a call to the arguments that tau2-bench compares: [] compares none, and a call that is not
    named compares all.
    """
    if actions is not None and not isinstance(actions, list):
        add_unparsed(golden, 0, TextError(f"actions is {shown(actions)}, not a list"), actions)
    compared: dict[str, Json] = {}
    for number, action in enumerate(actions if isinstance(actions, list) else []):
        if isinstance(action, dict) and action.get("requestor") == "user":
            origin.setdefault("user_actions", []).append(action)
            continue
        fields = action if isinstance(action, dict) else {"name": action}
        read = add_call(golden, number, fields.get("name"), fields.get("arguments", fields.get("kwargs")), action)
        if read and fields.get("compare_args") is not None:
            compared[str(len(golden.calls) - 1)] = fields["compare_args"]
    if compared:
        origin["compare_args"] = compared
