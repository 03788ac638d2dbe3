"""What each finding's code means, in a sentence for reports; the names are those of `findings.jsonl` and `--fail-on`."""

from __future__ import annotations

CODES: dict[str, str] = {
    "parse_error": "The text of a call, or the form of a sample, cannot be read.",
    "duplicate_key": "A JSON object of a call has the same key twice.",
    "truncated": "The text of a call is cut off.",
    "missing_required": "A required argument is not given.",
    "unknown_parameter": "An argument is given that the tool's document does not declare.",
    "type_mismatch": "An argument is of another JSON type than its document says (text for a number, text for a list).",
    "not_in_enum": "An argument is not among the values that its document lists.",
    "format_mismatch": "An argument is not of the declared format (HH:MM, date, e-mail address).",
    "pattern_mismatch": "An argument does not match the declared pattern.",
    "item_mismatch": "An item of a list, or an argument with several allowed schemas, fits none of them.",
    "out_of_range": "A number, a length or a count is outside the declared limits.",
    "broken_reference": "An argument refers to a result that no earlier call gives.",
    "ungrounded_value": "An argument stands neither in the query, nor in the golden facts, nor in the tool's document.",
    "kinship_mismatch": "The relative that the query names is not the one to whom the golden chain leads.",
    "unused_value": "A value that the query states, or a golden fact, is used by no argument.",
    "wrong_speaker": "A golden chain does not start at the speaker.",
    "answer_leaked": "The value that had to be found in the graph stands in the query.",
    "wrong_entity": "An argument is another entity than the one its path leads to, or of a kind the parameter does not take.",
    "tool_not_offered": "The golden call is of a tool that is not among the candidates.",
    "triple_not_in_graph": "A golden triple or path is not in the knowledge graph.",
    "disconnected_golden": "A golden triple is on no chain that starts at the speaker.",
    "ambiguous_answer": "The query or the path allows several answers.",
    "several_tools_fit": "Another candidate tool would serve the request too.",
    "duplicate_sample": "The same speaker asks the same in another sample.",
    "followed_injection": "The golden call does what a text inside a document or the graph orders, and nobody asked for.",
    "inverse_conflict": "Two facts of the graph contradict each other (a wife who is also the mother).",
    "ancestor_cycle": "Somebody in the graph is their own ancestor.",
    "name_anomaly": "A name in the graph is unlike the other values of its relation.",
    "golden_not_given": "The set says that a call is right, and does not give it (it cannot be checked, and is no defect).",
    "undecided_value": "Rules cannot tell whether the query gives this value in other words (a verdict left open, and no defect).",
    "undecided_wording": "Rules do not know the words with which the query names a person or a fact (left open, and no defect).",
    "undecided_call": "The call cannot be checked: its schema, a hole, the graph or the golden call is not given (left open, and no defect).",
    "unused_edge": "A fact of the graph that no golden chain needs (a distractor, not a defect).",
    "judged_invalid": "A model says that the query is no clear request.",
    "judged_mismatch": "A model says that the query does not ask for exactly these calls.",
    "judged_infeasible": "A model says that the calls are not the only right answer.",
    "evidence_not_found": "The judge quotes words that it was not shown, so its verdict is unknown.",
    "unparsed_verdict": "The judge's answer has no verdict that can be read.",
    "judge_undecided": "The judge cannot tell, or no verdict has more than half of the votes.",
    "model_refused": "A model refused to answer.",
    "model_empty": "A model answered with nothing.",
    "model_cut": "A model's answer was cut at its output limit.",
    "legal_by_default": "An argument breaks its schema and is legal all the same, as the document's own default or null (no defect).",
}
"""Code -> meaning. A check of a campaign's own may add codes that are not here."""

UNDECIDED = frozenset({"golden_not_given", "undecided_value", "undecided_wording", "undecided_call"})
"""Codes that say why a verdict is "unknown"."""

HARMLESS = frozenset({"unused_edge", "legal_by_default"}) | UNDECIDED
"""Codes that are told and fail nothing."""
