"""Two grammars in which one word's number must fit another's: subject and verb, antecedent and reflexive pronoun.

The structures are those of Marvin & Linzen (2018); the words are our own. Between the two words may stand a noun whose
number is free (the *attractor*). A rule is about one word alone, as in Lepori et al. (2023): "the subject is singular",
"the verb is singular"; so what breaks both is grammatical again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from recombine.space import FactorSpace, categorical
from recombine.tasks.odd_one_out.grammar import Grammar, Slot, listed

NUMBERS = ("singular", "plural")
PEOPLE = ("baker", "doctor", "singer", "lawyer", "gardener", "painter", "sailor", "student", "actor", "neighbour")
OTHERS = ("dancer", "soldier", "cook", "cousin", "tailor", "nurse", "guest", "miner", "poet", "clerk")
"""Those who stand between the subject and its verb."""
THINGS = ("letter", "bridge", "garden", "song", "machine", "picture", "kettle", "lantern", "road")
BETWEEN = ("near", "behind", "beside", "above", "below", "opposite")
DEEDS = ("like", "know", "help", "follow")
"""What is done within a relative clause."""
PHRASES = {
    "laughs": "laugh", "waits": "wait", "is tired": "are tired", "has a plan": "have a plan",
    "walks to work": "walk to work", "sings at night": "sing at night", "was late": "were late",
}  # fmt: skip
"""What people do, for one and for several."""
STATES = {
    "falls": "fall", "is old": "are old", "looks new": "look new", "costs little": "cost little",
    "has a name": "have a name", "was lost": "were lost", "stays here": "stay here",
}  # fmt: skip
"""What things do."""
PAST = ("hurt", "blamed", "praised", "washed", "trusted", "surprised", "drew")

SIMPLE, PREPOSITION, OBJECT, BARE, SUBJECT = AGREEMENT = (
    "simple", "preposition", "object relative", "object relative, bare", "subject relative",
)  # fmt: skip
ANAPHORA = (SIMPLE, OBJECT, BARE)
FRAME = ("structure", "noun", "phrase", "link", "attractor", "attractor_number")

Choice = dict[str, Sequence[str] | None]


@cache
def agreement() -> Grammar:
    """Subject and verb: "the bakers near the dancer laugh"."""
    space = FactorSpace(
        (
            categorical("structure", AGREEMENT),
            categorical("noun", (*PEOPLE, *THINGS)),
            categorical("phrase", (*PHRASES, *STATES)),
            categorical("link", (*BETWEEN, *DEEDS)),
            categorical("attractor", OTHERS),
            categorical("attractor_number", NUMBERS),
            categorical("subject_number", NUMBERS),
            categorical("verb_number", NUMBERS),
        )
    )
    numbers: Choice = {"subject_number": None, "verb_number": None}
    free: Choice = {"attractor": None, "attractor_number": None, **numbers}
    people: Choice = {"noun": PEOPLE, "phrase": tuple(PHRASES)}
    allowed: list[Choice] = []
    for about in (people, Choice({"noun": THINGS, "phrase": tuple(STATES)})):
        allowed.append({"structure": (SIMPLE,), **about, **numbers})
        allowed.append({"structure": (PREPOSITION,), **about, **free, "link": BETWEEN})
        allowed.append({"structure": (OBJECT, BARE), **about, **free, "link": DEEDS})
    # Only people do something to others.
    allowed.append({"structure": (SUBJECT,), **people, **free, "link": DEEDS})
    slots = _subject_slots("subject_number", Slot(("phrase", "verb_number"), _predicate))
    return Grammar(space, listed(space, allowed), slots, {"subject": "subject_number", "verb": "verb_number"}, FRAME)


@cache
def anaphora() -> Grammar:
    """Antecedent and pronoun: "the baker that the dancers like hurt herself".

    Themselves has no gender, so a plural pronoun is one sentence and not two."""
    space = FactorSpace(
        (
            categorical("structure", ANAPHORA),
            categorical("noun", PEOPLE),
            categorical("phrase", PAST),
            categorical("link", DEEDS),
            categorical("attractor", OTHERS),
            categorical("attractor_number", NUMBERS),
            categorical("antecedent_number", NUMBERS),
            categorical("pronoun_number", NUMBERS),
            categorical("gender", ("himself", "herself")),
        )
    )
    allowed: list[Choice] = []
    singular: Choice = {"pronoun_number": NUMBERS[:1], "gender": None}
    for pronoun in (singular, Choice({"pronoun_number": NUMBERS[1:]})):
        about: Choice = {"noun": None, "phrase": None, "antecedent_number": None, **pronoun}
        allowed.append({"structure": (SIMPLE,), **about})
        between: Choice = {"link": None, "attractor": None, "attractor_number": None}
        allowed.append({"structure": (OBJECT, BARE), **about, **between})
    ending = Slot(("phrase", "pronoun_number", "gender"), _reflexive)
    slots = {name: some for name, some in _subject_slots("antecedent_number", ending).items() if name in ANAPHORA}
    return Grammar(
        space, listed(space, allowed), slots, {"antecedent": "antecedent_number", "pronoun": "pronoun_number"}, FRAME
    )


def _subject_slots(number: str, ending: Slot) -> dict[str, tuple[Slot, ...]]:
    """The slots of each structure: the subject, what may stand after it, and what is said of it."""
    head, other = Slot(("noun", number), _noun), Slot(("attractor", "attractor_number"), _noun)
    that, between = Slot((), lambda: "that"), Slot(("link",), str)
    others_deed, own_deed = Slot(("link", "attractor_number"), _deed), Slot(("link", number), _deed)
    return {
        SIMPLE: (head, ending),
        PREPOSITION: (head, between, other, ending),
        OBJECT: (head, that, other, others_deed, ending),
        BARE: (head, other, others_deed, ending),
        # Here the verb of the clause is the subject's.
        SUBJECT: (head, that, own_deed, other, ending),
    }


def _noun(word: str, number: str) -> str:
    return f"the {word}" if number == "singular" else f"the {word}s"


def _deed(verb: str, number: str) -> str:
    return f"{verb}s" if number == "singular" else verb


def _predicate(phrase: str, number: str) -> str:
    return phrase if number == "singular" else (PHRASES | STATES)[phrase]


def _reflexive(verb: str, number: str, gender: str) -> str:
    return f"{verb} {gender if number == 'singular' else 'themselves'}"
