"""What kind of value a parameter takes, read from its name and description by this room's own words.

Nothing is shared with the rule that generation fills by, so that one can catch the other. The reading is broad on purpose:
a parameter may allow several kinds, and only a clear conflict (an airline for a hotel, a text for a date) is a finding.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from familytool.model import Json, Tool

PLACES = frozenset({"city", "area", "address", "airport", "station", "bus_stop", "hotel", "restaurant", "cinema", "attraction", "country",
                    "state", "shop", "school", "hospital", "museum", "room", "venue", "apartment"})  # fmt: skip
PRACTICES = frozenset({"dentist", "doctor", "therapist", "stylist"})
"""Whom one can be driven to."""
SHOPS = frozenset({"shop", "restaurant", "pharmacy"})

WORDS: tuple[tuple[str, str], ...] = (
    # kind, pattern over the words of a name ("pickup city"); all that match count
    ("email", r"\be ?mails?\b"),
    ("phone", r"\bphone|\btelephone|\bmobile\b|\bcontact number\b"),
    ("address", r"\baddress(?! book)|\bstreet\b"),
    ("airport", r"\bairports?\b"),
    ("airline", r"\bairlines?\b|\bcarrier\b"),
    ("hotel", r"\bhotel(?! (?:type|stars?|location))"),
    ("restaurant", r"\brestaurant(?! type)|\bdining place\b"),
    ("cuisine", r"\bcuisines?\b|\bfood\b"),
    ("dish", r"\bdish|\bmeals?\b|\brecipe|\bdessert|\bcake\b"),
    ("pizza", r"\bpizza(?! (?:store|topping|crust|size))"),
    ("topping", r"\btoppings?\b"),
    ("drink", r"\bdrinks?\b|\bcoffee(?! shop)|\btea\b|\bbeverage"),
    ("shop", r"\bstore\b(?! location)|\bshop\b(?! location)|\bbakery\b|\bsupermarket|\bflorist|\bpizzeria|\bcafe\b|\bbookshop|\bpharmacy\b|\bgarage\b"),
    ("cinema", r"\bcinema|\btheat(?:er|re)s?\b(?! play)"),
    ("movie", r"\bmovies?(?! (?:genre|type|theater))|\bfilms?\b(?! genre)"),
    ("genre", r"\bgenres?\b"),
    ("song", r"\bsongs?\b|\btracks?\b(?! number)"),
    ("artist", r"\bartists?\b|\bsinger|\bband\b"),
    ("album", r"\balbums?\b"),
    ("playlist", r"\bplaylists?\b"),
    ("book", r"\bbooks?\b(?! (?:genre|format))|\bnovel"),
    ("author", r"\bauthors?\b"),
    ("event", r"\bevents?\b(?! (?:type|date|time|location))|\bconcert(?! hall)"),
    ("attraction", r"\battractions?(?! type)|\bsight(?:s|seeing)?\b|\blandmark"),
    ("city", r"\bcity\b|\bcities\b|\btown\b|\bcity_of|\bresidence\b"),
    ("country", r"\bcountr(?:y|ies)\b"),
    ("area", r"\barea\b|\bneighbou?rhood|\bdistrict"),
    ("station", r"\bstations?\b(?<!radio station)"),
    ("account", r"\baccounts?(?: number)?$|\biban\b"),
    ("account_type", r"\baccount type\b"),
    ("plate", r"\bplates?\b"),
    ("dentist", r"\bdentists?\b"),
    ("doctor", r"\bdoctors?\b|\bphysician"),
    ("therapist", r"\btherapists?\b"),
    ("stylist", r"\bstylists?\b|\bhairdresser|\bbarber"),
    ("person", r"\bcontact(?: name)?$|\breceivers?\b|\brecipients?\b|\bfriends?\b|\bneighbou?r$|\bcolleague|\blandlord|\bcustomer\b|\bpatient\b"),
    ("room", r"\brooms?$|\bbedrooms?$"),
    ("door", r"\bdoors?\b"),
    ("language", r"\blanguages?\b|\bsubtitles?\b"),
    ("sport", r"\bsports?\b(?! (?:team|club))"),
    ("school", r"\bschools?\b|\bkindergarten"),
    ("date", r"\bdates?\b|\bbirthdays?\b|\banniversary\b|\bday off\b|\bday$"),
    ("time", r"\btimes?\b(?! range)|\bhours?$|\bbedtime\b"),
    ("count", r"\bnumber of\b|\bparty size\b|\bgroup size\b|\bpassengers?\b|\badults?\b|\bguests?\b|\bpeople\b|\btravell?ers\b|\bquantity\b|\bcopies\b"),
    ("money", r"\bamounts?\b|\bprice\b(?! range)|\bbudget\b|\bfare\b(?! type)"),
)  # fmt: skip
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in WORDS)
GENERIC = re.compile(r"\b(?:location|place|destination|origin|from|to|departure|arrival|pickup|dropoff|where|loc|poi)\b")

COMPATIBLE: dict[str, frozenset[str]] = {
    "city": PLACES, "area": PLACES, "address": PLACES, "station": PLACES, "airport": PLACES, "country": PLACES,
    "shop": SHOPS | {"restaurant", "brand", "hotel"}, "cinema": frozenset({"venue", "attraction"}),
    "attraction": PLACES, "dish": frozenset({"cuisine", "pizza", "topping", "drink"}), "drink": frozenset({"dish"}),
    "cuisine": frozenset({"dish", "restaurant_type"}), "pizza": frozenset({"dish"}), "topping": frozenset({"dish"}),
    "person": frozenset({"dentist", "doctor", "therapist", "stylist", "artist", "author"}), "artist": frozenset({"person", "album"}),
    "doctor": frozenset({"dentist", "therapist", "person"}), "dentist": frozenset({"doctor", "person"}),
    "therapist": frozenset({"doctor", "person"}), "author": frozenset({"person", "book"}), "book": frozenset({"author"}),
    "event": frozenset({"movie", "artist", "attraction", "sport", "venue", "cinema"}), "song": frozenset({"artist", "album", "playlist"}),
    "album": frozenset({"artist", "song"}), "restaurant": frozenset({"shop", "hotel"}), "hotel": frozenset({"restaurant"}),
    "room": frozenset({"door", "area"}), "movie": frozenset({"event", "cinema"}), "room_": frozenset(),
}  # fmt: skip
"""For a wanted kind, further kinds that a careful reader lets pass."""

_MONTH = re.compile(
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|day|week|month|tomorrow|tonight|today|soon|next|year|morning|afternoon|evening|night",
    re.I,
)
_CLOCK = re.compile(
    r"[0-9]{1,2}(?::[0-9]{2})?|noon|midnight|morning|afternoon|evening|night|o'clock|half|quarter|hour|minute|now|soon|before|after", re.I
)
_COUNT = re.compile(r"[0-9]|one|two|three|four|five|six|seven|eight|nine|ten|couple|few|single|double|alone|dontcare", re.I)

_HOW_MANY = re.compile(
    r"[0-9]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|couple|few|several|single|double|both|pair|dozen|hundred|thousand"
    r"|alone|myself|us|we|our|me and|and me|and i|family|everyone|everybody|another)\b",
    re.I,
)


def speaks_of_kind(kind: str, text: str) -> bool:
    """Whether a text has any word from which a date, a time, a count, an amount or an address could come; read broadly.

    >>> speaks_of_kind("date", "Book me a cab to the station"), speaks_of_kind("count", "a cab for my mother and me")
    (False, True)
    """
    if kind == "email":
        return "@" in text
    if kind == "date":
        return re.search("[0-9]", text) is not None or _MONTH.search(text) is not None
    return (_CLOCK if kind == "time" else _HOW_MANY).search(text) is not None


def words_of(name: str) -> str:
    """A name as lower-case words: `pickupCity` and `pickup_city` give "pickup city"."""
    return " ".join(re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()))


@lru_cache(maxsize=8192)
def _kinds(text: str) -> frozenset[str]:
    return frozenset(kind for kind, pattern in _COMPILED if pattern.search(text))


def kinds_of_parameter(tool: Tool, name: str, schema: dict[str, Any]) -> frozenset[str]:
    """The kinds that a parameter may take; empty where its words say nothing clear.

    The name decides; where it is silent ("name", "location") the description's first words do, and a place is a place.
    """
    if "enum" in schema or schema.get("type") in ("boolean", "object"):
        return frozenset()
    items = schema.get("items")
    leaf = items if isinstance(items, dict) else schema
    by_format = {"date": "date", "HH:MM": "time", "time": "time", "email": "email"}.get(str(leaf.get("format")))
    if by_format:
        return frozenset({by_format})
    words = words_of(name)
    first, _, second = words.partition(" ")
    turned = (
        f"{second} {first}"
        if first in ("name", "type", "size", "date", "time", "number", "location") and second and " " not in second and second != "range"
        else words
    )
    found = _kinds(turned)
    if re.search(
        r"\b(?:id|type|types|format|info|information|fees?|status|record|category|service|services|preference|reason|size|class|number|label|order)$",
        turned,
    ) and not found & {"phone", "account", "count"}:
        return frozenset({"account_type"}) & found
    if not found and GENERIC.search(words):
        return PLACES
    if not found and words in ("name", "title", "customer"):
        return frozenset()
    if not found:
        description = schema.get("description", "")
        return _described(description if isinstance(description, str) else "")
    if "count" in found and leaf.get("type") == "string" and not re.search(r"number of|size|how many", turned):
        return frozenset()
    if found & {"date", "time", "count", "money"}:
        rank = [kind for kind in ("count", "date", "time", "money") if kind in found]
        return frozenset(rank[:1]) if "of day" not in turned else frozenset({"time"})
    return found


@lru_cache(maxsize=4096)
def _described(description: str) -> frozenset[str]:
    clause = re.split(r"[.,;(]| where | that | which | for | from | to | in ", description.lower())[0]
    found = frozenset() if "range" in clause else _kinds(clause.strip())
    return found if len(found) == 1 and found <= {"date", "time", "city", "airline", "email", "phone", "hotel", "movie"} else frozenset()


@lru_cache(maxsize=4096)
def kinds_of_relation(relation: str) -> frozenset[str]:
    """The kinds that a relation's name says its values are: `prefer_airline` gives airline; empty where it says nothing."""
    words = words_of(relation)
    words = re.sub(r"^(?:prefer|preferred|favou?rite|usual|next|home|work|birth)\b ?", "", words)
    if words in KINSHIP or re.fullmatch(r"best friend|neighbou?r|closest colleague|landlord", words):
        return frozenset({"person"})
    if re.search(r"\b(?:type|genre|class|format|size|sound|label|company|library|card|service|topping|crust)\b", words):
        return _kinds(words) & {"genre", "account_type", "topping"}
    return _kinds(words) or (frozenset({"address"}) if words == "" else frozenset())


KINSHIP = frozenset(
    [
        "mother",
        "father",
        "son",
        "daughter",
        "husband",
        "wife",
        "brother",
        "sister",
        "stepmother",
        "stepfather",
        "stepson",
        "stepdaughter",
        "friend",
        "colleague",
        "teacher",
    ]
)


def kind_conflict(wanted: frozenset[str], given: frozenset[str], value: Json, stated: bool) -> str:
    """A sentence part naming the conflict ("a hotel, not an airline"), or "" where there is none or none is clear."""
    if not wanted:
        return ""
    if given:
        allowed = (PRACTICES if wanted == PLACES else frozenset()).union(wanted, *(COMPATIBLE.get(kind, frozenset()) for kind in wanted))
        if not given & allowed and "genre" not in given:
            return f"{_named(wanted)}, not {_named(given)}"
        return ""
    if not stated:
        return ""
    texts = [str(v) for v in (value if isinstance(value, list) else [value]) if not isinstance(v, bool)]
    for text in texts:
        if re.fullmatch(r"[a-z_]+_[0-9]{4}", text) or text == "dontcare":
            continue
        if "email" in wanted and wanted == {"email"} and "@" not in text:
            return f"an e-mail address, not {text!r}"
        if wanted == {"phone"} and sum(c.isdigit() for c in text) < 3:
            return f"a phone number, not {text!r}"
        if wanted == {"date"} and not re.search(r"[0-9]", text) and not _MONTH.search(text):
            return f"a date, not {text!r}"
        if wanted == {"time"} and not _CLOCK.search(text):
            return f"a time, not {text!r}"
        if wanted == {"count"} and not _COUNT.search(text):
            return f"a number, not {text!r}"
        if wanted == {"money"} and not re.search(r"[0-9]", text) and not _COUNT.search(text):
            return f"an amount, not {text!r}"
        shaped = _shape(text)
        if shaped and not wanted & {shaped, "date", "time", "count", "money", "phone", "account", "plate"} and len(wanted) == 1:
            return f"{_named(wanted)}, not {text!r}"
    return ""


def _shape(text: str) -> str:
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return "date"
    if re.fullmatch(r"[0-9]{1,2}:[0-9]{2}", text):
        return "time"
    return "email" if re.fullmatch(r"[^@\s]+@[^@\s]+", text) else ""


def _named(kinds: frozenset[str]) -> str:
    return "a place" if kinds == PLACES else " or ".join("a " + kind.replace("_", " ") for kind in sorted(kinds))
