"""The first chapter: the answer, and why; then every idea once, in panels that belong to the chapters about them."""

from typing import Annotated, Literal

from pydantic import PlainValidator

from model import GlassLlamaError
from model.analysis.head_losses import Ablation
from model.analysis.looks_back import LooksBack
from model.analysis.nodes import AnyNode, Site, node_at
from model.errors import shortly
from model.network import StackName, Writer
from visuals.circuit import edges_payload
from visuals.glance import matching_payload, outside_payload, swaps_payload
from visuals.messages.circuit import CircuitControlsDetail, CircuitDetail, EdgesDetail
from visuals.messages.glance import (
    KnockedDetail,
    LooksBackDetail,
    MatchingDetail,
    MeasuredDetail,
    Nothing,
    OutsideDetail,
    RecalledDetail,
    RestsDetail,
    ToldApartDetail,
    WhyDetail,
    WindowsDetail,
    WordsDetail,
)
from visuals.messages.page import LoadingAnswer, RealModelAnswer
from visuals.why import (
    back_payload,
    heads_payload,
    knocked_payload,
    looked_payload,
    recalled_payload,
    rests_payload,
    target_of,
    told_apart_payload,
    windows_payload,
)

from ..engine import Engine
from ..examples import EXAMPLES, REAL_EXAMPLES, RULED_OUT, knows_words, nearest_example
from ..fields import Head, Request, TokenId, among, below, is_list, read, said, wrong
from ..operations import (
    CAUSAL_MAP,
    CIRCUIT,
    CIRCUIT_CONTROLS,
    EDGES,
    HEADS,
    KNOCKED,
    LOOKS,
    LOOKS_BACK,
    MATCHING,
    OUTSIDE,
    RECALLED,
    RESTS,
    SWAPS,
    TOLD_APART,
    WINDOWS,
)
from ..prompts import check_text
from ..requests import (
    PAIR_TOKENS,
    AtToken,
    OtherText,
    Place,
    Score,
    Sent,
    Texts,
    about_run,
    map_limit,
    model_of,
    texts_until,
    token_of,
    unchanged,
)
from ..session import HeldRun
from ..zoo import offers

ON_DEMAND = ("attention", "rmsnorm", "rope", "swiglu")
PANELS = ("why", "next", *ON_DEMAND)
MOST_NODES = 60
MOST_SWAPS = 6


def _listed_nodes(value: object) -> list[list[object]]:
    if not is_list(value) or not 0 < len(value) <= MOST_NODES:
        raise wrong(f"a list of 1 to {MOST_NODES} nodes")
    nodes = [one for one in value if is_list(one)]
    if len(nodes) < len(value):
        raise said("{name}: expected a layer, a head or null, and a token of each.")
    return nodes


class Why(AtToken):
    """The token that is asked about after a position; the most probable where it is null."""

    target: TokenId | None = None


class Heads(Why):
    """The same, with how heads are ablated, one at a time."""

    ablation: Annotated[Ablation, among(("mean", "zero"))] = "mean"


class FurtherHeads(Heads):
    """The same, after `start` heads were measured."""

    start: Annotated[int, below(1 << 20)] = 0


class FurtherTokens(Why):
    """The same, after `start` tokens were knocked out."""

    start: Annotated[int, below(1 << 20)] = 0


class Nodes(OtherText):
    """A circuit of so many nodes; of as many as are needed where that is null."""

    nodes: Annotated[int, below(MOST_NODES + 1)] | None = None


class CircuitNodes(OtherText):
    """A circuit of these nodes."""

    nodes: Annotated[list[list[object]], PlainValidator(_listed_nodes)]


class Edges(CircuitNodes):
    """Its edges from number `start` on."""

    start: Annotated[int, below((MOST_NODES + 2) ** 2)]


class AboutRealModel(Request):
    """What is to be done about the real LLaMA; nothing where it is null: the page only looks."""

    act: Annotated[Literal["fetch", "cancel"], among(("fetch", "cancel"))] | None = None


class OfStack(Request):
    """The stack of a node, of a network that has two."""

    stack: Annotated[StackName, among(("encoder", "decoder"))]


class OfEncoder(Request):
    """The kind of a node in an encoder."""

    kind: Annotated[Writer, among(("head", "ffn"))]


class OfDecoder(Request):
    """The kind of a node in a decoder that looks at a source."""

    kind: Annotated[Writer, among(("head", "cross", "ffn"))]


class AHead(Request):
    """The head of a node that is one."""

    head: Head


def knocked(engine: Engine, held: HeldRun, asked: Sent) -> KnockedDetail | Nothing:
    """{token, target, start}: how far "rests" is with the tokens up to that position, of which more than `start` are
    knocked out if there are as many; {} where nothing is measured. A page that asks until it has all can say so."""
    of = about_run(FurtherTokens, engine, held, asked)
    so_far = held.kept(KNOCKED, of.target, of.token)
    if so_far is None or len(so_far.lost) <= of.start < of.token:
        so_far = held.study(engine, KNOCKED, of.target, of.token, so_far)
        held.keep(KNOCKED, so_far, of.target, of.token)
    return knocked_payload(so_far, of.token)


def rests(engine: Engine, held: HeldRun, asked: Sent) -> RestsDetail | Nothing:
    """{token, target}: what `target` (null: the most probable token) after the token at that position rests on; {} for
    a network whose tokens see those after them, or a source. What "knocked" has done is not done again."""
    of = about_run(Why, engine, held, asked)
    if (found := held.kept(RESTS, of.target, of.token)) is None:
        found = held.study(engine, RESTS, of.target, of.token, held.kept(KNOCKED, of.target, of.token))
        held.keep(RESTS, found, of.target, of.token)
    return rests_payload(found, engine.pieces(held.model, [found.target])[0] if found else "")


def windows(engine: Engine, held: HeldRun, asked: Sent) -> WindowsDetail | Nothing:
    """{token, target}: what "rests" says is lost, where a look is forbidden in a window of layers alone, for each
    window; {} where that is not measured."""
    of = about_run(Why, engine, held, asked)
    return windows_payload(held.study(engine, WINDOWS, of.target, of.token))


def recalled(engine: Engine, held: HeldRun, asked: Sent) -> RecalledDetail | Nothing:
    """{token, text}: where what tells the answer after that position from the answer to another `text` is gathered, and
    when it comes to the last token; {} where the two differ in that alone, or where that is not measured. What a page
    has just asked of them, "causal_map", is not worked out again."""
    of = about_run(OtherText, engine, held, asked)
    texts, other = unchanged(held, of.token, map_limit(engine, held)), check_text(of.text)
    if held.study_and_keep(engine, RESTS, None, of.token) is None:
        return {}
    known = held.study_and_keep(engine, CAUSAL_MAP, texts.ids, other, None, "stream")
    found = held.study(engine, RECALLED, texts.ids, other, known)
    return recalled_payload(found, engine.pieces(held.model, [known.answer, known.other]))


def looks_back(engine: Engine, held: HeldRun, asked: Sent) -> LooksBackDetail | Nothing:
    """{token, target}: what `target` takes from the token that it needs most: what would come without a look back at
    that, and with which heads it looks; {} where it needs none, or that is not measured."""
    of = about_run(Why, engine, held, asked)
    found = _back(engine, held, of)
    return back_payload(found, engine.pieces(held.model, [found.instead])[0] if found else "")


def _back(engine: Engine, held: HeldRun, of: Why) -> LooksBack | None:
    """What the last token takes from the token that is needed most, kept for both questions that build on it."""
    if (found := held.kept(LOOKS_BACK, of.target, of.token)) is None:
        known = held.study_and_keep(engine, RESTS, of.target, of.token)
        if known is None:
            return None
        found = held.study(engine, LOOKS_BACK, known)
        held.keep(LOOKS_BACK, found, of.target, of.token)
    return found


def heads(engine: Engine, held: HeldRun, asked: Sent) -> MeasuredDetail | Nothing:
    """{token, target, ablation, start}: what `target` loses without single heads, more than `start` of them if there
    are as many; {} where nothing is measured. A page asks until it has all, or no longer."""
    of = about_run(FurtherHeads, engine, held, asked)
    known = held.study_and_keep(engine, RESTS, of.target, of.token)
    if known is None:
        return {}
    so_far = held.kept(HEADS, of.target, of.token, of.ablation)
    losses = None if so_far is None else so_far.losses
    found = held.study(engine, HEADS, known, of.ablation, of.start, losses)
    held.keep(HEADS, found, of.target, of.token, of.ablation)
    return heads_payload(found, of.ablation)


def why(engine: Engine, held: HeldRun, asked: Sent) -> WhyDetail:
    """{token, target, ablation}: what matters for `target` after the token at that position, head by head. What a page
    has just asked of it, "rests" and "heads", is not worked out again."""
    of = about_run(Heads, engine, held, asked)
    rests = held.kept(RESTS, of.target, of.token)
    so_far = held.kept(HEADS, of.target, of.token, of.ablation)
    losses = None if so_far is None else so_far.losses
    found = held.study(engine, LOOKS, of.target, of.token, of.ablation, rests, losses)
    return looked_payload(found, engine.pieces(held.model, [target_of(found)])[0])


def matching(engine: Engine, held: HeldRun, asked: Sent) -> MatchingDetail | Nothing:
    """{layer, head, query, key}: what made the head's score of the key higher than of another answer in the text; {}
    where there is nothing to tell."""
    of = about_run(Score, engine, held, asked)
    found = held.study(engine, MATCHING, of.layer, of.head, of.query, of.key)
    return matching_payload(found, lambda some: engine.pieces(held.model, some))


def told_apart(engine: Engine, held: HeldRun, asked: Sent) -> ToldApartDetail | Nothing:
    """{token, target}: how a head that looks at the token that `target` needs most tells it from another answer in the
    text, where one matches a word with itself; {} where none does."""
    of = about_run(Why, engine, held, asked)
    back = _back(engine, held, of)
    if back is None or not back.looking:
        return {}
    known = held.study_and_keep(engine, RESTS, of.target, of.token)
    found = known and held.study(engine, TOLD_APART, known, back)
    return told_apart_payload(found, back.key, lambda some: engine.pieces(held.model, some))


def outside(engine: Engine, held: HeldRun, _asked: Sent) -> OutsideDetail | Nothing:
    """What in the prompt is not of the world that the bundled model learnt, and what is to be said of its answer; with
    an example that the model knows, "" where the prompt is that. {} where there is nothing to be said."""
    found = held.study(engine, OUTSIDE, held.prompt, RULED_OUT.get(held.prompt, ""))
    reads_english = knows_words(engine, held.model, REAL_EXAMPLES[0])
    own = REAL_EXAMPLES[0] if reads_english else nearest_example(held.prompt)
    is_own = held.prompt in (*REAL_EXAMPLES, *EXAMPLES["en"], *EXAMPLES["zh"])
    if found is None or not (found.places or found.odd or found.misplaced or (found.doubt and not is_own)):
        return {}
    return outside_payload(found, "" if own == held.prompt else own)


def words(engine: Engine, held: HeldRun, asked: Sent) -> WordsDetail:
    """{token}: words of the text up to that position that could be changed, each with the answer that follows then;
    where an encoder reads the prompt, words of that."""
    ids, written = texts = texts_until(held, token_of(engine, held, asked))
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
    found = held.study(engine, SWAPS, text, MOST_SWAPS, written or None)
    return {**told, "swaps": swaps_payload(found, lambda some: engine.pieces(held.model, some))}


def circuit(engine: Engine, held: HeldRun, asked: Sent) -> CircuitDetail:
    """{token, text, nodes}: the circuit of the answer after that position, against the answer to another `text`; with
    `nodes` null of as many nodes as are needed."""
    of = about_run(Nodes, engine, held, asked)
    texts, other = unchanged(held, of.token), check_text(of.text)
    return held.study(engine, CIRCUIT, texts.ids, other, of.nodes, texts.written or None)


def circuit_controls(engine: Engine, held: HeldRun, asked: Sent) -> CircuitControlsDetail:
    """{token, text, nodes}: what could refute a circuit of these `nodes`, which stand there as in "edges"."""
    of = about_run(CircuitNodes, engine, held, asked)
    texts, other = unchanged(held, of.token), check_text(of.text)
    nodes = [_node(engine, held, one, texts) for one in of.nodes]
    return held.study(engine, CIRCUIT_CONTROLS, texts.ids, other, nodes, texts.written or None)


def edges(engine: Engine, held: HeldRun, asked: Sent) -> EdgesDetail:
    """{token, text, nodes, start}: the next edges from number `start` on between `nodes`, [layer, head, token] each,
    with null for the head of an FFN; of a network with an encoder [layer, head, token, kind, stack]. A page asks until
    it has all, or no longer."""
    of = about_run(Edges, engine, held, asked)
    texts, other = unchanged(held, of.token), check_text(of.text)
    nodes = [_node(engine, held, one, texts) for one in of.nodes]
    return edges_payload(held.study(engine, EDGES, texts.ids, other, nodes, of.start, texts.written or None))


def real_model(engine: Engine, data: Sent) -> RealModelAnswer:
    """{act}: where the real LLaMA stands, after "fetch" has begun its download or "cancel" ended it."""
    act, real = read(AboutRealModel, data).act, engine.real
    if real is not None and act == "fetch":
        real.fetch()
    if real is not None and act == "cancel":
        real.cancel()
    state = None if real is None else real.state()
    return {"real": state, "offers": offers(engine)}


def loading(engine: Engine, data: Sent) -> LoadingAnswer:
    """{model}: how far its weights are, for a page that waits for its answer."""
    found = engine.loading(model_of(engine, data))
    return {"loading": None if found is None else {"done": found.done, "total": found.total}}


def _node(engine: Engine, held: HeldRun, one: list[object], texts: Texts) -> AnyNode:
    """A node as a page sends it, where the run has one. Raises GlassLlamaError."""
    source = held.trace.source
    if len(one) != (3 if source is None else 5):
        expected = "a layer, a head or null, and a token" + (", a kind and a stack" if source else "")
        raise GlassLlamaError("bad_request", f"nodes: {shortly(one)} is not {expected}.")
    sent = dict(zip(("layer", "head", "token", "kind", "stack"), one, strict=False))
    layers, tokens = held.trace.n_layers, texts.tokens
    if source is None:
        stack, kind = None, "ffn" if one[1] is None else "head"
    else:
        stack = read(OfStack, sent).stack
        kind = read(OfEncoder if stack == "encoder" else OfDecoder, sent).kind
        layers = source.n_layers if stack == "encoder" else layers
        tokens = len(texts.ids) if stack == "encoder" else tokens - len(texts.ids)
    limits = {"layers": layers, "tokens": tokens, "heads": engine.about(held.model).config.n_heads}
    place, head = read(Place, sent, **limits), None if kind == "ffn" else read(AHead, sent, **limits).head
    return node_at(Site(stack, kind, place.layer), head, place.token)


DETAILS = {
    "knocked": knocked,
    "rests": rests,
    "windows": windows,
    "recalled": recalled,
    "heads": heads,
    "looks_back": looks_back,
    "why": why,
    "matching": matching,
    "told_apart": told_apart,
    "outside": outside,
    "words": words,
    "circuit": circuit,
    "circuit_controls": circuit_controls,
    "edges": edges,
}
CALCULATORS = {"real_model": real_model, "loading": loading}
