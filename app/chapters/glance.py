"""The first chapter: the answer, and why; then every idea once, in panels that belong to the chapters about them."""

from typing import cast

from model import GlassLlamaError
from model.analysis.exchange import ROUNDS, WIDTH
from model.analysis.matching import LARGEST as OTHER_TOKENS
from model.analysis.nodes import POINTS, AnyNode, Site, node_at
from model.analysis.outside import COMPARED
from model.analysis.outside import outside as find_outside
from model.analysis.swaps import LARGEST as SWAPPED_TOKENS
from model.analysis.swaps import swaps
from model.errors import shortly
from model.network import StackName, Writer
from visuals.glance import (
    DRAWS,
    EDGES,
    circuit_info,
    circuit_payload,
    edges_info,
    edges_payload,
    how_many,
    looks,
    looks_payload,
    matching_info,
    matching_payload,
    outside_payload,
    swaps_payload,
)
from visuals.messages.glance import (
    CircuitDetail,
    EdgesDetail,
    MatchingDetail,
    Nothing,
    OutsideDetail,
    WhyDetail,
    WordsDetail,
)

from ..engine import Engine
from ..examples import nearest_example
from ..prompts import check_text
from ..requests import (
    PAIR_TOKENS,
    Sent,
    Texts,
    int_field,
    layer_of,
    map_limit,
    one_of,
    texts_until,
    token_of,
    unchanged,
)
from ..session import HeldRun

# Two columns, about equally tall; on a narrow screen page.css makes them one. "why" stands above the token strip.
COLUMNS = (("attention", "swiglu"), ("next", "rmsnorm", "rope"))
PANELS = ("why", *(kind for column in COLUMNS for kind in column))
MOST_NODES = 60
SWAPS = 6
# The kinds of nodes, and of a network that has two stacks those of each.
KINDS = ("head", "ffn")
STACKS = {"encoder": KINDS, "decoder": ("head", "cross", "ffn")}
# What long work costs, in passes over the text; one with its gradients, forth and back, counts as three.
BACK = 3
PULLS = 2 * BACK  # of why: what every head and neuron promises, and from where heads bring the answer
MATCHED = 8  # layers run once more, for two scores and for what two writers carried
RANKED = 2 + BACK * POINTS  # of a circuit: both runs, and every node's attribution
EXCHANGED = 1 + ROUNDS * (BACK + WIDTH)
CIRCUIT = RANKED + EXCHANGED + 2 + DRAWS
EDGES_MEASURED = 4 + 3 * EDGES // 2  # for each one run, and its target once more


def why(engine: Engine, held: HeldRun, asked: Sent) -> WhyDetail:
    """{token, target}: what matters for `target` (null: the most probable token) after the token at that position."""
    vocab_size = engine.about(held.model).config.vocab_size
    target = None if asked.get("target") is None else int_field(asked, "target", vocab_size)
    passes = PULLS + sum(how_many(held.trace))  # a part that is off changes the layers from its own on: half of them
    info = held.study_in_pieces(engine, looks, held.trace, target, token_of(held, asked), passes=passes)
    return looks_payload(info, engine.pieces(held.model, [info.found.target])[0])


def matching(engine: Engine, held: HeldRun, asked: Sent) -> MatchingDetail | Nothing:
    """{layer, head, query, key}: what made the head's score of the key higher than of another answer in the text; {}
    where there is nothing to tell."""
    layer, query, key = layer_of(held, asked), token_of(held, asked, "query"), token_of(held, asked, "key")
    head = int_field(asked, "head", engine.about(held.model).config.n_heads)
    tokens = MATCHED * len(held.trace.token_ids) + OTHER_TOKENS
    found = held.study_in_pieces(engine, matching_info, held.trace, layer, head, query, key, tokens=tokens)
    return matching_payload(found, lambda some: engine.pieces(held.model, some))


def outside(engine: Engine, held: HeldRun, _asked: Sent) -> OutsideDetail | Nothing:
    """What in the prompt is not of the world that the bundled model learnt, and an example that is; {} where all is of
    it, and for another model."""
    # The documents that it is compared with are measured once, for all visitors.
    found = held.study_in_pieces(engine, find_outside, held.trace, held.prompt, tokens=COMPARED)
    if found is None or not (found.places or found.odd):
        return {}
    return outside_payload(found, nearest_example(held.prompt))


def words(engine: Engine, held: HeldRun, asked: Sent) -> WordsDetail:
    """{token}: words of the text up to that position that could be changed, each with the answer that follows then;
    where an encoder reads the prompt, words of that."""
    ids, written = texts = texts_until(held, asked)
    text = engine.decode(held.model, ids) if written is None else held.prompt
    told: WordsDetail = {
        "swaps": [],
        "text": text,
        "tokens": texts.tokens,
        "limit": PAIR_TOKENS,
        "map_limit": map_limit(engine, held),
    }
    # Written tokens may not be those that the text has when it is read.
    if texts.tokens > PAIR_TOKENS or engine.encode(held.model, text) != ids:
        return told
    found = held.study_in_pieces(engine, swaps, text, SWAPS, written or None, tokens=SWAPPED_TOKENS + texts.tokens)
    return {**told, "swaps": swaps_payload(found, lambda some: engine.pieces(held.model, some))}


def circuit(engine: Engine, held: HeldRun, asked: Sent) -> CircuitDetail:
    """{token, text, nodes}: the circuit of the answer after that position, against the answer to another `text`."""
    texts, other = unchanged(held, asked), check_text(asked.get("text"))
    count = int_field(asked, "nodes", MOST_NODES + 1)
    given = texts.ids, other, count, texts.written or None
    info = held.study_in_pieces(engine, circuit_info, *given, passes=CIRCUIT, tokens=texts.tokens)
    return circuit_payload(info, lambda some: engine.pieces(held.model, some))


def edges(engine: Engine, held: HeldRun, asked: Sent) -> EdgesDetail:
    """{token, text, nodes, start}: the next edges from number `start` on between `nodes`, [layer, head, token] each,
    with null for the head of an FFN; of a network with an encoder [layer, head, token, kind, stack]. A page asks until
    it has all, or no longer."""
    texts, other = unchanged(held, asked), check_text(asked.get("text"))
    nodes = _nodes(engine, held, asked, texts)
    start = int_field(asked, "start", (MOST_NODES + 2) ** 2)
    given = texts.ids, other, nodes, start, texts.written or None
    info = held.study_in_pieces(engine, edges_info, *given, passes=EDGES_MEASURED, tokens=texts.tokens)
    return edges_payload(info)


def _nodes(engine: Engine, held: HeldRun, asked: Sent, texts: Texts) -> list[AnyNode]:
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
