"""The calculators' results as lines of plain English text, every multiplication printed."""

from collections.abc import Iterable
from fractions import Fraction

from . import KvBreakdown
from .beside import MIB
from .factors import Factor
from .growth import Phase, kv_growth
from .memory import GpuNeed, Largest, MemoryUse, Needs
from .options import plain_number
from .speed import DecodeBound
from .terms import Place
from .vllm_rule import GRAPHS
from .weights import OUTPUT, WeightBreakdown

PLACES: dict[Place, str] = {
    "full": "Full-attention layers",
    "sliding": "Sliding-window layers",
    "chunked": "Chunked-attention layers",
    "cross": "Cross-attention (the encoder's tokens, kept once)",
    "state": "Linear-attention or state-space layers, short convolutions (the same at any length)",
    "csa": "Compressed sparse attention (CSA)",
    "hca": "Heavily compressed attention (HCA)",
}
SPARSE = "Sparse-attention layers, which keep every token"  # those of "full" that an indexer chooses tokens for
NO_BF16 = "{name} is older than Ampere and has no bf16: vLLM refuses it or takes fp16 instead, of as many bytes."
ACTIVATIONS = {"stream": "residual stream", "ffn": "feed-forward", "logits": "logits"}
PARTS = {
    "kv": "K and V",
    "shared": "K, which is V too",
    "latent": "MLA latent and shared RoPE key",
    "indexer": "indexer key",
    "tail": "newest tokens, not quantised yet",
    "conv": "the convolution's last inputs",
    "recurrent": "state",
    "buffer": "tokens that fill no entry yet",
    "overlap": "the last full entry's tokens, which the next one reads too",
}


def breakdown_lines(breakdown: KvBreakdown) -> list[str]:
    """The whole arithmetic of a cache."""
    spec, options = breakdown.spec, breakdown.options
    kind = "no attention" if spec.attention.kind == "none" else spec.attention.kind
    lines = [
        f"{spec.name}: {kind}, KV cache for batch {breakdown.batch:,}, "
        f"{counted(breakdown.tokens, 'token')}, {breakdown.dtype}",
        "",
    ]
    indexed = {term.draft for term in breakdown.terms if (term.place, term.part) == ("full", "indexer")}
    for term in breakdown.terms:
        draft = "Draft model: " if term.draft else ""
        place = SPARSE if term.place == "full" and term.draft in indexed else PLACES[term.place]
        lines += _product(f"{draft}{place}: {PARTS[term.part]}", term.factors, term.bytes)
    lines += ["", f"Total      {size(breakdown.total_bytes)}"]
    if options.tp * options.pp > 1:
        lines.append(
            f"Per GPU    {size(breakdown.per_gpu_bytes)} on the one of {options.tp * options.pp} with most of it"
        )
    lines += _growth_lines(kv_growth(spec, breakdown.dtype, options))
    return lines + _note_lines(breakdown)


def _growth_lines(phases: tuple[Phase, ...]) -> Iterable[str]:
    """What a token takes; in several lines where windows drop older tokens once they are full."""
    for i, phase in enumerate(phases):
        if not phase.terms and i:
            yield f"{'':<11}nothing for each later token"
            continue
        when = " for each later token" if i else ""
        if phase.until is not None:
            when = f" up to token {phase.until:,}, which fills a {'chunk' if phase.fills == 'chunked' else 'window'}"
        if any(term.place in ("csa", "hca") for term in phase.terms):
            when = f" on average{when}"
        yield f"{'' if i else 'Per token':<11}{size(phase.bytes)}{when}"


def memory_lines(use: MemoryUse) -> list[str]:
    """Weights and cache on a kind of GPU, and whether they fit."""
    weights = use.weights
    formats = f"in {weights.dtype}, embeddings in {weights.embeddings}, norms and biases in {weights.small}"
    if weights.output != weights.embeddings:
        formats += f", the output matrix in {weights.output} (as {OUTPUT.source})"
    lines = ["", f"Weights {formats}", ""] if weights.terms else []
    for term in weights.terms:
        lines += _product(term.label, term.factors, term.bytes)
    if use.draft_weights:
        lines.append(f"Draft model {use.draft_weights.spec.name}: {size(use.draft_weights.total_bytes)}")
    each = f"on the fullest of {use.gpus}" if use.gpus > 1 else "on the GPU"
    verdict = f"fits, {use.free_bytes:,} B left" if use.fits else f"does not fit, {-use.free_bytes:,} B lacking"
    return [
        *lines,
        "",
        f"Weights    {size(weights.total_bytes)}" + _counted(weights),
        *{"lines": _named_lines, "share": _share_lines, "vllm": _vllm_lines}[use.by](use),
        f"Taken      {size(use.per_gpu_bytes)} {each}: {verdict}",
        *([f"Note       {NO_BF16.format(name=use.gpu.name)}"] if use.lacks_bf16 else []),
    ]


def _counted(weights: WeightBreakdown) -> str:
    """What was counted, where the files' own bytes stand in its place."""
    if weights.measured is None:
        return ""
    beside = f"; counted {weights.counted_bytes:,} B" if weights.terms else ", spread evenly over layers and GPUs"
    return f", as the files have it{beside}"


def _named_lines(use: MemoryUse) -> list[str]:
    """What weights and cache may take, where named lines decide."""
    gpu, beside = use.gpu, use.beside
    share = f" × {plain_number(use.percent)} %" if use.percent < 100 else ""
    taken = (
        f"{beside.activation_bytes:,} B of activations − {beside.context:,} B of context − "
        f"{beside.fragmentation:,} B for fragmentation"
    )
    return [
        *_beside_lines(use),
        *_product(
            "Fragmentation",
            (Factor(use.setup.fragmentation_mib, "mib"), Factor(MIB, "bytes_each")),
            beside.fragmentation,
        ),
        "",
        f"{gpu.name}: {gpu.memory:,} B{share} − {taken} = {use.usable_bytes:,} B for weights and cache ({gpu.read_in})",
    ]


def _share_lines(use: MemoryUse) -> list[str]:
    """What weights and cache may take, where a share of the memory decides, and what the rest is for."""
    gpu, left, percent = use.gpu, use.left_bytes, plain_number(use.percent)
    rest = f"{left:,} B left for fragmentation" if left >= 0 else f"{-left:,} B lacking"
    return [
        *_beside_lines(use),
        "",
        f"{gpu.name}: {gpu.memory:,} B × {percent} % = {size(use.usable_bytes)} usable ({gpu.read_in})",
        f"Kept back  {use.kept_back:,} B − {use.beside.activation_bytes:,} B of activations − "
        f"{use.beside.context:,} B of context: {rest}",
    ]


def _vllm_lines(use: MemoryUse) -> list[str]:
    """What vLLM's own rule leaves for the cache of a share of the memory, and in how many blocks."""
    gpu, beside, rule = use.gpu, use.beside, use.vllm
    weights, percent = use.usable_bytes - rule.room, plain_number(use.percent)
    lines = [
        *_beside_lines(use),
        "",
        f"{gpu.name}: {gpu.memory:,} B × {percent} % − {weights:,} B of weights − {beside.activation_bytes:,} B of "
        f"activations − {beside.context:,} B of context − {GRAPHS:,} B of CUDA graphs = {rule.room:,} B for the cache "
        f"({gpu.read_in})",
    ]
    if (blocks := rule.blocks) is None:
        return [*lines, f"Cache      {rule.room:,} B − {rule.cache:,} B = {rule.free:,} B"]
    return [
        *lines,
        f"Blocks     {blocks.count:,} of {blocks.each:,} B, one of them never handed out, {blocks.needed:,} needed: "
        f"({blocks.count:,} − 1 − {blocks.needed:,}) × {blocks.each:,} B = {rule.free:,} B",
    ]


def _beside_lines(use: MemoryUse) -> list[str]:
    """Activations and context as products."""
    lines = ["", "Beside weights and cache, on each GPU", ""]
    if use.beside.lacking:
        lines += [f"Without {', '.join(use.beside.lacking)}, not all activations are counted.", ""]
    for term in use.beside.activations:
        lines += _product(f"Activations: {ACTIVATIONS[term.label]}", term.factors, term.bytes)
    context = (Factor(use.setup.context_mib, "mib"), Factor(MIB, "bytes_each"))
    return [*lines, *_product(f"{use.gpu.interface or 'GPU'} context", context, use.beside.context)]


def largest_lines(batch: Largest, context: Largest) -> list[str]:
    """The largest batch at the context, and the largest context at the batch."""
    tokens, sequences = batch.use.cache.tokens, context.use.cache.batch
    return [
        f"Largest batch at {counted(tokens, 'token')}: {_value(batch, 'sequence')}",
        f"Largest context at batch {sequences:,}: {_value(context, 'token')}{_trained(context)}",
    ]


def bound_lines(bound: DecodeBound) -> list[str]:
    """The bound on decoding speed."""
    use, micro = bound.use, bound.micro_batches
    share = f" / {micro:,} micro-batches" if micro > 1 else ""
    read = f"({bound.weight_bytes:,} B of weights + {bound.cache_bytes:,} B of cache{share})"
    speed = f"({counted(use.weights.tp, 'rank')} × {use.gpu.bandwidth:,} B/s)"
    lines = [
        f"Decoding   at most {_rates(1 / bound.seconds, use.cache.batch)}, at one token a step",
        f"           a step takes at least {read} / {speed} = {_milliseconds(bound.seconds)}",
    ]
    if micro > 1:
        lines.append("           Stages work at the same time, each on another micro-batch.")
    if bound.spread_weight_bytes > bound.weight_bytes:
        lines.append(
            f"           at least {_milliseconds(bound.spread_seconds)}, where a micro-batch's tokens choose as many "
            f"experts as they can ({bound.spread_weight_bytes:,} B of weights)"
        )
    return [
        *lines,
        "           Where drafted tokens are accepted (draft model, MTP), times the tokens accepted a step.",
        "           A bound: arithmetic, communication and imperfect bandwidth make it slower.",
    ]


def needs_lines(needs: Needs) -> list[str]:
    """What a load takes, and how many GPUs of each kind."""
    cache = needs.cache
    lines = [
        "",
        f"{counted(cache.batch, 'user')} at {counted(cache.tokens, 'token')}: {size(needs.total_bytes)}",
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
        lines.append(f"  {need.gpu.name:<15} {_at_least(need)}fits on {found}")
    return lines + _note_lines(cache)


def _at_least(need: GpuNeed) -> str:
    if need.at_least is None:
        return "the lines beside weights and cache take all of it; "
    return f"at least {need.at_least:,} by bytes; "


def size(count: int) -> str:
    """`count` bytes in B (exact), GiB (1024³) and GB (10⁹), such as "1,073,741,824 B = 1 GiB = 1.074 GB"; what is
    below 10 MB in KiB and kB."""
    power, binary, decimal = (3, "GiB", "GB") if count >= 10**7 else (1, "KiB", "kB")
    return f"{count:,} B = {figure(count / 1024**power)} {binary} = {figure(count / 1000**power)} {decimal}"


def figure(value: float) -> str:
    """A number to four digits, without an exponent: all digits of its whole part."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def counted(count: int, what: str) -> str:
    """Such as "1 token" and "8,192 tokens"."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _milliseconds(seconds: Fraction) -> str:
    return f"{figure(float(1000 * seconds))} ms"


def _rates(steps: Fraction, batch: int) -> str:
    """Steps a second as tokens a second, of one sequence and of all."""
    return f"{figure(float(steps))} tokens/s a sequence, {figure(float(steps * batch))} in all"


def _note_lines(breakdown: KvBreakdown) -> list[str]:
    return [f"Note       {note.text}" for note in breakdown.notes]


def _product(title: str, factors: Iterable[Factor], count: int) -> list[str]:
    return [title, "  " + " × ".join(map(str, factors)), f"  = {size(count)}"]


def _value(largest: Largest, what: str) -> str:
    if not largest.value:
        return "none fits"
    return counted(largest.value, what) + (" or more: memory does not limit it" if largest.unlimited else "")


def _trained(context: Largest) -> str:
    limit = context.use.cache.spec.max_context
    return f" (the model's own context: {limit:,})" if limit is not None else ""
