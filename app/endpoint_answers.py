"""What the named endpoints answer, as types. What each field holds is said in the docstrings of app/endpoints.py."""

from typing import NotRequired

from typing_extensions import TypedDict


class ModelAnswer(TypedDict):
    """Which model answered."""

    name: str
    n_parameters: int
    device: str
    dtype: str


class Candidate(TypedDict):
    """One of the most probable next tokens."""

    id: int
    piece: str
    logit: float
    probability: float


class TraceAnswer(TypedDict):
    """What happened inside during one run: what each RMSNorm divided by, and what comes next."""

    model: ModelAnswer
    token_ids: list[int]
    pieces: list[str]
    attn_norm_rms: list[list[float]]
    ffn_norm_rms: list[list[float]] | None
    final_norm_rms: list[float]
    next: list[Candidate]


class WrittenToken(TypedDict):
    """One token that the model wrote."""

    token_id: int
    piece: str
    probability: float
    cache_bytes: int
    seconds: float


class GenerateAnswer(TypedDict):
    """A text and how it was written on."""

    model: ModelAnswer
    prompt: str
    text: str
    stop: str | None
    steps: list[WrittenToken]


class Product(TypedDict):
    """One multiplication, as text and worked out."""

    what: str
    product: str
    bytes: int


class KeptBack(TypedDict):
    """What of a GPU's memory weights and cache may not take."""

    bytes: int
    activations: list[Product]
    context_bytes: int
    fragmentation_bytes: int


class GpusNeeded(TypedDict):
    """How many GPUs of a kind a load needs."""

    gpu: str
    at_least: int | None
    fits_on: int | None


class MemoryAnswer(TypedDict):
    """What fits on a GPU beside the weights."""

    gpu: str
    gpus: int
    decided_by: str
    usable_bytes: int
    kept_back: KeptBack
    weights: str
    weights_bytes: int
    weights_products: list[Product]
    fits: bool
    free_bytes: int
    largest_batch: int | None
    largest_context: int | None
    tokens_per_second_at_most: float | None
    gpus_needed: list[GpusNeeded]


class KvAnswer(TypedDict):
    """How many bytes a KV cache takes, with every multiplication."""

    model: str
    tokens: int
    batch: int
    dtype: str
    bytes: int
    bytes_per_token: int
    bytes_per_token_windows_full: int
    windows_full_at: int | None
    bytes_per_gpu: int
    products: list[Product]
    notes: list[str]
    source: list[str]
    memory: NotRequired[MemoryAnswer]
