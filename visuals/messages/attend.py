"""What the chapter on attention is sent."""

from typing import Literal

from typing_extensions import TypedDict

from .arrays import Packed


class ValuesDetail(TypedDict):
    """The value vectors of a layer, `v` (n_kv_heads, T, width) float32."""

    v: Packed


class ProjectionDetail(TypedDict):
    """What makes a head's q, k or v of the normed stream n: rows·n + bias, of all K = head_dim channels or of one.

    `rows` (K, d), `bias` (K,). Where q and k are normalised themselves, that is then divided by `divisor` (T,) and
    multiplied by `gamma` (K,). float32.
    """

    rows: Packed
    bias: Packed | None
    gamma: Packed | None
    divisor: Packed | None


class LatentDetail(TypedDict):
    """What a layer with MLA keeps of each token, `latent` (T, rank) and the rotated `key` (T, rope), and what one head
    makes of it: `nope` (T, nope) of its keys, `value` (T, value), and `absorbed` (T, rank), its queries brought to the
    latents. By query, its weighted latents `mean_latent` (T, rank), and what it hands to W_O, (T, value): `mixed` of
    values, `mixed_latent` of that mean. float32."""

    latent: Packed
    key: Packed
    nope: Packed
    value: Packed
    absorbed: Packed
    mean_latent: Packed
    mixed: Packed
    mixed_latent: Packed


class HeadWriteDetail(TypedDict):
    """What one head writes to the stream at one token, `written` (d,) = W_O[:, the head's columns] · `mixed` (width,).

    `stream` (d,) is the stream before attention, `attn_out` (d,) what all heads write together. `channels` (K,) int32
    are those with the largest |written|, `rows` (K, width) their rows of W_O. Else float32.
    """

    mixed: Packed
    written: Packed
    stream: Packed
    attn_out: Packed
    channels: Packed
    rows: Packed


class HeadScoreMessage(TypedDict):
    """How much one head does a job, mostly from 0 to 1."""

    layer: int
    head: int
    score: float


class HeadKindMessage(TypedDict):
    """A job of heads: its definition in words, the heads that do it, best first, and texts that show the first, by
    language in `prompts`."""

    name: str
    definition: str
    best: list[HeadScoreMessage]
    prompt: str | None
    prompts: dict[str, str]


class HeadNamesDetail(TypedDict):
    """The jobs that heads of this model are known to do.

    `done` of `total` random sequences are measured; null where the jobs were measured on texts, or cannot be.
    """

    kinds: list[HeadKindMessage]
    done: int | None
    total: int


class ScoreSource(TypedDict):
    """One writer to the residual stream at a token (model.analysis.score_terms.Source)."""

    kind: Literal["embedding", "head", "cross", "ffn", "patch", "bias", "position"]
    layer: int | None
    head: int | None


class ScoreTermsDetail(TypedDict):
    """One score as a sum over what wrote to the two streams: `terms` (sources, sources) float32, the query's source by
    the key's. `score` is the layer's own, `total` the sum."""

    terms: Packed
    sources: list[ScoreSource]
    score: float
    total: float


SpikeWriter = Literal["embedding", "attn", "cross", "ffn", "patch"]


class SinkMessage(TypedDict):
    """One sink of a run: the steepest rise of its stream's largest |x|, and what that is to the last token.

    `channel` rises from `before` to `after` in `layer`, where `writer` `wrote` most of it; null of the embedding.
    `parked` heads give it at least half of the last token's weight; `lost` are the nats of log p of the most probable
    word that are lost where the last token may not look at it. Both are null where that is not measured.
    """

    token: int
    writer: SpikeWriter
    layer: int | None
    channel: int
    before: float
    after: float
    wrote: float
    parked: int | None
    lost: float | None


class SinksDetail(TypedDict):
    """A run's stream before each layer and after the last, `rms` and `largest` |x| (L + 1, T) and `median` |x| (L + 1,)
    of all tokens, float32; and its sinks.

    A sink's largest |x| is above `large`, and more than `times` the median. `piece` is the most probable word after the
    last token, null where nothing was measured of it.
    """

    rms: Packed
    largest: Packed
    median: Packed
    large: int
    times: int
    piece: str | None
    sinks: list[SinkMessage]


class PredictionMessage(TypedDict):
    """A run's next token with `count` K/V heads in every layer, or latents of `count` numbers.

    `kl` is KL(run ‖ changed) in nats, `p_answer` the probability of the run's own answer, and `best` the most probable
    token, with `p_best`. All are null where that is not measured so far.
    """

    count: int
    kl: float | None
    p_answer: float | None
    best: str | None
    p_best: float | None


class AttentionKindsDetail(TypedDict):
    """The run's most probable next token `answer`, its probability `p`, and what that becomes with every number of K/V
    heads that the query heads can share, each the mean of those that it stands for, and with a latent of several ranks
    from which all keys and values are rebuilt. `done` of them are measured."""

    answer: str
    p: float
    done: int
    heads: list[PredictionMessage]
    latents: list[PredictionMessage]
