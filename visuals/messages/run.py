"""The messages of a run: what ran, its tokens, its layers, what is written after it; and what the reader is told."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from model.config import RopeKind
from model.generation import StopReason

from .arrays import Packed

Level = Literal["error", "info"]


class Notice(TypedDict):
    """Something that the reader is told, a refusal for one: in the reader's language, by the text "message.<code>".

    `params` fill the text's placeholders. `sent` numbers what goes over the bus.
    """

    kind: Literal["message"]
    level: Level
    code: str
    params: dict[str, object]
    sent: NotRequired[int]


class RotaryMessage(TypedDict):
    """How RoPE turns a query or key: from channel `first` on, in pairs (i, i + pairs) or `interleaved` (2i, 2i + 1).

    `inv_freq` (pairs,) float32, radians per token; cos and sin are multiplied by `attention_scaling`.
    """

    inv_freq: Packed
    attention_scaling: float
    first: int
    interleaved: bool


class BucketsMessage(TypedDict):
    """Which of a head's learned numbers its scores get, by distance, (T,) uint16 each: for keys `before` the query, and
    for those `after` it where it sees them."""

    before: Packed
    after: Packed | None


class LatentWidths(TypedDict):
    """Widths under MLA: the latent's, of a head's key the rebuilt part and the shared rotated one, its values'."""

    rank: int
    nope: int
    rope: int
    value: int


class Ffn(TypedDict):
    """A layer's feed-forward. A neuron is `activation`(gate)·up, or `activation`(up) where it is not `gated`.

    `neurons` counts all of them, `width` those of one expert. With `experts`, a token goes to `top_k` of them, and the
    last `shared` neurons read every token. The fields from `scoring` on say how the router chooses (model.moe.Routing).
    """

    activation: str
    gated: bool
    neurons: int
    width: int
    experts: int
    top_k: int
    shared: int
    scoring: str | None
    normalised: bool
    scaling: float
    groups: int
    kept_groups: int
    group_best: int
    balanced: bool


class PartsMessage(TypedDict):
    """What a network is made of as it reads a run's tokens, null where it has no such part (model/layer_metadata.py).

    `stack` says which of two stacks it is. A query sees the last `window` keys up to itself. `sinusoidal`: positions
    are added to the embedding. `norms` gives each norm of a layer with the tap that it reads. `bias`
    (n_heads, T) float32 is added to a score by the distance from query to key, `bias_after` for keys after the query;
    with `no_position` it is 0 at any distance. `scale` multiplies q·k, and `cross_scale` that of a decoder's look at
    its source. `ffn` is by layer.
    """

    stack: Literal["encoder", "decoder"] | None
    causal: bool
    prefix: int | None
    window: int | None
    sinusoidal: bool
    norm_kind: Literal["layer", "rms"]
    norms: dict[str, str]
    embed_norm: bool
    rotary: RotaryMessage | None
    bias: Packed | None
    bias_after: Packed | None
    no_position: bool
    buckets: BucketsMessage | None
    scale: float
    cross_scale: float | None
    latent: LatentWidths | None
    ffn: list[Ffn]


class RopeScalingMessage(TypedDict):
    """How RoPE is stretched beyond the context of pre-training: model.config.RopeScaling, which says what each is."""

    kind: RopeKind
    factor: float
    original_max_context: int
    low_freq_factor: float | None
    high_freq_factor: float | None
    attention_factor: float | None
    beta_fast: float
    beta_slow: float
    mscale: float | None
    mscale_all_dim: float | None
    truncate: bool


class Int8Message(TypedDict):
    """What weights of 8 bits change in the answers: model.weight_error.WeightError, which says what each is."""

    tokens: int
    logit_rms: float
    logit_max: float
    kl: float
    same: float


class ModelMessage(TypedDict):
    """The model as it runs: its shape, the `device` and `dtype` in use as text ("CPU", "float32"), and its parts.

    `max_context` is in tokens. `rope_theta` is null where nothing is rotated, `int8` where no weights have 8 bits.
    """

    name: str
    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    ffn_hidden: int
    vocab_size: int
    norm_eps: float
    max_context: int
    rope_theta: float | None
    eos_ids: list[int]
    n_parameters: int
    device: str
    dtype: str
    int8: Int8Message | None
    rope_scaling: RopeScalingMessage | None
    parts: PartsMessage


class TokensMessage(TypedDict):
    """A run's T tokens: their ids, and the text of each by itself."""

    ids: list[int]
    pieces: list[str]


class NormFigures(TypedDict):
    """A figure of every norm, float32: (L, T) of the norms inside the layers, (T,) of the final one; null where the
    network has no such norm, or the norm no such figure."""

    attn: Packed | None
    cross: Packed | None
    ffn: Packed | None
    final: Packed | None


class NextMessage(TypedDict):
    """The K candidates for the next token, most probable first.

    `logits` (K,) float32; exp(logit − `log_z`) is a candidate's probability, and `tail` that of all other tokens
    together.
    """

    ids: list[int]
    pieces: list[str]
    logits: Packed
    log_z: float
    vocab_size: int
    tail: float


class DrawnWith(TypedDict):
    """How a token was drawn, with which seed, and after how many draws with it. temperature 0 takes the most probable,
    top_k 0 and top_p 1 leave every token in."""

    temperature: float
    top_k: int
    top_p: float
    seed: int
    draws: int


class StepMessage(TypedDict):
    """One written token, the one at `index` after the prompt.

    `probability` is the model's own, `drawn_probability` the one after temperature, top-k and top-p. `cache_bytes` and
    `cache_tokens` are what the KV cache held when it was chosen. `stop` says why nothing follows. `next` is what it was
    chosen from, where that is sent. `own`: it was chosen with the changes of the run that it is of.
    """

    index: int
    id: int
    piece: str
    probability: float
    drawn_probability: float
    cache_bytes: int
    cache_tokens: int
    seconds: float
    stop: StopReason | None
    sampling: DrawnWith
    next: NextMessage | None
    own: bool


class StepsMessage(TypedDict):
    """The last tokens written after the run `run`, the newest last."""

    kind: Literal["step"]
    run: str
    steps: list[StepMessage]
    sent: NotRequired[int]


class NeuronArrays(TypedDict):
    """What neurons read, before activation, and what their output is multiplied by, float32 of one shape.

    `gate` is null where the feed-forward has none, `weight` where it has no experts. NaN where the token does not go to
    the neuron's expert.
    """

    gate: Packed | None
    up: Packed
    weight: Packed | None


class TopNeuronsMessage(NeuronArrays):
    """The K neurons of each token with the largest activations, strongest first: (T, K) each, `neuron` integers."""

    neuron: Packed


class NeuronsMessage(NeuronArrays):
    """Every neuron of a layer: (N,) at one token, (T, N) where `token` is null."""

    kind: Literal["neurons"]
    run: str
    layer: int
    token: int | None


class CrossMessage(TypedDict):
    """A decoder's second attention: queries `q` (n_heads, T, head_dim), the source's keys `k` (n_heads, S, head_dim),
    float32."""

    q: Packed
    k: Packed


class LayerMessage(TypedDict):
    """One layer of a run: `q` (n_heads, T, head_dim) and `k` (n_kv_heads, T, head_dim), float32, before RoPE.

    Where keys are rebuilt from a latent, `k` is null and `k_rot` has them, (n_heads, T, head_dim), after RoPE. `top` is
    of every token, `neurons` of one.
    """

    kind: Literal["layer"]
    run: str
    layer: int
    q: Packed
    k: Packed | None
    k_rot: Packed | None
    cross: CrossMessage | None
    top: TopNeuronsMessage
    neurons: NeuronsMessage


class LayersMessage(TypedDict):
    """Several layers of a run, in the order in which they were asked for."""

    kind: Literal["layers"]
    run: str
    layers: list[LayerMessage]


class Changes(TypedDict, total=False):
    """What a page asked to be changed in a run: what is switched off, as [layer, head] or [layer, neuron] or by layer.

    `prefix`: how many tokens at the start all see each other. `patches`: [layer, token] where the stream is that of the
    run `source`. What begins with "encoder_" is in the encoder. `parts` stand in place of the network's own, each as
    "field:value" of model.replaced.parts.Parts.
    """

    heads: list[list[int]]
    cross: list[list[int]]
    neurons: list[list[int]]
    attention: list[int]
    ffn: list[int]
    prefix: list[int]
    parts: list[str]
    patches: list[list[int]]
    source: str
    encoder_heads: list[list[int]]
    encoder_neurons: list[list[int]]
    encoder_attention: list[int]
    encoder_ffn: list[int]


class TraceMessage(TypedDict):
    """What ran, its tokens, and what its norms divide by (`rms`) and subtract (`mean`)."""

    model: ModelMessage
    tokens: TokensMessage
    rms: NormFigures
    mean: NormFigures


class SourceMessage(TraceMessage):
    """What an encoder made of a run's prompt: a run without a choice, since nothing is written after it."""

    id: str
    changes: Changes


class Start(TypedDict):
    """Where to look first: the head that the answer misses most, at the token that it looks at most. No `key` of a head
    that looks at a source text; no `query` either where nothing was measured."""

    layer: int
    head: int
    query: NotRequired[int]
    key: NotRequired[int]


class RunMessage(TraceMessage):
    """A whole run: what is small for all layers, and one layer. The first `n_prompt` tokens are the prompt's.

    `encoder` is what an encoder read, null without one: then the tokens are the decoder's. `next` is the choice after
    the last token, `steps` the tokens from n_prompt on as far as it is known how they were chosen. `seconds` is how
    long the forward pass and its recording took; of a run that grew, the pass that it grew from. `sinks` are the
    positions of tokens whose stream spikes, where heads park (model/analysis/sinks.py). `generating`: more is being
    written. `start` is where to look first, where the page left that open. `note` is what is to be said of a run that
    is not all that was asked for.
    """

    kind: Literal["run"]
    id: str
    prompt: str
    n_prompt: int
    encoder: SourceMessage | None
    next: NextMessage
    layer: LayerMessage
    steps: list[StepMessage]
    seconds: float
    sinks: list[int]
    changes: Changes
    generating: NotRequired[bool]
    start: NotRequired[Start]
    note: NotRequired[Notice]
    sent: NotRequired[int]


BusMessage = RunMessage | StepsMessage | Notice
