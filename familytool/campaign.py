"""The campaign file: one TOML document that says which benchmark is wanted, and nothing about how to make it.

Every key does something, every default says why, and a file at fault is answered with the name of each field at fault.
`familytool check --schema` writes the JSON Schema of this model for editors.
"""

from __future__ import annotations

import datetime
import difflib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from familytool.errors import UsageError
from familytool.model import Json, digest

CHECKS = ("syntax", "intent", "parameters", "feasibility")
STRATA = re.compile(r"hop[1-6]|no_graph|no_tool|multi_call")
MAX_BYTES = 1_000_000
ROW_SETTINGS = ("id", "temperature", "top_p", "seed", "max_output")
"""What of a model's settings its answers hang on; address, key and patience can change between two starts of a run."""


class Section(BaseModel):
    """A table of the campaign file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FamilySection(Section):
    """The people and what the graph knows of them."""

    count: int = Field(1, ge=1, le=10_000, description="Families; one graph each. One of eight people carries some 20,000 distinct rows.")
    people: int | None = Field(
        None, ge=2, le=60, description="Size of a seeded family; default 8, enough that a random person is right one time in eight."
    )
    specification: str | None = Field(
        None, description="Instead of `people`: 'paper' (Bob, Jack, Alice), 'extended' (the paper's eight), or a file of [[people]] tables."
    )
    attributes_per_person: int = Field(
        60, ge=1, le=400, description="Attribute relations of each person; 60 is the published graph's grid."
    )
    values: Literal["realistic", "placeholder"] = Field(
        "realistic",
        description="'placeholder' names values as the paper does (hotel_0002), which gives their relation away; where a document fixes a format the value keeps it.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> FamilySection:
        if self.people is not None and self.specification is not None:
            raise ValueError("give either people (a seeded family) or specification (a named one), not both")
        if self.specification is not None and self.count != 1:
            raise ValueError("a specification describes one family, so count must be 1")
        return self


class CandidateTools(Section):
    """The tools offered with each query."""

    size: tuple[int, int] = Field((4, 12), description="Smallest and largest list; the published mean is 8.4.")
    confusable: float = Field(0.5, ge=0, le=1, description="Share of the other tools that act on the same objects in another way.")

    @field_validator("size")
    @classmethod
    def _ordered(cls, size: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= size[0] <= size[1] <= 64:
            raise ValueError("size must be two numbers from 1 to 64, the smaller one first")
        return size


class Quota(Section):
    """Bounds on the accepted rows of a category or a golden tool, of what is new against a former release, or of both together."""

    category: str | None = Field(None, description="Category of the golden tool, as `preferences.jsonl` names it.")
    tool: str | None = Field(None, description="Name of the golden tool.")
    stratum: str | None = Field(None, description="Only rows of this stratum; default: of all.")
    novelty: (
        Literal["unseen_tool", "unseen_relation", "unseen_triple", "unseen_entity", "unseen_speaker", "unseen_shape", "unseen_path", "seen"]
        | None
    ) = Field(None, description="Only rows in which this is new against the release of `--base`; 'seen': rows in which nothing is.")
    at_least: int = Field(0, ge=0)
    at_most: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _meaningful(self) -> Quota:
        if (self.category is not None and self.tool is not None) or (self.category is self.tool is self.novelty is None):
            raise ValueError("a quota names either a category or a tool, or a novelty, or a novelty with one of these")
        if self.stratum is not None and not STRATA.fullmatch(self.stratum):
            raise ValueError(f"'{self.stratum}' is no stratum (hop1 ... hop6, no_graph, no_tool, multi_call)")
        if self.at_most is None and self.at_least == 0:
            raise ValueError("a quota needs at_least or at_most")
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError("at_most is smaller than at_least")
        return self

    @property
    def told(self) -> str:
        """The quota in a few words."""
        return " of ".join(part for part in (self.novelty, self.tool or self.category, self.stratum) if part)


class DocumentException(Section):
    """What to do with one parameter (or a whole tool) that the extraction rule reads wrongly."""

    tool: str
    parameter: str | None = Field(None, description="Without it the whole tool is left out.")
    kind: str = Field("none", description="The kind of value it takes instead; 'none' = never filled.")
    reason: str = Field(min_length=3, description="Printed beside the refusal.")


class ModelSection(Section):
    """A model behind an OpenAI-compatible endpoint. Keys never stand in a campaign; `key_variable` names the environment variable."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    id: str = Field(min_length=1, max_length=200, description="The model, as requests and the ledger name it.")
    base_url: str | None = Field(None, description="Of the endpoint, ending with /v1 mostly; default: OpenAI.")
    served_as: str = Field(
        "", description="The name that this server knows the model by, where it differs from id; not part of a call's key."
    )
    key_variable: str = Field(
        "",
        pattern=r"^[A-Za-z_0-9]{0,100}$",
        description="Environment variable with the key; default OPENAI_API_KEY at OpenAI, none elsewhere.",
    )
    temperature: float | None = Field(None, ge=0, le=2, description="Default: the endpoint's own.")
    top_p: float | None = Field(None, gt=0, le=1, description="Default: the endpoint's own.")
    seed: int | None = Field(None, description="Sent where the endpoint takes one.")
    max_output: int = Field(
        1024, ge=16, le=200_000, description="Largest answer in tokens, thinking included; raise it for reasoning models."
    )
    timeout: float = Field(300.0, gt=0, description="Seconds of one attempt.")
    patience: float = Field(1_800.0, gt=0, description="Seconds of all attempts of a call, waiting included.")
    max_attempts: int = Field(8, ge=1, description="Attempts of a call, those aside that were answered with 429.")
    max_in_flight: int = Field(32, ge=1, le=4_096, description="Requests at the same time at most; adapted below that.")


Shape = Annotated[str, Field(pattern=r"^[1-6](\+[1-6]){0,2}$")]


class GenerationSection(Section):
    """What is generated, from which documents, in which numbers."""

    documents: str = Field("builtin", description="'builtin', or a file or folder of tool documents; `--documents` overrides it.")
    method: Literal["grounded", "paper"] = Field(
        "grounded",
        description="'grounded': golden answers are computed by executing relation paths and a model at most phrases; 'paper': a model writes "
        "query and answer from a small graph, and the golden facts are traced (paper section 3).",
    )
    writer: str = Field("templates", description="'templates' (rules and hints of the documents), or a name of [models].")
    solver: str = Field("", description="Model that solves a phrased query back, blind; default: the writer.")
    extractor: str = Field("rules", description="Who reads preferences from documents: 'rules', or a name of [models].")
    prompts: str = Field(
        "",
        description="Folder with prompt files of your own (`phrase.txt`, `judge_intent.txt` ...) that stand in for the package's of the same name.",
    )
    phrasings: int = Field(3, ge=1, le=16, description="Phrasings asked for each candidate; the first that passes is taken.")
    alike: float = Field(
        0.9,
        ge=0.5,
        le=1.0,
        description="Queries that a model wrote for the same speaker, tools and paths are duplicates if their words are so much alike (1 = equal).",
    )
    look_ahead: int = Field(
        16,
        ge=1,
        le=4096,
        description="Candidates in work at once at most, where models are asked; rows hang on it, so it is an edit to change it.",
    )
    twin_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the rows with a relative's fact that get a twin: the same words with another relative (or another fact of the "
        "same kind), and so another answer.",
    )
    strata: dict[str, int] = Field(description="Rows wanted: hop1 ... hop6, no_graph, no_tool, multi_call.")
    shapes: dict[str, dict[Shape, float]] = Field(
        {}, description="For a hop, the chain shapes and their weights; default: one chain mostly, two chains where they fit."
    )
    distinct_tools: int | None = Field(
        None, ge=1, description="Golden calls spread over exactly this many tools; default: over all that can be used."
    )
    quotas: tuple[Quota, ...] = ()
    candidate_tools: CandidateTools = CandidateTools()
    max_candidates: int | None = Field(
        None,
        ge=1,
        description="Candidates drawn for each wanted row before a stratum counts as infeasible; default: 200, where models are paid 12.",
    )
    exceptions: tuple[DocumentException, ...] = ()

    @field_validator("strata")
    @classmethod
    def _known_strata(cls, strata: dict[str, int]) -> dict[str, int]:
        for name, wanted in strata.items():
            if not STRATA.fullmatch(name):
                raise ValueError(f"'{name}' is no stratum (hop1 ... hop6, no_graph, no_tool, multi_call)")
            if not 0 <= wanted <= 10_000_000:
                raise ValueError(f"stratum {name} wants {wanted} rows; give a number from 0 to 10,000,000")
        if not sum(strata.values()):
            raise ValueError("no rows are wanted: give at least one stratum a number above 0")
        return strata

    @field_validator("shapes")
    @classmethod
    def _shapes_fit(cls, shapes: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for stratum, weights in shapes.items():
            if not re.fullmatch(r"hop[1-6]", stratum):
                raise ValueError(f"shapes.{stratum}: only hop1 ... hop6 have shapes")
            for shape, weight in weights.items():
                if sum(map(int, shape.split("+"))) != int(stratum[3:]):
                    raise ValueError(f"shapes.{stratum}: '{shape}' does not have {stratum[3:]} hops")
                if not 0 < weight < 1e6:
                    raise ValueError(f"shapes.{stratum}: the weight of '{shape}' must be above 0")
        return shapes

    @model_validator(mode="after")
    def _enough_calls(self) -> GenerationSection:
        calls = sum(wanted * (2 if name == "multi_call" else name != "no_tool") for name, wanted in self.strata.items())
        if self.distinct_tools is not None and self.distinct_tools > calls:
            raise ValueError(f"distinct_tools = {self.distinct_tools} needs as many golden calls, the strata have {calls}")
        return self


def _check_name(name: str) -> str:
    """A name of a check, or `module:function` for one of the campaign's own."""
    module, colon, function = name.partition(":")
    if name in CHECKS or (colon and all(part.isidentifier() for part in (*module.split("."), function))):
        return name
    raise ValueError(f"no check; there are {', '.join(CHECKS)}, and 'module:function' for one of your own")


class ValidationSection(Section):
    """Which checks a candidate must pass."""

    checks: tuple[Annotated[str, AfterValidator(_check_name)], ...] = Field(
        CHECKS,
        min_length=1,
        description="The four by default, in this order; a release of fewer says so on its card. A check of your own is the name of a Python "
        "function `module:function` (sample, graph) -> Check, its module beside the campaign file.",
    )
    settings: dict[str, dict[str, Json]] = Field(
        default_factory=dict, description="For a check's name, its settings (docs/audit.md lists them); none are needed."
    )
    ignore: tuple[str, ...] = Field((), description="Codes of findings that are told but reject nothing.")
    judge: str = Field("", description="Model of [models] that judges query, intent and feasibility; without one no model is asked.")
    judges: int = Field(1, ge=1, le=9, description="Answers of the judge for each question; the majority counts, a tie is unknown.")
    on_unknown: Literal["reject", "judge", "review"] = Field(
        "reject",
        description="A check that cannot tell: 'reject' the candidate, let the 'judge' decide, or keep it for 'review' by people.",
    )


class ReleaseSection(Section):
    """How the accepted rows are released."""

    split: Literal["test"] = Field("test", description="The paper's setting: one test split.")
    graph: Literal["full", "used"] = Field(
        "full", description="'used' keeps only facts that some golden answer needs (the paper's last step); 'full' keeps the distractors."
    )
    version: str = Field("1.0.0", pattern=r"^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}$", description="Printed in every row and on the card.")
    licence: str = Field("cc-by-4.0", pattern=r"^[a-z0-9][a-z0-9.-]{0,40}$", description="Identifier for the card's metadata.")


class EvaluationSection(Section):
    """The first evaluation, which needs no model."""

    baselines: bool = Field(True, description="Score the shortcut baselines beside gold replay.")


class Campaign(Section):
    """A whole campaign."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", description="Also the default run folder and the prefix of row ids.")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Rows follow from it and from their number alone.")
    now: datetime.date = Field(
        datetime.date(2025, 6, 2),
        ge=datetime.date(1900, 1, 1),
        le=datetime.date(2200, 1, 1),
        description="The frozen date; no date comes from the clock.",
    )
    family: FamilySection = FamilySection()
    models: dict[str, ModelSection] = Field({}, description="Models by the name that stages call them by; none are needed for templates.")
    generation: GenerationSection
    validation: ValidationSection = ValidationSection()
    release: ReleaseSection = ReleaseSection()
    evaluation: EvaluationSection = EvaluationSection()

    @model_validator(mode="after")
    def _models_are_there(self) -> Campaign:
        uses = {f"generation.{role}": getattr(self.generation, role) for role in ("writer", "solver", "extractor")}
        uses["validation.judge"] = self.validation.judge
        for place, name in uses.items():
            if name not in ("", "templates", "rules") and name not in self.models:
                known = ", ".join(self.models) or "none"
                raise ValueError(f"{place} = '{name}' is no name of [models] ({known})")
        if self.generation.method == "paper" and self.generation.writer == "templates":
            raise ValueError("generation.method = 'paper' needs a model: name one of [models] as generation.writer")
        if self.generation.method == "paper" and self.generation.twin_share:
            raise ValueError("generation.twin_share needs method = 'grounded': a twin is made from its original's draft")
        if self.validation.on_unknown == "judge" and not self.validation.judge:
            raise ValueError("validation.on_unknown = 'judge' needs validation.judge, a name of [models]")
        for name in self.models:
            if name in ("templates", "rules") or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
                raise ValueError(f"models.{name}: a model's name is letters, digits, - and _, and neither 'templates' nor 'rules'")
        return self

    @property
    def uses_models(self) -> bool:
        """Whether anything of generation or validation asks a model."""
        generation = self.generation
        return generation.writer != "templates" or generation.extractor != "rules" or bool(self.validation.judge)

    @property
    def candidates_per_row(self) -> int:
        """Candidates drawn for each wanted row before a stratum counts as infeasible."""
        return self.generation.max_candidates or (12 if self.uses_models else 200)

    @property
    def settings(self) -> dict[str, Any]:
        """All that rows and release hang on, defaults included: of a model what its answers do, not its address, key or patience."""
        content = self.model_dump(mode="json")
        models = {name: {key: model[key] for key in ROW_SETTINGS} for name, model in content["models"].items()}
        return {**content, "models": models}

    @property
    def fingerprint(self) -> str:
        """A hash of the settings."""
        return digest(self.settings)


def load_campaign(path: Path) -> Campaign:
    """Read and check a campaign file.

    Raises:
        UsageError: the file is missing, too large, no TOML, or has fields at fault, each of which is named.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path}: the campaign file cannot be read ({error.strerror}); give a name (home, paper, extended) or a path."
        ) from None
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{path}: {len(raw):,} bytes is too large for a campaign file (limit {MAX_BYTES:,}).")
    return parse_campaign(raw, str(path))


def parse_campaign(raw: bytes, place: str) -> Campaign:
    """The campaign in these bytes; `place` names them in errors (UsageError)."""
    try:
        content = tomllib.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{place}: not a TOML file ({error}); see `familytool init` for a file to start from.") from None
    try:
        return Campaign.model_validate(content)
    except ValidationError as error:
        raise UsageError("\n".join(f"{place}: {line}" for line in _faults(error))) from None


def _faults(error: ValidationError) -> Iterator[str]:
    for fault in error.errors():
        where = ".".join(str(part) for part in fault["loc"]) or "the file"
        if fault["type"] == "extra_forbidden":
            known = _keys_at(fault["loc"][:-1])
            near = difflib.get_close_matches(str(fault["loc"][-1]), known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}."
            yield f"{where}: unknown key; {hint}"
        elif fault["type"] == "missing":
            yield f"{where}: this key is needed."
        else:
            value = repr(fault["input"])
            message = fault["msg"].removeprefix("Value error, ")
            shown = "" if len(value) > 60 else f" (found {value})"
            yield f"{where}: {message}{shown}."


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    model: Any = Campaign
    for part in location:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        args = [a for a in getattr(annotation, "__args__", ()) if isinstance(a, type) and issubclass(a, BaseModel)]
        model = args[0] if args else annotation
    return list(model.model_fields)


def campaign_schema() -> dict[str, Any]:
    """The JSON Schema of a campaign file, for editors."""
    schema = Campaign.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "familytool campaign", **schema}


def describe(campaign: Campaign) -> str:
    """The campaign as TOML with every default filled in."""
    lines: list[str] = []
    _write_table(campaign.model_dump(mode="json", exclude_none=True), "", lines)
    return "\n".join(lines).strip() + "\n"


def _write_table(table: dict[str, Any], prefix: str, lines: list[str]) -> None:
    nested: list[tuple[str, dict[str, Any]]] = []
    for key, value in table.items():
        if isinstance(value, dict) and not prefix:
            nested.append((key, value))
        else:
            lines.append(f"{key} = {_toml(value, key)}")
    for key, value in nested:
        lines += ["", f"[{prefix}{key}]"]
        _write_table(value, f"{prefix}{key}.", lines)


def _toml(value: Any, key: str = "") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if key == "now":
            return value
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML has JSON's escapes, and forbids DEL bare
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f'"{k}" = {_toml(v)}' if not re.fullmatch(r"[A-Za-z0-9_-]+", k) else f"{k} = {_toml(v)}" for k, v in value.items())
            + " }"
        )
    return str(value)
