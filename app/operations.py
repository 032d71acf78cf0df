"""Operations: what is worked out where the model is. They go by name, so that another process can be asked for one.

An operation is a function of a model, or of one of its recorded runs. Its arguments and its result are data that a
process can send: numbers, texts, lists, arrays, and tuples of such; never a function, never a live network. Long work
has a cost, from which an engine knows beforehand what a visitor asks for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from model import LanguageModel, Trace
from model.analysis import cacheless, head_jobs
from model.analysis.circuit import COUNTS
from model.analysis.content_words import whole_words
from model.analysis.exchange import ROUNDS, WIDTH
from model.analysis.head_losses import BUDGET as HEADS_BUDGET
from model.analysis.head_losses import POINTS as HEAD_POINTS
from model.analysis.head_losses import HeadLosses, heads_of_a_pass
from model.analysis.held_out import MOST_WORDS, PAIRS, TRIES
from model.analysis.kept_lens import fit_further, fit_of, jacobian_lens_at_every_depth, passes_of_a_token
from model.analysis.knock_out import PART, KnockedOut, window_rows
from model.analysis.lens import (
    best_tokens,
    contributions,
    lens_at_every_depth,
    logit_lens,
    norm_and_head,
    normalised,
    runners_up,
)
from model.analysis.longer_words import tokens_run
from model.analysis.looks_back import CONSIDERED, LooksBack
from model.analysis.looks_back import TRIED as HEADS_TRIED
from model.analysis.matching import LARGEST as OTHER_TOKENS
from model.analysis.neurons import firing
from model.analysis.nodes import POINTS, AnyNode
from model.analysis.other_words import word_swaps
from model.analysis.outside import COMPARED, knows_corpus, outside
from model.analysis.read_before import is_causal
from model.analysis.stream import stream_sizes
from model.analysis.swaps import LARGEST as SWAPPED_TOKENS
from model.analysis.switching import stacks
from model.analysis.why import N_RANDOM_CONTROLS
from model.analysis.word_candidates import LARGEST as OTHER_WORDS
from model.analysis.word_candidates import MOST_LONGER, TRIED
from model.pieces import InPieces, Work, in_pieces
from model.record import read_record
from model.replaced.exchange import offered
from model.replaced.norm_placement import run_branches
from visuals import circuit, ffn, glance, kv, why
from visuals.activations import kinds_info
from visuals.attend import head_columns, head_names, measured_heads, projection_info, score_terms_info
from visuals.attention_kinds import RANKS_AT_ONCE, AttentionKinds, attention_kinds_info
from visuals.choice import causal_info, logit_terms_info
from visuals.compare import cost_info, loss_info
from visuals.experts import routing_info
from visuals.latent import latent_info
from visuals.messages.circuit import CircuitControlsDetail, CircuitDetail
from visuals.messages.overview import TrainingDetail
from visuals.norm import Learned, learned_of, norms_of, vectors_before
from visuals.norm_replaced import branch_after, times_of
from visuals.overview_training import training_payload
from visuals.position_kinds import added_info, learned_bias_info
from visuals.routing import schemes_info
from visuals.run import layer_messages, neurons_message
from visuals.sinks import sinks_info
from visuals.source_code import code_payload
from visuals.tensors import tensors_payload
from visuals.token import merges_info

P = ParamSpec("P")
T = TypeVar("T")
# How many tokens pass through the whole network in a call: of the model, the run if there is one, and the arguments.
Cost = Callable[..., float]

# What long work costs, in passes over the text; one with its gradients, forth and back, counts as three.
BACK = 3
PULLS = 2 * BACK  # of why: what every head and neuron promises, and from where heads bring the answer
FORM_ROWS = 12  # of the last tokens
MATCHED = 8  # layers run once more, for two scores and for what two writers carried
CIRCUITS = 9 + 1  # that are run beside one: of its curve, and of all but its nodes
PAIRS_RUN = 1 + TRIES  # for its controls: its own, and those that are tried
AUTOMATIC = 3  # numbers of nodes that are tried with exchanges where nobody names one, about
EDGES_MEASURED = 4 + 3 * circuit.EDGES // 2  # for each one run, and its target once more
RACE_TOKENS = 512  # about so many are read without a cache, again and again, before the time of a race is over


@dataclass(frozen=True)
class Operation(Generic[P, T]):
    """`function(lm, *arguments)`, or `function(lm, trace, *arguments)` of one that `reads_run`.

    `cost` is there for long work, whose function comes in pieces (model/pieces.py). What is done `ahead` is short, but
    nobody waits for it yet: it has its turns after the long. An operation is sent as its name.
    """

    name: str
    function: Callable[..., T]
    reads_run: bool = False
    cost: Cost | None = None
    ahead: bool = False

    def __reduce__(self) -> tuple[Callable[[str], "Operation[..., Any]"], tuple[str]]:
        return named, (self.name,)

    @property
    def pieces(self) -> Callable[..., Work[T]]:
        """The pieces of long work. Raises TypeError for a short operation."""
        if not isinstance(self.function, InPieces):
            raise TypeError(f"{self.name} is one piece of work.")
        return self.function.pieces

    def given(self, trace: Trace | None, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """What the function is called with after the model. Raises ValueError where it lacks the run that it needs."""
        if not self.reads_run:
            return tuple(arguments)
        if trace is None:
            raise ValueError(f"{self.name}: expected a recorded run.")
        return (trace, *arguments)


_OPERATIONS: dict[str, Operation[..., Any]] = {}
OPERATIONS: Mapping[str, Operation[..., Any]] = MappingProxyType(_OPERATIONS)


def named(name: str) -> Operation[..., Any]:
    """The operation of this name. Raises KeyError where there is none."""
    return _OPERATIONS[name]


def _added(operation: Operation[P, T]) -> Operation[P, T]:
    if operation.name in _OPERATIONS:
        raise ValueError(f"two operations are named {operation.name}.")
    _OPERATIONS[operation.name] = operation
    return operation


def of_model(name: str, function: Callable[Concatenate[LanguageModel, P], T]) -> Operation[P, T]:
    """A short operation on a model."""
    return _added(Operation(name, function))


def of_run(
    name: str, function: Callable[Concatenate[LanguageModel, Trace, P], T], ahead: bool = False
) -> Operation[P, T]:
    """A short operation on a recorded run."""
    return _added(Operation(name, function, reads_run=True, ahead=ahead))


def long_of_model(name: str, function: InPieces[Concatenate[LanguageModel, P], T], cost: Cost) -> Operation[P, T]:
    """Long work on a model."""
    return _added(Operation(name, function, cost=cost))


def long_of_run(name: str, function: InPieces[Concatenate[LanguageModel, Trace, P], T], cost: Cost) -> Operation[P, T]:
    """Long work on a recorded run."""
    return _added(Operation(name, function, reads_run=True, cost=cost))


# What some of them do, where a function of the model gives what cannot be sent, or takes several.


@in_pieces
def _circuit_message(
    lm: LanguageModel, ids: Sequence[int], other: str, nodes: int | None, written: Sequence[int] | None
) -> Work[CircuitDetail]:
    """The message of a circuit: a circuit itself holds the network that it is of."""
    found = yield from circuit.circuit_info.pieces(lm, ids, other, nodes, written)
    return circuit.circuit_payload(found, lm.tokenizer.pieces)


@in_pieces
def _controls_message(
    lm: LanguageModel, ids: Sequence[int], other: str, nodes: Sequence[AnyNode], written: Sequence[int] | None
) -> Work[CircuitControlsDetail]:
    """The message of a circuit's controls, as that of a circuit."""
    found = yield from circuit.circuit_controls.pieces(lm, ids, other, nodes, written)
    return circuit.controls_payload(found, lm.tokenizer.pieces)


def _layer_norms(lm: LanguageModel, layer: int) -> dict[str, Learned]:
    """What the norms of a layer have learned, by name."""
    return {name: learned_of(lm, name, layer) for name in norms_of(lm) if name != "final"}


def _parts(lm: LanguageModel) -> dict[str, list[str | int]]:
    """What the network could have in place of its own parts."""
    return offered(lm.net)


def _training_message(lm: LanguageModel) -> TrainingDetail:
    """What the files beside a model's weights say about its training."""
    return training_payload(read_record(lm.directory))


# What long work costs.


def _run_tokens(_lm: LanguageModel, trace: Trace, *_: object) -> float:
    """One pass over a run's tokens, of both stacks where there are two."""
    return sum(len(run.token_ids) for run in stacks(trace))


def _passes(count: float) -> Cost:
    """So many of them."""
    return lambda lm, trace, *_: count * _run_tokens(lm, trace)


def _looks_cost(
    lm: LanguageModel,
    trace: Trace,
    _target: object,
    _position: object,
    _ablation: object,
    known: object = None,
    so_far: HeadLosses | None = None,
) -> float:
    """A part that is off changes the layers from its own on: half of them."""
    if not why.measurable(trace):
        return (PULLS + sum(glance.how_many(trace))) * _run_tokens(lm, trace)
    tokens = len(trace.token_ids)
    rests = _rests_cost(lm, trace) if known is None else tokens
    return rests + _heads_cost(lm, trace, HEADS_BUDGET, so_far) + (1 + N_RANDOM_CONTROLS) * tokens


def _heads_cost(lm: LanguageModel, trace: Trace, most: float, so_far: HeadLosses | None) -> float:
    """Heads off, each by itself: half of a run, since those below stay as they are. As many as `most` rows × tokens and
    the budget allow that are not measured so far; where the budget is too small for all, with gradients that choose."""
    tokens = len(trace.token_ids)
    every = lm.config.n_layers * lm.config.n_heads * tokens
    done = 0 if so_far is None else int(so_far.measured.sum()) * tokens
    chosen = BACK * HEAD_POINTS * tokens if every > HEADS_BUDGET and so_far is None else 0
    return min(most, max(0, min(every, HEADS_BUDGET) - done)) / 2 + chosen


def _further_cost(
    lm: LanguageModel, trace: Trace, _known: object, _ablation: object, start: int, so_far: HeadLosses | None = None
) -> float:
    """The text once, and heads until there are more than `start`: each may be of the lowest layer that is left."""
    tokens, layers, heads = len(trace.token_ids), lm.config.n_layers, lm.config.n_heads
    done = 0 if so_far is None else int(so_far.measured.sum())
    missing = max(0, start - done) + heads_of_a_pass(tokens)
    below = done // heads if layers * heads * tokens <= HEADS_BUDGET else 0  # all are measured then, the lowest first
    return tokens + _heads_cost(lm, trace, 2 * missing * tokens, so_far) * (1 - below / layers)


def _knocked_cost(
    _lm: LanguageModel, trace: Trace, _target: object, _position: object, so_far: KnockedOut | None = None
) -> float:
    """The text, and a row of the last token for each token of a part."""
    tokens = len(trace.token_ids)
    return tokens + min(PART, _unknown(tokens, so_far))


def _rests_cost(
    _lm: LanguageModel, trace: Trace, _target: object = None, _position: object = None, so_far: KnockedOut | None = None
) -> float:
    """The text, a row of the last token for every token that is not knocked out yet, and those that tell the form and
    where heads look."""
    tokens = len(trace.token_ids)
    return tokens + _unknown(tokens, so_far) + FORM_ROWS


def _unknown(tokens: int, so_far: KnockedOut | None) -> int:
    return tokens - (0 if so_far is None else len(so_far.lost))


def _windows_cost(lm: LanguageModel, trace: Trace, *_: object) -> float:
    """The text, and rows of the last token, one for every token in each window: of half of the layers."""
    return len(trace.token_ids) + window_rows(lm.config.n_layers, len(trace.token_ids)) / 2


def _back_cost(_lm: LanguageModel, trace: Trace, *_: object) -> float:
    """The text, a few values, two rows of the last token, and the text again with a head and without, at most twice."""
    return (3 + HEADS_TRIED) * len(trace.token_ids) + 2 + CONSIDERED


def _lens_cost(lm: LanguageModel, _trace: object, depths: Sequence[Any], targets: Sequence[Any]) -> float:
    """The head alone, at every depth and for every target."""
    share = lm.config.vocab_size * lm.config.d_model / lm.n_parameters
    return len(depths) * share * len(targets)


def _loss_cost(lm: LanguageModel, trace: Trace) -> float:
    return _lens_cost(lm, trace, trace.token_ids, (None,))


def _fit_cost(lm: LanguageModel, _trace: object) -> float:
    """One token of a lens; nothing where none is left."""
    with lm.in_use():
        fit = fit_of(lm)
    return 0.0 if fit.done == fit.tokens else passes_of_a_token(lm)


def _matching_cost(_lm: LanguageModel, trace: Trace, *_: object) -> float:
    return MATCHED * len(trace.token_ids) + OTHER_TOKENS


def _apart_cost(lm: LanguageModel, trace: Trace, _known: object, looks: LooksBack) -> float:
    """As of one head, which shares the layers that were run once more with the others; and what is told of its look."""
    heads = looks.looking[: why.COMPARED]
    return MATCHED * len(trace.token_ids) + len(heads) * OTHER_TOKENS + _back_cost(lm, trace)


def _outside_cost(*_: object) -> float:
    """The documents that a prompt is compared with are measured once, for all visitors."""
    return COMPARED


def _written_tokens(lm: LanguageModel, written: Sequence[int] | None) -> int:
    """Of what a decoder reads after an encoder, with the start token."""
    return 1 + len(written or ()) if lm.reads_source else 0


def _swaps_cost(
    lm: LanguageModel, _trace: object, text: str, _count: int, written: Sequence[int] | None = None
) -> float:
    """The texts with a word changed, of which a causal network runs what follows the word; the text itself, and a row
    of its last token for each that is knocked out."""
    tokens, causal = len(lm.tokenizer.encode(text)), _is_causal(lm)
    swapped = SWAPPED_TOKENS if knows_corpus(lm) or not causal else 0
    following = min(OTHER_WORDS, TRIED * tokens * (tokens + 1) // 2) if causal else 0
    return swapped + following + _longer_tokens(lm, text) * causal + 2 * tokens + _written_tokens(lm, written)


def _longer_tokens(lm: LanguageModel, text: str) -> int:
    """What is written on in the search for words of several tokens."""
    words = whole_words(lm.tokenizer.pieces(lm.tokenizer.encode(text)))
    return sum(sorted((tokens_run(len(at)) for at in words if len(at) > 1), reverse=True)[:MOST_LONGER])


def _is_causal(lm: LanguageModel) -> bool:
    with lm.in_use():
        return is_causal(lm.net)


def _tokens_that_differ(lm: LanguageModel, ids: Sequence[int], other: str) -> int:
    """How many tokens there are from the first that another text has otherwise: of them runs are made again and again.
    All of them where tokens see those after them."""
    same = 0 if not _is_causal(lm) else sum(1 for _ in takewhile(lambda two: two[0] == two[1], _both(lm, ids, other)))
    return max(1, len(ids) - same)


def _both(lm: LanguageModel, ids: Sequence[int], other: str) -> Iterator[tuple[int, int]]:
    return zip(ids, lm.tokenizer.encode(other), strict=False)


def _circuit_cost(
    lm: LanguageModel,
    _trace: object,
    ids: Sequence[int],
    other: str,
    nodes: int | None,
    written: Sequence[int] | None,
) -> float:
    """Both texts, of which what they begin with is run once; every node's attribution, exchanges, circuits; of a
    circuit no more is run than it keeps; the text once more, for what nodes read."""
    after = _written_tokens(lm, written)
    whole, run = len(ids) + after, _tokens_that_differ(lm, ids, other) + after
    kept = _kept_share(lm, nodes or COUNTS[-1])
    exchanges = (AUTOMATIC if nodes is None else 1) * (1 + ROUNDS * (BACK + WIDTH * kept))
    again = BACK * POINTS + exchanges + CIRCUITS * min(1.0, 2 * kept) + 1
    return 3 * whole + run + again * run


def _controls_cost(
    lm: LanguageModel,
    _trace: object,
    ids: Sequence[int],
    other: str,
    nodes: Sequence[AnyNode],
    written: Sequence[int] | None,
) -> float:
    """The pairs, of which what both texts begin with is run once; what is expected at each word; circuits."""
    after, differ = _written_tokens(lm, written), _tokens_that_differ(lm, ids, other)
    whole, run, circuits = len(ids) + after, differ + after, circuit.DRAWS + 1 + PAIRS
    kept = min(1.0, 2 * _kept_share(lm, len(nodes)))
    return min(MOST_WORDS, differ) * whole + PAIRS_RUN * (whole + run) + circuits * kept * run


def _kept_share(lm: LanguageModel, nodes: int) -> float:
    """About how much of a network runs where so many nodes alone are kept, each in a part of its own."""
    return 1.0 if lm.reads_source else min(1.0, nodes / (2 * lm.config.n_layers))


def _edges_cost(
    lm: LanguageModel,
    _trace: object,
    ids: Sequence[int],
    other: str,
    nodes: Sequence[AnyNode],
    _start: int,
    written: Sequence[int] | None,
) -> float:
    """Both texts, the circuit, and a run for each edge, its target once more. Of a causal network a run has the tokens
    that differ, and the layers from the target's on."""
    if not _is_causal(lm):
        return EDGES_MEASURED * (len(ids) + _written_tokens(lm, written))
    layers = lm.config.n_layers
    above = sum(layers - node.layer for node in nodes) / max(1, len(nodes))
    run = _tokens_that_differ(lm, ids, other)
    return 2 * len(ids) + run + circuit.EDGES * run * (above + 1) / layers


def _causal_cost(
    lm: LanguageModel, trace: Trace, ids: Sequence[int], other: str, written: Sequence[int] | None, *_: object
) -> float:
    """Both texts, and one run for each place. Of a causal network it has the tokens from the place on, and the layers
    above it: half of each, on average."""
    runs, after = stacks(trace), _written_tokens(lm, written)
    if not lm.reads_source:
        run = _tokens_that_differ(lm, ids, other)
        return 2 * len(ids) + (run + 1) * run / 2 * (trace.n_layers + 2) / 2
    counts = [len(ids), after]
    passes = 2 + sum((one.n_layers + 1) * count + 1 for one, count in zip(runs, counts, strict=True))
    return passes * (len(ids) + after)


def _recalled_cost(lm: LanguageModel, _trace: object, ids: Sequence[int], other: str, _known: object) -> float:
    """Both texts; from the first token that differs, a run for each layer's feed-forwards, two for controls, and one
    for each head of the layers in which it moves, about a tenth of all."""
    layers, heads = lm.config.n_layers, lm.config.n_heads
    return 2 * len(ids) + (layers + 2 + layers * heads / 10) * _tokens_that_differ(lm, ids, other)


def _kinds_cost(lm: LanguageModel, trace: Trace, so_far: AttentionKinds | None = None) -> float:
    """The first part is read off the run. Then a number of K/V heads is a pass; a few latents are one each, and what
    they are fitted to another."""
    if so_far is None:
        return 0
    pooled = None in so_far.heads.values()
    return (1 if pooled else RANKS_AT_ONCE + 1) * _run_tokens(lm, trace)


def _jobs_cost(_lm: LanguageModel, _trace: object, _count: int) -> float:
    """A page asks for one sequence more each time; those before are kept."""
    return head_jobs.TOKENS


def _cache_cost(_lm: LanguageModel, _trace: object, ids: Sequence[int], *_: object) -> float:
    return len(ids)


def _race_cost(_lm: LanguageModel, _trace: object, ids: Sequence[int], count: int) -> float:
    """As many tokens as fit into a few tenths of a second, each written both ways several times; two passes more."""
    most = max(1, min(count, RACE_TOKENS // len(ids)))
    return len(ids) * float(2 + cacheless.REPEATS * most)


# Of the network and its files.
MERGES = of_model("merges", merges_info)
HEAD_NAMES = of_model("head_names", head_names)
HEAD_COLUMNS = of_model("head_columns", head_columns)
HEAD_JOBS = long_of_model("head_jobs", measured_heads, _jobs_cost)
NORMS = of_model("norms", norms_of)
NORM_LEARNED = of_model("norm_learned", learned_of)
LEARNED_BIAS = of_model("learned_bias", learned_bias_info)
LAYER_NORMS = of_model("layer_norms", _layer_norms)
CONFIG_SPEC = of_model("config_spec", kv.spec_of)
LENS_FIT = of_model("lens_fit", fit_of)
FIT_LENS = long_of_model("fit_lens", fit_further, _fit_cost)
NETWORK_COST = of_model("network_cost", cost_info)
PARTS = of_model("parts", _parts)
CODE = of_model("code", code_payload)
TRAINING = of_model("training", _training_message)

# Of vectors that a run recorded.
BEST_TOKENS = of_model("best_tokens", best_tokens)
RUNNERS_UP = of_model("runners_up", runners_up)
LOGIT_LENS = of_model("logit_lens", logit_lens)
LENS = long_of_model("lens", lens_at_every_depth, _lens_cost)
JACOBIAN_LENS = long_of_model("jacobian_lens", jacobian_lens_at_every_depth, _lens_cost)
NORMALISED = of_model("normalised", normalised)
NORM_AND_HEAD = of_model("norm_and_head", norm_and_head)
CONTRIBUTIONS = long_of_model("contributions", contributions, _passes(2))  # every layer, and the head for both tokens
STREAM_SIZES = long_of_model("stream_sizes", stream_sizes, _run_tokens)
FIRING = long_of_model("firing", firing, _run_tokens)
NORM_INPUT = of_model("norm_input", vectors_before)
ADDED_POSITIONS = of_model("added_positions", added_info)
NORM_BRANCH = of_model("norm_branch", branch_after)
NORM_TIMES = of_model("norm_times", times_of)
RUN_BRANCHES = long_of_model("run_branches", run_branches, _run_tokens)
PROJECTION = of_model("projection", projection_info)
LATENT = of_model("latent", latent_info)
ROUTING = of_model("routing", routing_info)
ROUTING_SCHEMES = of_model("routing_schemes", schemes_info)
ACTIVATION_KINDS = of_model("activation_kinds", kinds_info)
WRITTEN_BY = of_model("written_by", ffn.written_by)
RAISED_BY = of_model("raised_by", ffn.raised_by)

# Of tokens.
CACHE_CONTENTS = long_of_model("cache_contents", cacheless.cache_contents, _cache_cost)
RACE = long_of_model("race", cacheless.race, _race_cost)
SWAPS = long_of_model("swaps", word_swaps, _swaps_cost)
CIRCUIT = long_of_model("circuit", _circuit_message, _circuit_cost)
CIRCUIT_CONTROLS = long_of_model("circuit_controls", _controls_message, _controls_cost)
EDGES = long_of_model("edges", circuit.edges_info, _edges_cost)
CAUSAL_MAP = long_of_model("causal_map", causal_info, _causal_cost)
RECALLED = long_of_model("recalled", why.gathered, _recalled_cost)

# Of a recorded run.
TENSORS = of_run("tensors", tensors_payload)
LAYERS = of_run("layers", layer_messages)
LAYERS_AHEAD = of_run("layers_ahead", layer_messages, ahead=True)
NEURONS = of_run("neurons", neurons_message)
NEURONS_AHEAD = of_run("neurons_ahead", neurons_message, ahead=True)
OPENING = of_run("opening", glance.opening)
SINKS = of_run("sinks", sinks_info)
KNOCKED = long_of_run("knocked", why.knocked, _knocked_cost)
RESTS = long_of_run("rests", why.rests, _rests_cost)
WINDOWS = long_of_run("windows", why.windows, _windows_cost)
HEADS = long_of_run("heads", why.heads, _further_cost)
LOOKS_BACK = long_of_run("looks_back", why.back, _back_cost)
LOOKS = long_of_run("looks", why.looked, _looks_cost)
MATCHING = long_of_run("matching", glance.matching_info, _matching_cost)
TOLD_APART = long_of_run("told_apart", why.told_apart, _apart_cost)
OUTSIDE = long_of_run("outside", outside, _outside_cost)
SCORE_TERMS = long_of_run("score_terms", score_terms_info, _run_tokens)
LOSS = long_of_run("loss", loss_info, _loss_cost)
ATTENTION_KINDS = long_of_run("attention_kinds", attention_kinds_info, _kinds_cost)
LOGIT_TERMS = long_of_run("logit_terms", logit_terms_info, _run_tokens)
