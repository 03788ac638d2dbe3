from pathlib import Path

import networkx
import pytest

from familytool.catalogue import tables
from familytool.errors import UsageError
from familytool.generation.families import Person, check_people, kinship_triples, load_specification, seeded_people
from familytool.kinship import INVERSES
from familytool.model import Triple

SIZES = range(2, 41)
SEEDS = range(5)
FEMALE = {"mother", "daughter", "wife", "sister", "stepmother", "stepdaughter"}
MALE = {"father", "son", "husband", "brother", "stepfather", "stepson"}


def family(size: int) -> list[tuple[list[Person], list[Triple]]]:
    return [(people, kinship_triples(people)) for seed in SEEDS for people in [seeded_people(size, f"{size}-{seed}")]]


def one_sided(triples: list[Triple]) -> list[Triple]:
    """The facts to which none of their inverses leads back."""
    known = {(t.head, t.relation, t.tail) for t in triples}
    return [t for t in triples if INVERSES[t.relation] and not any((t.tail, back, t.head) in known for back in INVERSES[t.relation])]


@pytest.mark.parametrize("size", SIZES)
def test_a_seeded_family_has_the_size_asked_for_and_distinct_names(size: int) -> None:
    for people, _ in family(size):
        assert len({p.name for p in people}) == len(people) == size


@pytest.mark.parametrize("size", SIZES)
def test_inverse_relations_agree_in_both_directions(size: int) -> None:
    for _, triples in family(size):
        assert one_sided(triples) == []


@pytest.mark.parametrize("size", SIZES)
def test_nobody_is_an_own_ancestor_and_nobody_is_related_to_himself(size: int) -> None:
    for _, triples in family(size):
        ancestry = networkx.DiGraph((t.head, t.tail) for t in triples if t.relation in ("mother", "father"))
        descent = networkx.DiGraph((t.tail, t.head) for t in triples if t.relation in ("son", "daughter"))
        assert networkx.is_directed_acyclic_graph(ancestry)
        assert set(ancestry.edges) == set(descent.edges)
        assert all(t.head != t.tail for t in triples)


@pytest.mark.parametrize("size", SIZES)
def test_a_relation_fits_the_gender_of_its_tail_and_occurs_once(size: int) -> None:
    for people, triples in family(size):
        gender = {p.name: p.gender for p in people}
        assert all(gender[t.tail] == "female" for t in triples if t.relation in FEMALE)
        assert all(gender[t.tail] == "male" for t in triples if t.relation in MALE)
        assert len(set(triples)) == len(triples)


@pytest.mark.parametrize("size", SIZES)
def test_everybody_has_at_most_one_mother_father_and_spouse(size: int) -> None:
    for people, triples in family(size):
        for person in people:
            for relations in ({"mother"}, {"father"}, {"husband", "wife"}):
                assert sum(t.head == person.name and t.relation in relations for t in triples) <= 1


@pytest.mark.parametrize("size", SIZES)
def test_everybody_is_connected_with_everybody(size: int) -> None:
    for people, triples in family(size):
        graph = networkx.Graph((t.head, t.tail) for t in triples)
        assert set(graph) == {p.name for p in people}
        assert networkx.is_connected(graph)


def test_a_seed_gives_the_same_family_every_time_and_another_seed_another() -> None:
    assert seeded_people(12, "a") == seeded_people(12, "a")
    assert seeded_people(12, "a") != seeded_people(12, "b")


def test_all_kinds_of_relation_occur_among_seeded_families() -> None:
    seen = {t.relation for size in (10, 20, 40) for _, triples in family(size) for t in triples}
    assert seen >= set(INVERSES) - {"stepfather"}


def test_a_family_larger_than_the_table_of_names_is_refused() -> None:
    with pytest.raises(UsageError, match="ask for fewer people"):
        seeded_people(len(tables.values("given_name")) + 1, "large")


SPECIFICATIONS = {
    "paper": {"Bob", "Jack", "Alice"},
    "extended": {"Bob", "Jack", "Alice", "Charles", "Elizabeth", "Margaret", "Mr. Smith", "William"},
}


@pytest.mark.parametrize(("name", "people"), SPECIFICATIONS.items(), ids=SPECIFICATIONS.keys())
def test_a_built_in_specification_loads_and_agrees_in_both_directions(name: str, people: set[str]) -> None:
    loaded = load_specification(name)
    assert {p.name for p in loaded} == people
    assert one_sided(kinship_triples(loaded)) == []


def test_the_papers_three_people_have_its_five_kinship_relations() -> None:
    triples = kinship_triples(load_specification("paper"))
    assert {t.relation for t in triples} == {"mother", "father", "son", "husband", "wife"}
    assert Triple(head="Bob", relation="mother", tail="Alice") in triples


def test_a_spouse_said_on_one_side_holds_on_both() -> None:
    people = [Person(name="Ann", gender="female", spouse="Bob"), Person(name="Bob", gender="male")]
    check_people(people, "here")
    assert {(t.head, t.relation, t.tail) for t in kinship_triples(people)} == {("Ann", "husband", "Bob"), ("Bob", "wife", "Ann")}


def woman(name: str, **relatives: object) -> Person:
    return Person.model_validate({"name": name, "gender": "female", **relatives})


def man(name: str, **relatives: object) -> Person:
    return Person.model_validate({"name": name, "gender": "male", **relatives})


CONTRADICTIONS = {
    "cycle of two": ([woman("Ann", mother="Eve"), woman("Eve", mother="Ann")], "own ancestor (Ann -> Eve -> Ann)"),
    "cycle of three": ([woman("A", mother="B"), woman("B", father="C"), man("C", mother="A")], "own ancestor"),
    "cycle off the first person": ([man("X"), woman("A", mother="B"), woman("B", mother="A")], "own ancestor"),
    "mother is male": ([woman("Ann", mother="Bob"), man("Bob")], "Bob is Ann's mother but has gender 'male'"),
    "father is female": ([woman("Ann", father="Eve"), woman("Eve")], "Eve is Ann's father but has gender 'female'"),
    "stepmother is male": ([woman("Ann", stepmother="Bob"), man("Bob")], "Bob is Ann's stepmother but has gender 'male'"),
    "unknown mother": ([woman("Ann", mother="Eve"), man("Bob")], "Ann's mother 'Eve' is not among the people"),
    "unknown friend": ([woman("Ann", friends=["Zed"]), man("Bob")], "Ann's friend 'Zed' is not among the people"),
    "double name": ([woman("Ann"), man("Ann")], "two people are called 'Ann'"),
    "spouses disagree": (
        [woman("Ann", spouse="Bob"), man("Bob", spouse="Eve"), woman("Eve", spouse="Bob")],
        "Bob is married to Ann, but also to Eve",
    ),
    "two claim one spouse": (
        [woman("Ann", spouse="Bob"), man("Bob"), woman("Eve", spouse="Bob")],
        "Bob is married to Ann, but also to Eve",
    ),
    "own mother": ([woman("Ann", mother="Ann"), man("Bob")], "Ann is named as his or her own mother"),
    "own spouse": ([woman("Ann", spouse="Ann"), man("Bob")], "Ann is named as his or her own spouse"),
    "own friend": ([woman("Ann", friends=["Ann"]), man("Bob")], "Ann is named as his or her own friend"),
    "mother and stepmother": ([man("Bob", mother="Eve", stepmother="Eve"), woman("Eve")], "both parent and stepmother of Bob"),
    "mother and wife": ([man("Bob", mother="Eve", spouse="Eve"), woman("Eve")], "both parent and spouse of Bob"),
    "mother and wife, said by her": ([man("Bob", mother="Eve"), woman("Eve", spouse="Bob")], "both parent and spouse of Bob"),
}


@pytest.mark.parametrize(("people", "sentence"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_a_contradiction_is_a_usage_error_with_a_sentence(people: list[Person], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_people(people, "family.toml")
    message = str(caught.value)
    assert sentence in message
    assert message.startswith("family.toml: ")
    assert message.endswith(".")


FILES = {
    "unknown field": ('[[people]]\nname = "A"\ngender = "male"\nuncle = "B"\n[[people]]\nname = "B"\ngender = "male"\n', "people.0.uncle"),
    "unknown gender": ('[[people]]\nname = "A"\ngender = "cat"\n[[people]]\nname = "B"\ngender = "male"\n', "people.0.gender"),
    "one person": ('[[people]]\nname = "A"\ngender = "male"\n', "people"),
    "no name": ('[[people]]\ngender = "male"\n[[people]]\nname = "B"\ngender = "male"\n', "people.0.name"),
    "not TOML": ("[[people", "not a TOML file"),
    "empty": ("", "people"),
}


@pytest.mark.parametrize(("text", "sentence"), FILES.values(), ids=FILES.keys())
def test_a_family_file_at_fault_is_answered_with_file_and_field(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "family.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_specification("family.toml", tmp_path)
    assert sentence in str(caught.value)
    assert str(tmp_path / "family.toml") in str(caught.value)


def test_a_family_file_beside_the_campaign_is_read(tmp_path: Path) -> None:
    text = '[[people]]\nname = "Zoë"\ngender = "female"\n[[people]]\nname = "Bo"\ngender = "male"\nmother = "Zoë"\n'
    (tmp_path / "family.toml").write_text(text, encoding="utf-8")
    assert [p.name for p in load_specification("family.toml", tmp_path)] == ["Zoë", "Bo"]


def test_a_family_that_does_not_exist_is_answered_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'paper', 'extended' or a TOML file"):
        load_specification("papr", tmp_path)
