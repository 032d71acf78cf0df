"""The sentences that the page offers, by language, and which of them fit a network or a reader's own text."""

import re

from .engine import Engine

# Each has an answer that a reader can check and a mechanism that shows: who is where, of whom "she" speaks, what came
# next the last time, which bracket is open; in Chinese also a translation and a count.
EXAMPLES = {
    "en": (
        "Tom is in the kitchen. Lily is in the garden. Tom is in the",
        "Tom is in the kitchen. Lily is in the garden. She is in the",
        "cat dog bird fish cat dog",
        "(apple [moon",
    ),
    "zh": (
        "汤姆在厨房里。莉莉在花园里。汤姆在",
        "汤姆在厨房里。莉莉在花园里。她在",
        "猫: cat; 狗: dog; 鱼:",
        "一，二，三，四，",
    ),
}
# Of those that ask where someone is: the text's other place, where they are not.
RULED_OUT = dict(zip((*EXAMPLES["en"][:2], *EXAMPLES["zh"][:2]), ("garden", "kitchen", "花园", "厨房"), strict=True))
# For a network that reads English: two facts, whom a gift goes to, a name that came before, an opposite, a later
# year, a plural, a line of code.
REAL_EXAMPLES = (
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "The chemical symbol for gold is",
    "The wug met Dax Blicket. Later the wug thanked Dax",
    "The opposite of hot is",
    "The war lasted from the year 1732 to the year 17",
    "The keys to the cabinet",
    "def add(a, b):\n    return a +",
)
_SHARED = re.compile(r"[A-Za-z]+|[^\s\w]|[一-鿿]")
_CHINESE = re.compile(r"[一-鿿]")
_WORDS = re.compile(r"\w+|[^\w\s]")


def knows_words(engine: Engine, name: str, text: str) -> bool:
    """Whether the network's tokenizer has each word and sign of the text as a token of its own."""
    return len(engine.encode(name, text)) <= len(_WORDS.findall(text)) + 1  # some begin or end every text with a token


def nearest_example(text: str) -> str:
    """The example in the text's language that shares most words, signs and Chinese characters with it; the first of
    those that share as many."""
    parts = set(_SHARED.findall(text))
    return max(
        EXAMPLES["zh" if _CHINESE.search(text) else "en"], key=lambda one: len(parts & set(_SHARED.findall(one)))
    )
