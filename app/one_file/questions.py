"""What the story's scenes and the panels ask of a run as they open.

A browser test opens all of them in a file and fails where one asks for what is not there (tests/app/test_one_file.py).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# Asks one of app/chapters' DETAILS with these parameters; None where the run has no answer.
Ask = Callable[..., Mapping[str, Any] | None]

PART = 189  # as in visuals/static/readings/rests.js
STRETCH_BYTES = 400_000  # as in visuals/static/readings/stretch.js


class Place(NamedTuple):
    """Where in a run a reader looks."""

    layer: int
    head: int
    query: int
    key: int


class Sizes(NamedTuple):
    """What questions go by: tokens and layers of a run, the width of its stream, its branches, the answer's id."""

    tokens: int
    layers: int
    d_model: int
    branches: int
    answer: int


def stretch(tokens: int, size: int, token: int) -> dict[str, int]:
    """Tokens that are asked for together, each of `size` bytes: stretchOf in visuals/static/readings/stretch.js."""
    most = max(1, STRETCH_BYTES // size)
    first = min(token, tokens - 1) // most * most
    return {"first": first, "count": min(most, tokens - first)}


def ask_story(ask: Ask, of: Sizes) -> None:
    """Asks what the scenes ask."""
    last = of.tokens - 1
    knocked: Mapping[str, Any] | None = {"done": 0, "total": of.tokens}
    while of.tokens > PART and knocked and knocked["done"] < knocked["total"]:  # as askRests in readings/rests.js
        knocked = ask("knocked", token=last, start=knocked["done"])
    ask("rests", token=last)
    back = ask("looks_back", token=last) or {}
    ask("lens", follow=False, token=last)
    ask("logit_terms", token=last, target=of.answer, against=None)
    for layer in range(of.layers):  # one scene shows the layer that adds most
        ask("ffn_written", layer=layer, token=last, neuron=None, target=of.answer)
    ask("kv_live")
    ask("logits")
    if "head" in back:  # as placeOf in story/place.js
        apart = ask("told_apart", token=last) or {}
        for head in (back["head"], apart):
            if "head" in head:
                ask_of_look(ask, head["layer"], head["head"], last)


def ask_of_run(ask: Ask, of: Sizes) -> None:
    """Asks what panels ask that is of no one layer."""
    last = of.tokens - 1
    for what in (
        "outside", "head_names", "training", "stream", "merges", "norm_depth", "sinks", "ffn_widths", "ffn_firing",
        "parts",
    ):  # fmt: skip
        ask(what)
    for layer in range(of.layers):
        ask("values", layer=layer)
    ask("norm_times", layer=0, norm="final")
    ask("rope_scalings", factor=4)
    ask("lens", follow=False)
    ask("contributions", target=None, versus=False)
    ask("draw", temperature=0, top_k=0, top_p=1, seed=0)
    ask("ends", token=last)
    vectors = of.branches * of.layers + 1
    ask("norm_placement", **stretch(of.tokens, 2 * vectors * (vectors + 1), last))
    start: int | None = 0
    while start is not None:  # it comes in parts
        kinds = ask("attention_kinds", start=start)
        start = kinds["done"] if kinds and start < kinds["done"] else None
    for swap in (ask("words", token=last) or {}).get("swaps", ())[:1]:
        ask("causal_map", token=last, text=swap["text"])
        if (ask("rests", token=last) or {}).get("form") == "recalled":
            ask("recalled", token=last, text=swap["text"])


def ask_of_place(ask: Ask, of: Sizes, at: Place) -> None:
    """Asks what panels ask of a layer, a head and two tokens."""
    ask_of_layer(ask, at)
    ask("projection", layer=at.layer, vector="q", head=at.head, channel=None)
    ask("norm_kinds", layer=at.layer, norm="attn", **stretch(of.tokens, 8 * of.d_model, at.query))


def ask_of_layer(ask: Ask, at: Place) -> None:
    """Asks what panels ask of a place, but for what is as large as weights or vectors of all tokens."""
    layer, head = {"layer": at.layer}, {"layer": at.layer, "head": at.head}
    ask_of_look(ask, at.layer, at.head, at.query)
    ask("score_terms", **head, query=at.query, key=at.key)
    ask("position_kinds", **head)
    ask("stage", **layer, token=at.query)
    ask("ffn_map", **layer)
    ask("ffn_written", **layer, token=at.query, neuron=None)
    ask("activation_kinds", **layer)
    ask("tensors", **layer)


def ask_of_look(ask: Ask, layer: int, head: int, query: int) -> None:
    """Asks what is told of one head's look."""
    ask("values", layer=layer)
    ask("head_write", layer=layer, head=head, query=query)
    ask("norm_vectors", layer=layer, norm="attn", token=None)


def ask_of_two(ask_a: Ask, ask_b: Ask, a: str, b: str, at: Place) -> None:
    """Asks what panels ask of two runs that are compared, by their names: both about what B chose."""
    for ask in (ask_a, ask_b):
        ask("lens", follow=False, other=b)
        ask("contributions", target=None, versus=False, other=b)
        ask("ffn_written", layer=at.layer, token=at.query, neuron=None, other=b)
        ask("ffn_map", layer=at.layer, other=b)
        ask("cost")
    ask_b("difference", other=a)


# What the calculators and tables without a run show first (app/chapters' CALCULATORS).
LLAMA_3 = {"model": "Llama-3 8B", "dtype": "bf16"}
ON_H100 = {"gpu": "H100 80 GB", "context_mib": 358, "fragmentation_mib": 150}
CALCULATIONS: tuple[dict[str, Any], ...] = (
    {"what": "kv", "model": "Llama-2 7B", "tokens": 1024, "batch": 16, "dtype": "fp16", "n_kv_heads": 8},
    {"what": "kv", **LLAMA_3, "tokens": 8192, "batch": 1},
    {"what": "kv_models"},
    {"what": "kv_gpus"},
    {"what": "kv_fit", **LLAMA_3, "tokens": 8192, "batch": 1, **ON_H100},
    {"what": "kv_needs", **LLAMA_3, **ON_H100, "users": 64, "user_tokens": 8192},
    {
        "what": "kv_chart", **LLAMA_3, "tokens": 8192, "batch": 1, "few": False, "view": "lines", "unit": "gib",
        "x": "log", "y": "log", "weights": False, "compare": ["Llama-2 7B", "Gemma-3 12B (text)", "DeepSeek-V3"],
    },
    {"what": "families"},
    {"what": "glosses"},
)  # fmt: skip
