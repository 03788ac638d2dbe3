"""A model that answers from a script, and drafts of the campaign `home` for it to work on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from familytool.generation.generate import Material, make_candidate
from familytool.generation.planning import Planner
from familytool.llm.asking import Model
from familytool.llm.endpoint import Endpoint
from familytool.llm.requests import Answer, Purpose, Request
from familytool.model import Sample
from familytool.pipeline import prepare
from tests.made import Made

ENDPOINT = Endpoint(name="writer", id="scripted-1")


@dataclass
class Scripted:
    """Stands for a model: each answer is what `reply` makes of the prompt and the number of prompts before it."""

    reply: Callable[[str, int], str | Answer]
    asked: list[tuple[Purpose, Request]] = field(default_factory=list)

    async def ask(self, request: Request, endpoint_name: str, purpose: Purpose) -> Answer:
        said = self.reply(request.messages[1]["content"], len(self.asked))
        self.asked.append((purpose, request))
        if isinstance(said, Answer):
            return said.model_copy(update={"key": request.key})
        return Answer(key=request.key, outcome="answered", text=said)

    @property
    def model(self) -> Model:
        return Model(ENDPOINT, self)


def answers(*texts: str | Answer) -> Scripted:
    """Answers with these texts in turn, the last one again and again."""
    return Scripted(lambda _, number: texts[min(number, len(texts) - 1)])


def inside(prompt: str, tag: str) -> str:
    """What stands between two tags of a prompt, as it was before it was delimited."""
    return prompt.split(f"<{tag}>\n", 1)[1].split(f"\n</{tag}>", 1)[0].replace("&lt;", "<")


def material_of(made: Made) -> Material:
    return prepare(made.job)


def drafts(made: Made, each: int) -> list[Sample]:
    """The first candidates of each stratum that can be built."""
    material = material_of(made)
    planner = Planner(material)
    found: list[Sample] = []
    for stratum in material.campaign.generation.strata:
        for number in range(each):
            order = planner.order(stratum, number)
            assert order is not None
            draft = make_candidate(material, order)
            if isinstance(draft, Sample):
                planner.record(stratum, [tool.name for tool in order.tools], True)
                found.append(draft)
    return found
