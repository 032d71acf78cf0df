"""The small networks of several families that come along: which there are, and how much of memory they may take."""

from pathlib import Path
from typing import Literal

import model
from model.checkpoint import BUNDLED_NAME
from model.checkpoint_files import WEIGHTS
from model.on_demand import OnDemand, WeightCache
from model.smollm2 import NAME as REAL_NAME
from visuals.messages.page import Offer

from .engine import Engine
from .examples import EXAMPLES, REAL_EXAMPLES, knows_words
from .memory import give_back

ZOO = Path(model.__file__).parent / "zoo"
# Directory -> what the family calls itself; in this order they are offered.
FAMILIES = {
    "llama": "LLaMA",
    "qwen": "Qwen",
    "bloom": "BLOOM",
    "falcon": "Falcon",
    "glm": "GLM",
    "mixtral": "Mixtral",
    "deepseek": "DeepSeek",
    "t5": "T5",
}
# Bytes of the small networks' weights that are held at once. One takes 13 MB in float32, more with experts: so there is
# room for two that are compared and a few of other visitors', and a page that is left open does not gather all eight.
MAX_BYTES = 64 * 1024**2


def small_name(family: str) -> str:
    """How the page calls the small network of a family, by its directory's name."""
    return f"{FAMILIES[family]} (small)"


Kind = Literal["bundled", "real", "small"]
# The other models that the page knows.
KINDS: dict[str, Kind] = {BUNDLED_NAME: "bundled", REAL_NAME: "real"}
# Whose examples are theirs: those of the small world, which they were trained on, or those of English at large.
Examples = Literal["world", "english"]
OWN_EXAMPLES: dict[Kind, Examples] = {"bundled": "world", "small": "world", "real": "english"}
SMALL = {small_name(family): name for family, name in FAMILIES.items()}


def zoo(where: Path = ZOO, device: str = "auto", dtype: str = "auto", max_bytes: int = MAX_BYTES) -> list[OnDemand]:
    """The networks in this directory; none of their weights are read.

    A family without a whole checkpoint there is left out. Raises GlassLlamaError for one that is damaged.
    """
    weight_cache = WeightCache(max_bytes, give_back)
    there = [name for name in FAMILIES if all((where / name / file).is_file() for file in ("config.json", WEIGHTS))]
    return [OnDemand(where / name, weight_cache, small_name(name), device, dtype) for name in there]


def offers(engine: Engine) -> list[Offer]:
    """The engine's models for the page's picker: `name`, `parameters`, and `kind` and `family` where it knows them.

    Of a network that an operator named, `examples` are those whose words its tokenizer has, if it has either's.
    The real one stands before the small ones, whenever it came.
    """

    def examples_of(name: str) -> Examples | None:
        if knows_words(engine, name, REAL_EXAMPLES[0]):
            return "english"
        return "world" if knows_words(engine, name, EXAMPLES["en"][0]) else None

    def offer(name: str) -> Offer:
        kind: Kind | None = "small" if name in SMALL else KINDS.get(name)
        return {
            "name": name,
            "parameters": engine.about(name).n_parameters,
            "kind": kind,
            "family": SMALL.get(name, FAMILIES["llama"]),
            "examples": OWN_EXAMPLES[kind] if kind else examples_of(name),
        }

    return sorted(map(offer, engine.names), key=lambda one: one["kind"] == "small")
