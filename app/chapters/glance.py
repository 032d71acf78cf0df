"""The first chapter: the answer, and why; then every idea once, in panels that belong to the chapters about them."""

from typing import Any, cast

from model import GlassLlamaError
from model.analysis.nodes import AnyNode, Site, node_at
from model.errors import shortly
from model.network import StackName, Writer
from visuals.glance import edges_payload, looks_payload, matching_payload, outside_payload, swaps_payload
from visuals.payload import Message

from ..engine import Engine
from ..examples import nearest_example
from ..operations import CIRCUIT, EDGES, LOOKS, MATCHING, OUTSIDE, SWAPS
from ..prompts import check_text
from ..requests import PAIR_TOKENS, Texts, int_field, layer_of, map_limit, one_of, texts_until, token_of, unchanged
from ..session import HeldRun

# Two columns, about equally tall; on a narrow screen page.css makes them one. "why" stands above the token strip.
COLUMNS = (("attention", "swiglu"), ("next", "rmsnorm", "rope"))
PANELS = ("why", *(kind for column in COLUMNS for kind in column))
MOST_NODES = 60
MOST_SWAPS = 6
# The kinds of nodes, and of a network that has two stacks those of each.
KINDS = ("head", "ffn")
STACKS = {"encoder": KINDS, "decoder": ("head", "cross", "ffn")}


def why(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token, target}: what matters for `target` (null: the most probable token) after the token at that position."""
    vocab_size = engine.about(held.model).config.vocab_size
    target = None if asked.get("target") is None else int_field(asked, "target", vocab_size)
    info = held.study(engine, LOOKS, target, token_of(held, asked))
    return looks_payload(info, engine.pieces(held.model, [info.found.target])[0])


def matching(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{layer, head, query, key}: what made the head's score of the key higher than of another answer in the text; {}
    where there is nothing to tell."""
    layer, query, key = layer_of(held, asked), token_of(held, asked, "query"), token_of(held, asked, "key")
    head = int_field(asked, "head", engine.about(held.model).config.n_heads)
    found = held.study(engine, MATCHING, layer, head, query, key)
    return matching_payload(found, lambda some: engine.pieces(held.model, some))


def outside(engine: Engine, held: HeldRun, _asked: dict[str, Any]) -> Message:
    """What in the prompt is not of the world that the bundled model learnt, and an example that is; {} where all is of
    it, and for another model."""
    found = held.study(engine, OUTSIDE, held.prompt)
    if found is None or not (found.places or found.odd):
        return {}
    return outside_payload(found) | {"example": nearest_example(held.prompt)}


def words(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token}: words of the text up to that position that could be changed, each with the answer that follows then;
    where an encoder reads the prompt, words of that."""
    ids, written = texts = texts_until(held, asked)
    text = engine.decode(held.model, ids) if written is None else held.prompt
    known = {"text": text, "tokens": texts.tokens, "limit": PAIR_TOKENS, "map_limit": map_limit(engine, held)}
    # Written tokens may not be those that the text has when it is read.
    if texts.tokens > PAIR_TOKENS or engine.encode(held.model, text) != ids:
        return {"swaps": [], **known}
    found = held.study(engine, SWAPS, text, MOST_SWAPS, written or None)
    return swaps_payload(found, lambda some: engine.pieces(held.model, some)) | known


def circuit(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token, text, nodes}: the circuit of the answer after that position, against the answer to another `text`."""
    texts, other = unchanged(held, asked), check_text(asked.get("text"))
    count = int_field(asked, "nodes", MOST_NODES + 1)
    return held.study(engine, CIRCUIT, texts.ids, other, count, texts.written or None)


def edges(engine: Engine, held: HeldRun, asked: dict[str, Any]) -> Message:
    """{token, text, nodes, start}: the next edges from number `start` on between `nodes`, [layer, head, token] each,
    with null for the head of an FFN; of a network with an encoder [layer, head, token, kind, stack]. A page asks until
    it has all, or no longer."""
    texts, other = unchanged(held, asked), check_text(asked.get("text"))
    nodes = _nodes(engine, held, asked, texts)
    start = int_field(asked, "start", (MOST_NODES + 2) ** 2)
    return edges_payload(held.study(engine, EDGES, texts.ids, other, nodes, start, texts.written or None))


def _nodes(engine: Engine, held: HeldRun, asked: dict[str, Any], texts: Texts) -> list[AnyNode]:
    given = asked.get("nodes")
    if not isinstance(given, list) or not 0 < len(given) <= MOST_NODES:
        raise GlassLlamaError("bad_request", f"nodes is {shortly(given)}; expected a list of 1 to {MOST_NODES} nodes.")
    heads, source = engine.about(held.model).config.n_heads, held.trace.source
    found: list[AnyNode] = []
    for one in given:
        if not isinstance(one, list) or len(one) != (3 if source is None else 5):
            said = "a layer, a head or null, and a token" + (", a kind and a stack" if source else "")
            raise GlassLlamaError("bad_request", f"nodes: {shortly(one)} is not {said}.")
        place = dict(zip(("layer", "head", "token", "kind", "stack"), one, strict=False))
        stack = None if source is None else cast(StackName, one_of(place, "stack", STACKS))
        plain = {"kind": "ffn" if one[1] is None else "head"}
        kind = cast(Writer, one_of(plain | place, "kind", STACKS[stack] if stack else KINDS))
        layers, tokens = held.trace.n_layers, texts.tokens
        if source is not None:
            layers = source.n_layers if stack == "encoder" else layers
            tokens = len(texts.ids) if stack == "encoder" else tokens - len(texts.ids)
        head = None if kind == "ffn" else int_field(place, "head", heads)
        found.append(
            node_at(Site(stack, kind, int_field(place, "layer", layers)), head, int_field(place, "token", tokens))
        )
    return found


DETAILS = {"why": why, "matching": matching, "outside": outside, "words": words, "circuit": circuit, "edges": edges}
