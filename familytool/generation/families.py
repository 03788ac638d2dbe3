"""Families: read from a specification or grown from a seed, and turned into kinship triples that cannot contradict.

A specification says of each person only mother, father, spouse, step-parents, friends, colleagues and teachers; all
inverse relations are derived, so they agree by construction, and an ancestor cycle is an error and not a graph.
"""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from familytool.catalogue import tables
from familytool.errors import UsageError
from familytool.model import Triple


class Person(BaseModel):
    """One person of a specification; names refer to other people of the same file."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=80, pattern=r"^\S(?:[^\x00-\x1f\x7f]*\S)?$")
    gender: Literal["female", "male"]
    mother: str | None = None
    father: str | None = None
    spouse: str | None = None
    stepmother: str | None = None
    stepfather: str | None = None
    friends: list[str] = []
    colleagues: list[str] = []
    teachers: list[str] = []


class Specification(BaseModel):
    """A family file: `[[people]]` tables."""

    model_config = ConfigDict(extra="forbid")

    people: list[Person] = Field(min_length=2, max_length=200)


def load_specification(name_or_path: str, folder: Path = Path()) -> list[Person]:
    """The people of a built-in specification or of a TOML file, checked for contradictions.

    Raises:
        UsageError: missing or unreadable file, unknown field, unknown person, contradiction or cycle.
    """
    text = tables.family_specification(name_or_path)
    place = f"family '{name_or_path}'"
    if text is None:
        path = Path(name_or_path) if Path(name_or_path).is_absolute() else folder / name_or_path
        place = str(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{place}: the family file cannot be read ({error}); use 'paper', 'extended' or a TOML file of [[people]]."
            ) from None
    try:
        people = Specification.model_validate(tomllib.loads(text)).people
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place}: not a TOML file ({error}).") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            raise UsageError(f"{place}: {where}: unknown key; known here: {', '.join(Person.model_fields)}.") from None
        raise UsageError(f"{place}: {where}: {fault['msg']}.") from None
    check_people(people, place)
    return people


def check_people(people: list[Person], place: str) -> None:
    """Raise UsageError if the people contradict each other; one sentence names the two facts that cannot both be true."""
    by_name: dict[str, Person] = {}
    for person in people:
        if person.name in by_name:
            raise UsageError(f"{place}: two people are called '{person.name}'; give each a name of his own.")
        by_name[person.name] = person
    for person in people:
        roles = [("mother", person.mother, "female"), ("father", person.father, "male"), ("spouse", person.spouse, None),
                 ("stepmother", person.stepmother, "female"), ("stepfather", person.stepfather, "male")]  # fmt: skip
        roles += [
            (role, name, None)
            for role, names in (("friend", person.friends), ("colleague", person.colleagues), ("teacher", person.teachers))
            for name in names
        ]
        for role, name, gender in roles:
            if name is None:
                continue
            if name not in by_name:
                raise UsageError(
                    f"{place}: {person.name}'s {role} '{name}' is not among the people; add a [[people]] table for him or her."
                )
            if name == person.name:
                raise UsageError(f"{place}: {person.name} is named as his or her own {role}.")
            if gender and by_name[name].gender != gender:
                raise UsageError(f"{place}: {name} is {person.name}'s {role} but has gender '{by_name[name].gender}'.")
        for step, parent in (("stepmother", person.mother), ("stepfather", person.father)):
            if parent is not None and getattr(person, step) == parent:
                raise UsageError(f"{place}: {parent} is both parent and {step} of {person.name}.")
    _check_marriages(by_name, place)
    _check_ancestors(by_name, place)


def _check_marriages(by_name: dict[str, Person], place: str) -> None:
    """One spouse for each, whichever of the two says so, and no parent among them."""
    married: dict[str, str] = {}
    for person in by_name.values():
        for one, other in ((person.name, person.spouse), (person.spouse, person.name)) if person.spouse else ():
            if married.setdefault(one, other) != other:
                raise UsageError(f"{place}: {one} is married to {married[one]}, but also to {other}; leave one of them.")
    for name, spouse in married.items():
        if spouse in _parents(by_name[name]):
            raise UsageError(f"{place}: {spouse} is both parent and spouse of {name}.")


def _parents(person: Person) -> list[str]:
    return [name for name in (person.mother, person.father) if name]


def _check_ancestors(by_name: dict[str, Person], place: str) -> None:
    finished: set[str] = set()
    for name in by_name:
        trail: list[str] = []
        stack: list[tuple[str, bool]] = [(name, False)]
        while stack:
            at, leaving = stack.pop()
            if leaving:
                trail.pop()
                finished.add(at)
            elif at in trail:
                cycle = " -> ".join([*trail[trail.index(at) :], at])
                raise UsageError(f"{place}: {at} is his or her own ancestor ({cycle}); remove one of these parents.")
            elif at not in finished:
                trail.append(at)
                stack.append((at, True))
                stack.extend((parent, False) for parent in reversed(_parents(by_name[at])))


def kinship_triples(people: list[Person]) -> list[Triple]:
    """All facts between people, inverse relations included, in a fixed order (person by person)."""
    by_name = {person.name: person for person in people}
    spouse_of = {person.name: person.spouse for person in people if person.spouse}
    spouse_of.update({spouse: name for name, spouse in list(spouse_of.items())})
    found: dict[tuple[str, str, str], Triple] = {}

    def add(head: str, relation: str, tail: str) -> None:
        found.setdefault((head, relation, tail), Triple(head=head, relation=relation, tail=tail))

    for person in people:
        for role in ("mother", "father", "stepmother", "stepfather"):
            if getattr(person, role):
                add(person.name, role, getattr(person, role))
        if person.name in spouse_of:
            other = by_name[spouse_of[person.name]]
            add(person.name, "husband" if other.gender == "male" else "wife", other.name)
        for other in people:
            if person.name in _parents(other):
                add(person.name, "son" if other.gender == "male" else "daughter", other.name)
            if person.name in (other.stepmother, other.stepfather):
                add(person.name, "stepson" if other.gender == "male" else "stepdaughter", other.name)
            if other.name != person.name and _parents(person) and set(_parents(person)) & set(_parents(other)):
                add(person.name, "brother" if other.gender == "male" else "sister", other.name)
            for role, field in (("friend", "friends"), ("colleague", "colleagues")):
                if other.name in getattr(person, field) or person.name in getattr(other, field):
                    add(person.name, role, other.name)
        for teacher in person.teachers:
            add(person.name, "teacher", teacher)
    return list(found.values())


GROWTH = ("parents",) * 3 + ("sibling",) * 4 + ("spouse",) * 3 + ("child",) * 5 + ("step", "friend", "colleague", "teacher")
"""What may be added next; repeated words are likelier, so that kinship outweighs acquaintance."""


def seeded_people(size: int, seed: str) -> list[Person]:
    """A consistent family of `size` people: a couple and a child, then parents, siblings, spouses, children, step-parents,
    friends, colleagues and teachers in a seeded order.

    Names come from the package's table; the same seed gives the same family on any machine.
    """
    rng = random.Random(f"family/{seed}")
    names = list(tables.values("given_name"))
    rng.shuffle(names)
    female = set(tables.values("given_name_female"))
    pools = {"female": [n for n in names if n in female], "male": [n for n in names if n not in female]}
    people: list[Person] = []
    level: dict[str, int] = {}

    def new(gender: str | None, generation: int) -> Person:
        gender = gender or rng.choice(("female", "male"))
        if not pools[gender]:
            raise UsageError(f"family.people = {size}: the table of given names has no more {gender} names; ask for fewer people.")
        person = Person(name=pools[gender].pop(), gender="female" if gender == "female" else "male")
        people.append(person)
        level[person.name] = generation
        return person

    def marry(a: Person, b: Person) -> None:
        a.spouse, b.spouse = b.name, a.name

    def room(n: int) -> bool:
        return len(people) + n <= size

    mother, father = new("female", 1), new("male", 1)
    marry(mother, father)
    if room(1):
        child = new(None, 2)
        child.mother, child.father = mother.name, father.name
    while room(1):
        action = rng.choice(GROWTH)
        person = rng.choice(people)
        generation = level[person.name]
        if action == "parents" and room(2) and not _parents(person) and generation > -1:
            a, b = new("female", generation - 1), new("male", generation - 1)
            marry(a, b)
            person.mother, person.father = a.name, b.name
        elif action == "sibling" and person.mother and sum(p.mother == person.mother for p in people) < 3:
            sibling = new(None, generation)
            sibling.mother, sibling.father = person.mother, person.father
        elif action == "spouse" and not person.spouse and generation < 2:
            marry(person, new("male" if person.gender == "female" else "female", generation))
        elif action == "child" and person.spouse and generation < 3 and sum(person.name in _parents(p) for p in people) < 3:
            wife, husband = (person.name, person.spouse) if person.gender == "female" else (person.spouse, person.name)
            child = new(None, generation + 1)
            child.mother, child.father = wife, husband
        elif action == "step" and person.mother and person.father and not person.stepmother and len(people) > 5:
            former = next(p for p in people if p.name == person.mother)
            parent = next(p for p in people if p.name == person.father)
            if parent.spouse == former.name:
                former.spouse = None
                new_wife = new("female", level[parent.name])
                marry(parent, new_wife)
                for p in people:
                    if p.father == parent.name and p.mother == former.name:
                        p.stepmother = new_wife.name
        elif action == "friend" and not person.friends:
            person.friends.append(new(None, generation).name)
        elif action == "colleague" and generation in (0, 1) and not person.colleagues:
            person.colleagues.append(new(None, generation).name)
        elif action == "teacher" and generation >= 2 and not person.teachers:
            person.teachers.append(new(None, 1).name)
    check_people(people, f"family {seed}")
    return people
