import pytest

from familytool.graph import KnowledgeGraph
from familytool.model import RelationPath, Sample, Triple
from familytool.validation.intent import KinshipRecall, check_intent, kinship_recall
from familytool.validation.relatives import judge_kinship, needed_persons
from tests.validation.family import FAMILY, asked, chain

CAFE = "prefer_cafe"
JUDGED: dict[str, tuple[Sample, str]] = {
    "mother": (asked("Find my mother's favourite cafe", "mother", CAFE), "agree"),
    "mom without my": (asked("Find the cafe Mom likes", "mother", CAFE), "agree"),
    "mom, who owns": (asked("Find mom's favourite cafe", "mother", CAFE), "agree"),
    "by name": (asked("Find the cafe Vera likes", "mother", CAFE), "agree"),
    "by a part of the name": (asked("Find the cafe Berg likes", "son", "teacher", CAFE), "agree"),
    "in-law": (asked("Find my mother-in-law's favourite cafe", "husband", "mother", CAFE), "agree"),
    "paternal": (asked("My paternal grandfather's cafe", "father", "father", CAFE, speaker="Tim"), "agree"),
    "maternal": (asked("My grandpa on Mum's side and his cafe", "mother", "father", CAFE, speaker="Tim"), "agree"),
    "our": (asked("A table for our son's cafe", "son", CAFE), "agree"),
    "of": (asked("The cafe that the mother of my husband likes", "husband", "mother", CAFE), "agree"),
    "his": (asked("Something for my son at the cafe that his teacher likes", "son", "teacher", CAFE), "agree"),
    "a paraphrase": (asked("My paternal grandmother's husband's cafe", "father", "father", CAFE, speaker="Tim"), "agree"),
    "a spouse who is concluded": (asked("The cafe of my mother-in-law's husband", "husband", "father", CAFE), "agree"),
    "for somebody else": (asked("For my father, find my mother's cafe", "mother", CAFE), "agree"),
    "one's own cafe for somebody": (asked("Take my mother to my favourite cafe", CAFE), "none"),
    "one's own cafe": (asked("Find my favourite cafe", CAFE), "none"),
    "with a slip of the pen": (asked("Find my mohter's cafe", "mother", CAFE), "agree"),
    "without apostrophe": (asked("Find my moms favourite cafe", "mother", CAFE), "agree"),
    "the late": (asked("Find my dear mother's cafe", "mother", CAFE), "agree"),
    "a parent's cafe among both": (asked("For my parents: find the cafe dad likes", "father", CAFE), "agree"),
    "father for mother": (asked("Find my father's favourite cafe", "mother", CAFE), "contradict"),
    "dad for mother": (asked("Find dad's favourite cafe", "mother", CAFE), "contradict"),
    "nobody is named": (asked("Find my favourite cafe", "mother", CAFE), "contradict"),
    "one's own and mom's": (asked("Find mom's favourite cafe", CAFE), "contradict"),
    "somebody whom nobody has": (asked("Find my daughter's favourite cafe", "son", CAFE), "contradict"),
    "one step too few": (asked("Find my husband's mother's son's cafe", "husband", "mother", CAFE), "contradict"),
    "one step too many": (asked("Find my husband's father's wife's cafe", "husband", "father", CAFE), "contradict"),
    "another way to the same person": (asked("A cafe for my son, his grandmother's, I mean his maternal grandmother's", "mother", CAFE), "contradict"),
    "another way along facts": (asked("The cafe of my father's wife", "mother", CAFE, speaker="Tim"), "contradict"),
    "the argument is somebody of no chain": (
        asked("Tell my husband of my mother's cafe", "mother", CAFE, arguments={"contact": "Piet"}), "contradict",
    ),
    "back to the speaker": (asked("Find my husband's cafe", "wife", CAFE, start="Piet"), "contradict"),
    "somebody, but who": (asked("Find my old flame's favourite cafe", "mother", CAFE), "unknown"),
    "she, but who": (asked("Find the cafe she likes", "mother", CAFE), "unknown"),
    "her, but whose": (asked("Find her husband's cafe", "mother", CAFE), "unknown"),
    "a friend of no fact": (asked("Find my neighbour's cafe", "mother", CAFE), "unknown"),
    "which brother": (asked("Find my older brother's cafe", "brother", CAFE), "unknown"),
    "no speaker": (asked("Find my father's cafe", "mother", CAFE).model_copy(update={"speaker": ""}), "none"),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "expected"), JUDGED.values(), ids=JUDGED.keys())
def test_the_words_agree_with_the_golden_chain_contradict_it_or_do_not_tell(sample: Sample, expected: str) -> None:
    found = judge_kinship(sample, FAMILY)
    assert found.agreement == expected, found
    assert [f.code for f in found.findings if f.code != "wrong_speaker"] == (
        [] if expected != "contradict" else ["kinship_mismatch"] * len([f for f in found.findings if f.code != "wrong_speaker"])
    )
    assert bool(found.findings) == (expected == "contradict")
    assert all(f.path.startswith("/") and f.message for f in found.findings)


def test_agreement_passes_contradiction_fails_and_a_word_that_nobody_knows_is_unknown() -> None:
    verdicts = {name: check_intent(sample, FAMILY).verdict for name, (sample, _) in JUDGED.items()}
    assert verdicts["mother"] == "pass"
    assert verdicts["father for mother"] == "fail"
    assert verdicts["somebody, but who"] == "unknown"


def test_one_of_two_brothers_is_an_ambiguous_answer() -> None:
    found = judge_kinship(asked("Find my brother's cafe", "brother", CAFE), FAMILY)
    assert [(f.code, f.path) for f in found.findings] == [("ambiguous_answer", "/query/5")]
    assert found.agreement == "unknown"


def test_a_golden_chain_may_be_cut_where_another_one_passes() -> None:
    paths = (RelationPath(start="Nora", relations=("mother", CAFE)), RelationPath(start="Vera", relations=("husband", CAFE)))
    triples = (*chain("Nora", "mother", CAFE), *chain("Vera", "husband", CAFE))
    sample = asked("My mother's cafe, or my mother's husband's", "mother", CAFE).model_copy(
        update={"golden_paths": paths, "golden_triples": triples}
    )
    assert needed_persons(sample) == {"Vera": ("mother",), "Otto": ("mother", "husband")}
    assert judge_kinship(sample, FAMILY).agreement == "agree"


def test_a_chain_that_hangs_in_the_air_needs_its_start() -> None:
    sample = asked("My father-in-law's cafe", CAFE, start="Hugo")
    assert needed_persons(sample) == {"Hugo": None}
    assert judge_kinship(sample, FAMILY).agreement == "agree"


SPEAKERS = {
    "the words fit another speaker": (asked("Find my wife's favourite cafe", "husband", CAFE, speaker="Otto", start="Vera"), ""),
    "kinship of another": (asked("Find my husband's favourite cafe", "father", CAFE, speaker="Tim"), "Nora"),
    "this is": (asked("This is Piet, find my mother's favourite cafe.", "mother", CAFE), "Piet"),
    "I'm": (asked("Hi, I’m Tim! Find my mother's favourite cafe.", "mother", CAFE), "Tim"),
    "this is somebody's": (asked("This is Piet's idea: find my mother's cafe.", "mother", CAFE), ""),
    "I'm, and it is true": (asked("I'm Nora, find my mother's cafe.", "mother", CAFE), ""),
}


@pytest.mark.parametrize(("sample", "speaks"), SPEAKERS.values(), ids=SPEAKERS.keys())
def test_a_speaker_whose_words_are_those_of_somebody_else_is_wrong(sample: Sample, speaks: str) -> None:
    found = [f for f in check_intent(sample, FAMILY).findings if f.code == "wrong_speaker"]
    assert [(f.path, f.hint) for f in found] == ([("/speaker", speaks)] if speaks else [])


def test_without_a_graph_the_golden_triples_stand_for_it_and_nobody_is_missed() -> None:
    empty = KnowledgeGraph()
    assert judge_kinship(JUDGED["mother"][0], empty).agreement == "agree"
    assert judge_kinship(JUDGED["father for mother"][0], empty).agreement == "contradict"
    assert judge_kinship(JUDGED["for somebody else"][0], empty).agreement == "agree"


def test_recall_counts_the_samples_that_turn_on_a_relative() -> None:
    samples = [sample for sample, _ in JUDGED.values()]
    found = kinship_recall(samples, FAMILY)
    turning = [sample for sample in samples if any(t.relation not in (CAFE,) for t in sample.golden_triples)]
    assert found["samples"] == len(turning) == found["agree"] + found["contradict"] + found["silent"]
    assert found["named"] == 2
    assert found["recall"] == found["mentioned"] / found["samples"]
    recall = KinshipRecall()
    for sample in samples:
        recall.add(sample, FAMILY)
    assert recall.as_json() == found


def test_the_recall_of_no_samples_is_null() -> None:
    """val-031: nothing was checked, so there is no share."""
    assert kinship_recall([], FAMILY) == {
        "samples": 0, "mentioned": 0, "named": 0, "recall": None, "agree": 0, "contradict": 0, "silent": 0,
    }  # fmt: skip


def test_a_family_with_a_thousand_friends_each_is_read_in_time() -> None:
    people = [f"P{n}" for n in range(100)]
    graph = KnowledgeGraph([Triple(head=a, relation="friend", tail=b) for a in people for b in people if a != b])
    sample = asked("Find my friend's friend's friend's friend's friend's cafe", "mother", CAFE).model_copy(update={"speaker": "P1"})
    assert judge_kinship(sample, graph).agreement == "contradict"
