"""The calculators' results as lines of plain English text, every multiplication printed."""

from collections.abc import Iterable
from fractions import Fraction

from . import KvBreakdown, kv_bytes_per_token
from .memory import Largest, MemoryUse, Needs
from .speed import DecodeBound
from .terms import Factor

TITLES = {
    "self.full": "Full-attention layers",
    "self.sliding": "Sliding-window layers",
    "self.chunked": "Chunked-attention layers",
    "cross": "Cross-attention (the encoder's tokens, kept once)",
    "state": "Linear layers (the same at any length)",
    "kv": "K and V",
    "latent": "MLA latent and shared RoPE key",
    "indexer": "indexer key",
    "tail": "newest tokens, not quantised yet",
    "conv": "the convolution's last inputs",
    "recurrent": "state",
}


def breakdown_lines(breakdown: KvBreakdown) -> list[str]:
    """The whole arithmetic of a cache."""
    spec, options = breakdown.spec, breakdown.options
    lines = [
        f"{spec.name}: {spec.attention.kind}, KV cache for batch {breakdown.batch:,}, {breakdown.tokens:,} tokens, "
        f"{breakdown.dtype}",
        "",
    ]
    for term in breakdown.terms:
        place, what = term.label.removeprefix("draft.").rsplit(".", 1)
        draft = "Draft model: " if term.label.startswith("draft.") else ""
        lines += _product(f"{draft}{TITLES[place]}: {TITLES[what]}", term.factors, term.bytes)
    lines += ["", f"Total      {size(breakdown.total_bytes)}"]
    if options.tp * options.pp > 1:
        lines.append(f"Per GPU    {size(breakdown.per_gpu_bytes)} on the fullest of {options.tp * options.pp}")
    token = kv_bytes_per_token(spec, breakdown.dtype, options)
    lines.append(f"Per token  {token:,} B = {token / 1024:,.4g} KiB = {token / 1000:,.4g} kB")
    return lines + [f"Note       {note.text}" for note in breakdown.notes]


def memory_lines(use: MemoryUse) -> list[str]:
    """Weights and cache on a kind of GPU, and whether they fit."""
    weights = use.weights
    lines = [
        "",
        f"Weights in {weights.dtype}, embeddings in {weights.embeddings}, norms and biases in {weights.small}",
        "",
    ]
    for term in weights.terms:
        lines += _product(term.label, term.factors, term.bytes)
    if use.draft_weights:
        lines.append(f"Draft model {use.draft_weights.spec.name}: {size(use.draft_weights.total_bytes)}")
    gpu, each = use.gpu, f"on the fullest of {use.gpus}" if use.gpus > 1 else "on the GPU"
    verdict = f"fits, {use.free_bytes:,} B left" if use.fits else f"does not fit, {-use.free_bytes:,} B lacking"
    return [
        *lines,
        "",
        f"Weights    {size(weights.total_bytes)}",
        f"{gpu.name}: {gpu.memory:,} B × {use.usable_percent} % = {size(use.usable_bytes)} usable ({gpu.source})",
        f"Taken      {size(use.per_gpu_bytes)} {each}: {verdict}",
        f"Not counted: activations, CUDA itself, fragmentation (the other {100 - use.usable_percent} %)",
    ]


def largest_lines(batch: Largest, context: Largest) -> list[str]:
    """The largest batch at the context, and the largest context at the batch."""
    tokens, sequences = batch.use.cache.tokens, context.use.cache.batch
    return [
        f"Largest batch at {tokens:,} tokens: {_value(batch)}",
        f"Largest context at batch {sequences:,}: {_value(context)} tokens{_trained(context)}",
    ]


def bound_lines(bound: DecodeBound) -> list[str]:
    """The bound on decoding speed."""
    cache = bound.use.cache
    step = f"{bound.weight_bytes:,} B of weights + {bound.cache_bytes:,} B of cache"
    lines = [
        f"Decoding   at most {_rates(1 / bound.seconds, cache.batch)}: a step reads {step} at "
        f"{bound.use.gpu.bandwidth:,} B/s per GPU"
    ]
    if bound.spread_weight_bytes > bound.weight_bytes:
        lines.append(
            f"           at most {_rates(1 / bound.spread_seconds, cache.batch)}, where the batch's tokens choose "
            f"different experts ({bound.spread_weight_bytes:,} B of weights)"
        )
    return [*lines, "           A bound: arithmetic, communication and imperfect bandwidth make it slower."]


def needs_lines(needs: Needs) -> list[str]:
    """What a load takes, and how many GPUs of each kind."""
    cache = needs.cache
    lines = [
        "",
        f"{cache.batch:,} users at {cache.tokens:,} tokens: {size(needs.total_bytes)}",
        f"  weights {size(needs.weights.total_bytes)}",
        f"  cache   {size(cache.total_bytes)}",
    ]
    for need in needs.gpus:
        if need.use is None:
            found = "more than 8 tensor-parallel ranks × one stage a layer"
        else:
            options = need.use.cache.options
            found = f"{need.use.gpus} (tp {options.tp} × pp {options.pp}" + (
                f", dcp {options.dcp})" if options.dcp > 1 else ")"
            )
            if need.one_server and need.one_server.gpus != need.use.gpus:
                found += f"; in one server without stages {need.one_server.gpus}"
        lines.append(f"  {need.gpu.name:<15} at least {need.at_least:,} by bytes; fits on {found}")
    return lines


def size(count: int) -> str:
    """`count` bytes in B (exact), GiB (1024³) and GB (10⁹), such as "1,073,741,824 B = 1 GiB = 1.074 GB"."""
    return f"{count:,} B = {count / 2**30:,.4g} GiB = {count / 10**9:,.4g} GB"


def _rates(steps: Fraction, batch: int) -> str:
    """Steps a second as tokens a second, of one sequence and of all."""
    return f"{float(steps):,.4g} tokens/s a sequence, {float(steps * batch):,.4g} in all"


def _product(title: str, factors: Iterable[Factor], count: int) -> list[str]:
    return [title, "  " + " × ".join(map(str, factors)), f"  = {size(count)}"]


def _value(largest: Largest) -> str:
    if not largest.value:
        return "none fits"
    return f"{largest.value:,}" + (" or more: memory does not limit it" if largest.unlimited else "")


def _trained(context: Largest) -> str:
    limit = context.use.cache.spec.max_context
    return f" (the model's own context: {limit:,})" if limit is not None else ""
