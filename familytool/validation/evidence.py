"""Whether words that a judge quotes stand in what it was shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LEAST_LETTERS = 4
"""Letters and digits that a quote needs."""
SHORT = 12
"""A quote of fewer characters must be whole words, or nearly any text would hold it."""

_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("\u2010\u2011\u2012–—―−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\ufeff", ""),
    }
)
_ESCAPE = re.compile(r"\\([ntr\"\\/'])")
_EDGES = " '\"`.,;:!?()[]{}<>*_"


def occurs(evidence: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds the quote, whatever its case, white space, JSON escapes, and form of quotes and dashes.

    Quotes, brackets and marks around the quote do not count; an ellipsis within it does.

    >>> occurs("“My Brother’s  café”", ["Book a table at my brother's café."])
    True
    >>> occurs("he", ["the other"]), occurs("other", ["the others"])
    (False, False)
    """
    quote = _folded(evidence).strip(_EDGES)
    if sum(character.isalnum() for character in quote) < LEAST_LETTERS:
        return False
    folded = [_folded(text) for text in texts]
    if len(quote) < SHORT:
        return any(_holds_words(text, quote) for text in folded)
    close = quote.replace(" ", "")
    return any(quote in text or close in text.replace(" ", "") for text in folded)


def _folded(text: str) -> str:
    same = unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME).replace("&lt;", "<")
    plain = _ESCAPE.sub(lambda found: " " if found[1] in "ntr" else found[1], same)
    return " ".join(unicodedata.normalize("NFKC", plain.casefold()).split())


def _holds_words(text: str, quote: str) -> bool:
    at = text.find(quote)
    while at >= 0:
        if not text[max(0, at - 1) : at].isalnum() and not text[at + len(quote) : at + len(quote) + 1].isalnum():
            return True
        at = text.find(quote, at + 1)
    return False
