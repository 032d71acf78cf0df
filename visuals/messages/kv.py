"""What the chapter on the KV cache is sent. Bytes are decimal texts (see `sums`)."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from model.kv_math.use import By
from model.kv_math.vllm_rule import SizeFrom, Uncounted
from model.published.spec import AttentionKind

from .arrays import Packed
from .run import Notice
from .sums import Product, PublishedCount, TermMessage


class Remark(TypedDict):
    """A remark on a model, a config or a GPU, in each language of the page."""

    en: str
    zh: str


class Refused(TypedDict):
    """Why there is no answer to one part of a question: as in a Notice."""

    code: str
    params: dict[str, object]


class NoteMessage(TypedDict):
    """Something that a reader should know about a figure: a code of the page's texts, English text, particulars."""

    code: str
    text: str
    params: dict[str, object]


class GrowthPhase(TypedDict):
    """What each token of a sequence adds up to token `until`, null in the last phase."""

    until: int | None
    terms: list[Product]


class Growth(TypedDict):
    """What one more token adds before and after a window ("sliding" or "chunked") is full."""

    kind: str
    phases: list[GrowthPhase]


class Breakdown(TypedDict):
    """A KV cache's bytes: the sum and its products; of one token; of one GPU among `gpus`, which are `tp` × `pp`; and
    remarks. The sum is `copies` times the cache, which some ranks keep whole. `stage_layers` are the layers of each
    pipeline stage. `growth` is null where every token adds the same."""

    model: str
    tokens: int
    batch: int
    dtype: str
    bytes: str
    copies: int
    per_token: str
    growth: Growth | None
    gpus: int
    tp: int
    pp: int
    stage_layers: list[int]
    per_gpu: str
    terms: list[TermMessage]
    notes: list[NoteMessage]


class Card(TypedDict):
    """A model's shape as far as its cache depends on it, its parameters as counted and as published, where that was
    read, and which options mean something for it.

    `max_context`, `window` and `chunk` are in tokens. `latent` are the widths that MLA caches, [latent, RoPE key].
    `d_model` is 0, and `parameters` null, where a config does not state them. `also` are models of the same shape.
    """

    name: str
    family: str
    kind: AttentionKind
    n_layers: int
    d_model: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    group_size: int
    max_context: int | None
    window: int | None
    chunk: int | None
    latent: list[int] | None
    parameters: int | None
    published: PublishedCount | None
    source: list[Remark]
    not_verified: list[Remark]
    notes: list[Remark]
    options: list[str]
    also: list[str]


class CalledCard(Card):
    """A card, and what a pasted config calls itself."""

    called: str | None


class FormatMessage(TypedDict):
    """A number format; `engine` is the program whose it is, "" for a plain number type."""

    name: str
    engine: str
    about: str


class PairMessage(TypedDict):
    """The formats of K and of V where they are two, and the name that settings and requests have for both."""

    name: str
    k: str
    v: str


class KvModelsAnswer(TypedDict):
    """Every model of the catalogue, every format, every two that K and V may have apart, and every model_type whose
    config.json is read."""

    models: list[Card]
    formats: list[FormatMessage]
    pairs: list[PairMessage]
    families: list[str]


class KindRow(TypedDict):
    """One shape under one kind of attention: bytes and products, or why it has none (`refused`).

    `head_dim` is how wide its values are, and but in MLA its keys, which are rebuilt `key_width` wide. `own` marks the
    model's own kind. `latent` as on a card, `assumed` where it is not the model's own.
    """

    kind: AttentionKind
    own: bool
    n_kv_heads: int
    head_dim: int
    key_width: int
    latent: list[int] | None
    assumed: bool
    bytes: NotRequired[str]
    per_token: NotRequired[str]
    terms: NotRequired[list[TermMessage]]
    refused: NotRequired[Refused]


class KvAnswer(Breakdown):
    """A model's cache, and the same shape as MHA, GQA, MQA and MLA."""

    card: CalledCard
    kinds: list[KindRow]


class LiveCacheDetail(TypedDict):
    """What a run's cache holds after `tokens` tokens: bytes as measured and by the `formula`, and the length of each
    token's K and V rows, (L, T) float32. `kinds` are at one token."""

    tokens: int
    bytes: int
    formula: str
    dtype: str
    k_norm: Packed
    v_norm: Packed
    kinds: list[KindRow]


Dash = Literal["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
Shape = Literal["", "/", "x"]


class CacheLine(TypedDict):
    """How plotly strokes a trace's line."""

    color: str
    width: int
    dash: Dash


class CacheEdge(TypedDict):
    """How plotly strokes the edge of a mark."""

    color: str
    width: int


class CachePattern(TypedDict):
    """Plotly's pattern over a bar's own colour."""

    shape: Shape
    fillmode: str
    fgcolor: str


class CacheMarker(TypedDict):
    """How plotly fills a bar, or a mark of `size` pixels."""

    color: str
    size: NotRequired[int]
    line: NotRequired[CacheEdge]
    pattern: NotRequired[CachePattern]


class CachePoints(TypedDict):
    """The points of a trace: their models, tokens and exact bytes, and the models as plotly writes them."""

    models: list[str]
    tokens: list[int]
    bytes: list[str]
    hovertext: list[str]


class CacheTrace(CachePoints):
    """A trace of plotly's, whose heights the page works out. Those with a `name` are in the legend.

    `contexts` are the models' own contexts, null where the bar is not beyond it.
    """

    type: Literal["scatter", "bar"]
    x: list[int] | list[list[str]]
    name: NotRequired[str]
    mode: NotRequired[str]
    line: NotRequired[CacheLine]
    marker: NotRequired[CacheMarker]
    contexts: NotRequired[list[int | None]]
    hovertemplate: NotRequired[str | list[str]]
    hoverinfo: NotRequired[str]


class CacheChart(TypedDict):
    """A chart of bytes as PlotlyFigure says; `unit` is how many bytes one is on the axis."""

    data: list[CacheTrace]
    layout: dict[str, object]
    unit: int


class Excluded(TypedDict):
    """A model that is not drawn, and why."""

    model: str
    refused: Refused


class KvChartAnswer(TypedDict):
    """A chart, the models that its settings do not fit, and of how many sequences, in which format, on how many
    tensor-parallel ranks, pipeline stages and ranks that split the tokens it is."""

    figure: CacheChart
    excluded: list[Excluded]
    batch: int
    dtype: str
    tp: int
    pp: int
    dcp: int


class GpuMessage(TypedDict):
    """A GPU: bytes of memory, bytes a second, and where that was read; `reported` is its memory in MiB as nvidia-smi
    has it, 0 where no report is known, and `reported_in` names the report. `stated` is the datasheet's memory, "0" of
    the reader's own GPU; it counts where nothing is reported. `interface`: CUDA, ROCm or Metal; "" of the reader's
    own GPU. `step_tokens`: those of a step by default."""

    name: str
    memory: str
    bandwidth: str
    source: Remark
    reported: int
    reported_in: str
    reporter: str
    stated: str
    interface: str
    step_tokens: int


class VllmBlocks(TypedDict):
    """`count` whole blocks of `size` tokens and `each` bytes, `rest` bytes too few for one more; `needed` for all
    sequences, each `per_sequence`."""

    size: int
    size_from: SizeFrom
    each: str
    count: int
    rest: str
    per_sequence: int
    needed: int


class VllmMessage(TypedDict):
    """vLLM's own rule: `room` bytes of the share for the cache once weights, activations, context and CUDA `graphs` are
    taken out, and what is `free` of them; `blocks` is null where they are not counted. `uncounted` is why not, or that
    there is no "room" for them."""

    free: str
    graphs: str
    room: str
    blocks: VllmBlocks | None
    uncounted: Uncounted


class DefaultShare(TypedDict):
    """Bytes that are `free` of `percent` of a GPU's memory by vLLM's rule; below 0, so many are lacking."""

    percent: int
    free: str


class UseMessage(TypedDict):
    """Of `gpus` GPUs the one that decides what fits: what its weights and its cache take, and what is free of what is
    `usable`.

    `stated_free` is free of the memory that the datasheet states, null where that is what counts; `vllm` is its own
    rule for the share, `vllm_default` the same for the share that vLLM takes by default, null where the question
    has a share or vLLM does not run on the GPU. `share` is `percent` of its memory. `by` "share", it is usable; by
    "lines", less each line of BesideMessage; by "vllm", less activations, context and CUDA graphs, and `free` is
    that rule's. `all_weights` and `all_cache` are of all GPUs; `all_weights` as counted, null where the config does
    not say enough, `measured` as the files have them. `weights_in` is the weights' format, "" where they are not
    counted, `stored` a remark on it; `format_unknown`: no source says how the model's files are stored, and no
    format was chosen. `output_in` is that of the output matrix by `output_source`, "" where the embeddings have the
    same. `without_mtp`: what the model's MTP layers take, where they are not counted, else null. `lacks_bf16`: K and
    V are to be in bf16, which the GPU does not have.
    """

    gpu: GpuMessage
    gpus: int
    tp: int
    pp: int
    by: By
    percent: float
    share: str
    usable: str
    weights: str
    cache: str
    free: str
    stated_free: str | None
    vllm: VllmMessage
    vllm_default: DefaultShare | None
    fits: bool
    all_weights: str | None
    measured: str | None
    without_mtp: str | None
    all_cache: str
    weights_in: str
    output_in: str
    output_source: str
    stored: list[Remark]
    format_unknown: bool
    lacks_bf16: bool
    weight_terms: list[Product]


class LargestMessage(TypedDict):
    """The largest batch or context; `next` is what one more would take on the fullest GPU: weights and cache, by lines
    these too. Where vLLM's whole blocks decide, it is with `next_blocks` of them, else null."""

    value: int
    unlimited: bool
    per_gpu: str
    next: str | None
    next_blocks: int | None
    max_context: int | None


class BoundMessage(TypedDict):
    """The least time of a decoding step, (weights + cache / micro_batches) / (ranks × bandwidth), in `milliseconds`,
    and the tokens a second of `each` sequence and of `all`. "spread": with as many experts as tokens can choose."""

    weights: str
    cache: str
    micro_batches: int
    ranks: int
    bandwidth: str
    milliseconds: float
    spread_weights: str
    spread_milliseconds: float
    each: float
    all: float
    batch: int


class Unanswered(TypedDict):
    """A part of a question that has no answer, so that the others still stand."""

    refused: Refused


class BesideMessage(TypedDict):
    """What the memory that weights and cache may not take, `kept_back`, is for on the fullest GPU: the activations of a
    step of `step_tokens`, the GPU's own `context`, and what is `left` for fragmentation. By lines that is what was set;
    by a share it is the rest, and below 0 so much is lacking. `lacking` are fields without which not all activations
    are counted."""

    kept_back: str
    step_tokens: int
    activations: list[Product]
    activation_bytes: str
    context: str
    left: str
    lacking: list[str]


class KvFitAnswer(TypedDict):
    """Weights and cache on a GPU, what stands beside them, the largest batch and context there, and the bound on
    decoding."""

    use: UseMessage
    beside: BesideMessage
    batch: LargestMessage | Unanswered
    context: LargestMessage | Unanswered
    bound: BoundMessage | Unanswered


class Layout(TypedDict):
    """How a load lies on GPUs: tensor-parallel ranks × pipeline stages, and decode-context ranks."""

    gpus: int
    tp: int
    pp: int
    dcp: int


class GpuNeedMessage(TypedDict):
    """How many GPUs of one kind a load needs: `at_least` by bytes alone, over the bytes that weights and cache may take
    of one, its `room`, null where the lines beside them take all of it; the `layout` that fits, null where none does;
    `one_server` the fewest without stages. `memory`: bytes of one, of which `percent` may be taken; whose figure it is
    as in GpuMessage. `room` is of one among `room_tp` that share each layer, and so the activations.
    `alone`: those of them that weights and cache may take where it is the only one. `own`: the
    reader's own figures."""

    name: str
    own: bool
    memory: str
    percent: float
    reported: int
    reported_in: str
    reporter: str
    source: Remark
    room: str
    room_tp: int
    alone: str
    at_least: int | None
    layout: Layout | None
    one_server: int | None
    per_gpu: NotRequired[str]


class KvNeedsAnswer(TypedDict):
    """What `users` with `tokens` tokens each take, and how many GPUs of each kind. `by` as in UseMessage."""

    by: By
    users: int
    tokens: int
    weights: str
    cache: str
    total: str
    gpus: list[GpuNeedMessage]
    notes: list[NoteMessage]


class KvGpusAnswer(TypedDict):
    """The GPUs and the weights' formats to choose from."""

    gpus: list[str]
    weights: list[FormatMessage]


class PlaceData(TypedDict):
    """The answer at one place of a slider."""

    data: object


class PlaceNotice(TypedDict):
    """Why there is none at this one."""

    message: Notice


class KvPlacesAnswer(TypedDict):
    """The answers along a slider: the first whole, each as what changes in it: null nothing, [value] in its place, else
    the changes by key or index."""

    first: PlaceData | PlaceNotice
    changes: list[object]


class RaceStep(TypedDict):
    """One token written with and without a cache after `tokens` tokens: seconds and multiply–adds of each way, and
    whether both chose the same."""

    tokens: int
    token_id: int
    cached_seconds: float
    full_seconds: float
    cached_work: int
    full_work: int
    same: bool


class KvRaceAnswer(TypedDict):
    """A few tokens of the race."""

    steps: list[RaceStep]
