"""How a head tells the token that it reads from another of its kind: by what was asked for, matched with what was told.

A score is a sum over pairs of writers, one at the query's token and one at the key's (score_terms.py). The difference
between the scores of two keys is therefore a sum over pairs, too, and the pair with the largest share of it says what
the head compares. What its two writers carried is followed back: a head's write is a sum over the tokens that it looked
at, and over what was written there below it. Last, another word is put in the place of what was asked for, and the head
is run again.

Symbols: S sources, T tokens, d d_model.
"""

from collections.abc import Sequence, Set
from itertools import groupby, product
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from ..attention import Attention
from ..pieces import Work, in_pieces, rows_of_a_piece
from ..trace import Trace, run_trace
from .content_words import content_words
from .head_losses import Head
from .score_terms import ScoreTerms, _normed, score_terms
from .stream_writes import Source, StreamWrites

MIN_ATTENTION = 0.5  # the least weight with which a head counts as having brought a token
LARGEST = 1024  # tokens of all texts that are run
RIVALS = 4  # answers that stand in the text, the likeliest first, from which a match is sought
TELLING = 0.2  # the share of the difference between two scores from which on a match tells the two tokens apart


Side = Literal["q", "k"]  # of a score: the query's token or the key's


class Step(NamedTuple):
    """A head at token `at` that looks at token `key` with `weight`."""

    layer: int
    head: int
    at: int
    key: int
    weight: float


class Way(NamedTuple):
    """How something came to a token: by `steps`, the last one first; without any it is the token's own embedding."""

    at: int
    steps: tuple[Step, ...]

    @property
    def near(self) -> int:
        """The token that it was fetched from last."""
        return self.steps[0].key if self.steps else self.at

    @property
    def origin(self) -> int:
        """The token that it was fetched from first, as far as it is known."""
        return self.steps[-1].key if self.steps else self.at


class Other(NamedTuple):
    """The same head with token `id` at `position` instead: its two scores. The most probable next token is then the
    rival."""

    position: int
    id: int
    score: float
    rival_score: float


class Matching(NamedTuple):
    """`score` is the head's for `key`, `rival_score` for `rival`; each is a sum of `n_terms` terms.

    The pair of `asked`, at the query's token, and `told`, at the key's, adds `term` to the first, and the same two
    writers add `rival_term` to the second. `rival_told` is where the heads of `told` look from the rival; None where
    one of them gives no token half of its weight. `from_asked` is what all heads at the query's token that looked at
    the same token as that of `asked` make of `score`, with the embedding where it is the query's own, and
    `rival_from_asked` of `rival_score`. `other` has another token there; it is None where none of the text makes the
    rival the answer, and in a run with something switched off.
    """

    rival: int
    score: float
    rival_score: float
    asked: Way
    told: Way
    rival_told: Way | None
    term: float
    rival_term: float
    from_asked: float
    rival_from_asked: float
    n_terms: int
    other: Other | None


class Term(NamedTuple):
    """One term of a head's score: what the first source of `pair` wrote at the query's token, by what the second wrote
    at the key's; `places` are the two tokens."""

    layer: int
    head: int
    places: tuple[int, int]
    pair: tuple[Source, Source]

    def factor(self, side: Side) -> tuple[int, Source]:
        """The token and its writer of this side."""
        return (self.places[0], self.pair[0]) if side == "q" else (self.places[1], self.pair[1])


class HeadMatching(NamedTuple):
    """What a head compares."""

    layer: int
    head: int
    found: Matching


@in_pieces
def matching(trace: Trace, layer: int, head: int, query: int, key: int) -> Work[Matching | None]:
    """What makes a head at `query` score `key` higher than the likeliest other answer that stands in the text.

    None where there is nothing to tell: `key` is not the token that the model gives next, no other candidate stands in
    the text, the rival's score is not lower, the pair that counts most is no match of heads or embeddings, or the
    network's attention is not of the kind of LLaMA's.
    """
    rivals = _rivals(trace, query, key)
    found = (yield from _matched(StreamWrites(trace), layer, head, query, key, rivals[0], {})) if rivals else None
    return None if found is None else (yield from _tried(trace, HeadMatching(layer, head, found), query, key)).found


@in_pieces
def plainest_match(trace: Trace, heads: Sequence[Head], query: int, key: int) -> Work[HeadMatching | None]:
    """Of some heads the first that matches a word with itself: the same was brought to its query as to `key`, and
    another to the rival, that makes TELLING of the difference, and with another token there, so that the rival is the
    answer, the head prefers the rival. All of these are words that name something (content_words.py). Of RIVALS the
    likeliest from which one does. None where none does."""
    writes = StreamWrites(trace)
    naming = set(content_words(trace.pieces))
    rivals = [at for at in _rivals(trace, query, key) if at in naming][:RIVALS]
    known: dict[Head, ScoreTerms] = {}  # of the answer's own score, which is the same beside every rival
    for rival, (layer, head) in product(rivals, heads):
        scores = trace.layer(layer).scores[head, query]
        if scores[key] <= scores[rival]:
            continue
        found = yield from _matched(writes, layer, head, query, key, rival, known)
        if found is None or not _is_plain(trace, found, naming):
            continue
        one = yield from _tried(trace, HeadMatching(layer, head, found), query, key)
        other = one.found.other
        if other is None or other.score >= other.rival_score:
            continue
        if trace.token_ids.index(other.id) in naming:
            return one
    return None


def _is_plain(trace: Trace, found: Matching, naming: Set[int]) -> bool:
    told, beside = found.told, found.rival_told
    if not told.steps or beside is None or not beside.steps:
        return False
    asked, own, other = (trace.pieces[way.origin].strip() for way in (found.asked, told, beside))
    telling = found.from_asked - found.rival_from_asked >= TELLING * (found.score - found.rival_score)
    return asked == own != other and telling and {told.origin, beside.origin} <= naming


def _tried(trace: Trace, one: HeadMatching, query: int, key: int) -> Work[HeadMatching]:
    layer, head, found = one
    other = yield from _other(trace, layer, head, (query, key, found.rival), found.asked.near)
    return one._replace(found=found._replace(other=other))


def _matched(
    writes: StreamWrites, layer: int, head: int, query: int, key: int, rival: int, known: dict[Head, ScoreTerms]
) -> Work[Matching | None]:
    """As `matching`, from the token at `rival`, without another token in the text. `known`: the terms of scores of
    `query` and `key` by head, to which it adds."""
    trace = writes.trace
    if not isinstance(trace.lm.net.block(layer).attn, Attention):
        return None
    if (layer, head) not in known:
        known[layer, head] = yield from score_terms.pieces(trace, layer, head, query, key, writes)
    own = known[layer, head]
    others = yield from score_terms.pieces(trace, layer, head, query, rival, writes)
    apart = own.terms - others.terms
    if own.score <= others.score:
        return None
    kept = torch.tensor([source.kind in ("head", "embedding") for source in own.sources])
    both = kept[:, None] & kept
    best = int(apart.masked_fill(~both, -torch.inf).argmax())
    i, j = divmod(best, len(own.sources))
    yield
    term = Term(layer, head, (query, key), (own.sources[i], own.sources[j]))
    asked, told = (yield from _way(writes, term, "q")), (yield from _way(writes, term, "k"))
    if asked is None or told is None or apart[i, j] <= 0 or own.terms[i, j] <= 0:
        return None
    alike: list[int] = []
    for _, of_layer in groupby(enumerate(own.sources), lambda one: one[1].layer):
        alike += [n for n, source in of_layer if _fetches(trace, source, query) == asked.near]
        yield  # the layer was looked into, and may have been computed for that
    rival_told = _alike(trace, told, rival)
    yield
    return Matching(
        rival,
        own.score,
        others.score,
        asked,
        told,
        rival_told,
        float(own.terms[i, j]),
        float(others.terms[i, j]),
        float(own.terms[alike].sum()),
        float(others.terms[alike].sum()),
        own.terms.numel(),
        None,
    )


def _logits(trace: Trace, at: int) -> Float[Tensor, "V"]:
    with torch.inference_mode():
        return trace.lm.net.logits(torch.from_numpy(trace.residual[-1, at]).to(trace.lm.device, trace.lm.dtype)).cpu()


def _rivals(trace: Trace, query: int, key: int) -> list[int]:
    """Where the other tokens that stand before the query stand last, the most probable next token first; none where
    `key` is not what the model gives next."""
    ids, logits = trace.token_ids, _logits(trace, query)
    if ids[key] != int(logits.argmax()):
        return []
    places = {token: at for at, token in enumerate(ids[:query]) if token != ids[key]}
    return [places[token] for token in sorted(places, key=lambda token: -float(logits[token]))]


def _look(trace: Trace, source: Source, at: int) -> Step | None:
    """Where a head that wrote at a token looked from there; None for another source, and where it looked at no one."""
    if source.kind != "head" or source.layer is None or source.head is None:
        return None
    row = trace.layer(source.layer).attention[source.head, at]
    seen = int(row.argmax())
    return Step(source.layer, source.head, at, seen, float(row[seen])) if row[seen] >= MIN_ATTENTION else None


def _fetches(trace: Trace, source: Source, at: int) -> int | None:
    """The token whose content a source brought to `at`: that a head looked at, or for the embedding `at` itself."""
    step = _look(trace, source, at)
    return at if source.kind == "embedding" else step.key if step else None


def _way(writes: StreamWrites, term: Term, side: Side) -> Work[Way | None]:
    """How what the term's source of this side carries came to its token."""
    trace, (at, source) = writes.trace, term.factor(side)
    if source.kind == "embedding":
        return Way(at, ())
    step = _look(trace, source, at)
    if step is None:
        return None
    sources, terms = yield from parts_of_term.pieces(writes, term, side, step)
    further = _look(trace, sources[int(terms.argmax())], step.key)
    return Way(at, (step,) if further is None or further.key == step.key else (step, further))


def _alike(trace: Trace, way: Way, at: int) -> Way | None:
    """Where the heads of a way look, one after the other, when it ends at another token."""
    steps: list[Step] = []
    for step in way.steps:
        seen = _look(trace, Source("head", step.layer, step.head), steps[-1].key if steps else at)
        if seen is None:
            return None
        steps.append(seen)
    return Way(at, tuple(steps))


@in_pieces
def parts_of_term(
    writes: StreamWrites, term: Term, side: Side, step: Step
) -> Work[tuple[tuple[Source, ...], Float[Tensor, " S"]]]:
    """Of a term whose writer on this side is the head of `step`: what came from the token that it looked at, as a sum
    over what was written there below it.

    With α the step's weight, source s brings α·W_O·W_V·(γ ⊙ s / RMS), and its part of the term is the score of that
    with the pair's other writer. Biases of V are left out. float64.
    """
    trace, lm = writes.trace, writes.trace.lm
    block = lm.net.block(step.layer)
    attn = block.attn
    assert isinstance(attn, Attention)
    sources, (streams,) = yield from writes.before(step.layer, [step.key])
    normed = block.attn_norm.normalise_parts(streams, torch.tensor(trace.attn_norm_rms[step.layer, step.key]))
    start = sum(attn.qkv_proj.rows[:2]) + step.head * attn.n_kv_heads // attn.n_heads * attn.head_dim
    columns = slice(step.head * attn.head_dim, (step.head + 1) * attn.head_dim)
    w_v = attn.qkv_proj.weight[start : start + attn.head_dim].detach().cpu().double()
    w_o = attn.o_proj.weight[:, columns].detach().cpu().double()
    brought = step.weight * normed @ w_v.T @ w_o.T
    vectors: list[Tensor] = []
    for one in ("q", "k"):
        vectors.append((yield from _vectors(writes, term, one, brought if one == side else None)))
    q, k = vectors
    return sources, ((q * k).sum(-1) * lm.net.block(term.layer).attn.score_scale).detach()


def _vectors(
    writes: StreamWrites, term: Term, side: Side, parts: Float[Tensor, "S d"] | None
) -> Work[Float[Tensor, "S1 width"]]:
    """The query, or key, of a term that these parts of the token's stream make, each by itself; without any, what its
    writer wrote there makes it."""
    trace, layer, (at, source) = writes.trace, term.layer, term.factor(side)
    block = trace.lm.net.block(layer)
    if parts is None:
        sources, (streams,) = yield from writes.before(layer, [at])
        parts = streams[sources.index(source)][None]
    with torch.inference_mode():
        rest = torch.from_numpy(trace.residual[layer, at]).double() - parts.sum(0)  # or a norm of q and k would differ
        divisor = torch.tensor(trace.attn_norm_rms[layer, at])
        normed = _normed(block.attn_norm, torch.cat((parts, rest[None])), divisor)
        positions = trace.lm.net.positions(0, len(trace.token_ids))
        return block.attn.vectors(side, normed, term.head, positions, at)[: len(parts)]


def _other(trace: Trace, layer: int, head: int, places: tuple[int, int, int], position: int) -> Work[Other | None]:
    """The token of the text that in this place makes the rival the answer most surely."""
    query, key, rival = places
    ids = trace.token_ids[: query + 1]
    if position in (key, rival) or trace.intervention:
        return None
    tried = [token for token in dict.fromkeys(ids) if token != ids[position]][: max(1, LARGEST // len(ids))]
    texts = [[*ids[:position], token, *ids[position + 1 :]] for token in tried]
    rows, found = rows_of_a_piece(trace.lm, len(ids)), torch.empty(0)
    for start in range(0, len(texts), rows):
        with torch.inference_mode():
            some = torch.tensor(texts[start : start + rows], device=trace.lm.device)
            logits = trace.lm.net(some, last_only=True)[:, -1].float()
            sure = logits.log_softmax(-1)[:, ids[rival]].masked_fill(logits.argmax(-1) != ids[rival], -torch.inf)
        found = torch.cat((found, sure.cpu()))
        yield
    n = int(found.argmax())
    if found[n] == -torch.inf:
        return None
    run = run_trace(trace.lm, texts[n])
    yield
    scores = run.layer(layer).scores[head, query]
    return Other(position, tried[n], float(scores[key]), float(scores[rival]))
