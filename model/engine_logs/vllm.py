"""vLLM's lines about its cache.

Formats (vllm-project/vllm; compared/sources.py): V0 prints "# GPU blocks: N, # CPU blocks: M" (a device's name in
place of GPU since 0.7), V1 "Available KV cache memory: X GiB" (where it is set, "reserved X GiB memory for KV Cache")
and "GPU KV cache size: N tokens", both "Maximum concurrency for N tokens per request: Xx", since 2026 in one line with
the size. Where a model's sparse attention stores another format than kv_cache_dtype names, a line says so: "Using
custom fp8 kv-cache format for DeepSeekV3.2" or "Using bfloat16 kv-cache for DeepSeekV3.2", since 2026 "Using fp8_ds_mla
KV cache format for FLASHMLA_SPARSE backend".
"""

from decimal import Decimal

from .amounts import Printed, count, printed
from .facts import EngineLog, Facts
from .lines import Found, LogLines, pattern

_TOKENS = pattern(r"KV cache size: #value:w# tokens")
_BLOCKS = (pattern(r"GPU blocks: #value:w#"), pattern(r"# (?!CPU )\w{2,8} blocks: #value:w#"))
_CONCURRENCY = pattern(r"Maximum concurrency for #length:w# tokens per request: #value:n#x")
_ROOM = (
    pattern(r"Available KV cache memory: (?P<value>#size:n# ?GiB)"),
    pattern(r"reserved for KV Cache is (?P<value>#size:n# ?GiB)"),
    pattern(r"reserved (?P<value>#size:n# ?GiB) memory for KV Cache"),  # as kv_cache_memory_bytes sets it
    pattern(r"kv_cache_size=(?P<value>#size:n# ?GiB)"),
)
# How a start ends for which the room is too small; older versions say no longest length.
_LACKS = pattern(
    r"max seq len \(#length:w#\)[ ,]{1,3}\(?(?P<value>#size:n# GiB) KV cache is needed"
    r"[^\n]{0,80}?available KV cache memory \((?P<room>#left:n# GiB)\)"
    r"(?:[^\n]{0,80}?maximum model length is #longest:w#)?"
)
_PARTS = {
    "total_memory": pattern(r"total_gpu_memory[= (]{1,3}(?P<value>#size:n# ?GiB)"),
    "weights_memory": pattern(r"model weights take (?P<value>#size:n# ?GiB)"),
    "loaded_memory": pattern(r"[Ll]oading(?: model weights)? took (?P<value>#size:n# Gi?B)"),
    "beside_torch": pattern(r"non_torch_memory(?: takes |=)(?P<value>#size:n# ?GiB)"),
    "activation_peak": pattern(r"activation peak memory takes (?P<value>#size:n# ?GiB)"),
    "state_padded": pattern(r"Padding mamba page size by (?P<value>#share:n#%)"),
    "padded_layers": pattern(r"Add (?P<value>#layers:w# padding layers)"),
}
_BLOCK_SIZES = (
    pattern(r"Setting attention block size to #value:w# tokens"),
    pattern(r"kv cache block size to #value:w# for"),
    pattern(r"block_size['\"]?[=:] ?#value:w#"),
)
_TP = pattern(r"tensor_parallel_size['\"]?[=:] ?#value:w#")
_PP = pattern(r"pipeline_parallel_size['\"]?[=:] ?#value:w#")
_MODEL = (
    pattern(r"[( ]model=['\"](?P<value>[^'\"\n]{1,200})['\"]"),
    pattern(r"to load model (?P<value>[^\s]{1,200})\.\.\."),
    pattern(r"['\"]model(?:_tag)?['\"]: ['\"](?P<value>[^'\"\n]{1,200})['\"]"),  # non-default args
)
_DTYPE = pattern(r"[ (]dtype=torch\.(?P<value>\w{4,10})")
_KV_DTYPE = pattern(r"kv_cache_dtype['\"]?[=:] ?['\"]?(?P<value>\w{2,20})")
_STORED = pattern(
    r"Using (?:DeepSeek's )?(?P<value>\w{3,20}) KV cache format|Using (?P<custom>custom fp8) kv-cache format"
    r"|Using (?P<plain>bfloat16) kv-cache for"
)
# A release; of a build between two nobody can tell what it has of the later one.
_VERSION = (
    pattern(r"LLM engine \(v(?P<value>\d{1,2}\.\d{1,3})(?:\.\d{1,3})?\)"),
    pattern(r"vLLM API server version v?(?P<value>\d{1,2}\.\d{1,3})(?:\.\d{1,3})?(?![\w.+])"),
)
_BATCHED = pattern(r"max_num_batched_tokens['\"]?[=:] ?#value:w#")
_LENGTH = (
    pattern(r"max_seq_len=#value:w#"),
    pattern(r"Using max model len #value:w#"),
    pattern(r"max_model_len['\"]?[=:] ?#value:w#"),
)
_WEIGHTS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_CACHE = {"fp8": "fp8", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "bfloat16": "bf16", "float16": "fp16"} | {
    name: name for name in ("fp8_ds_mla", "nvfp4", "int8_per_token_head", "fp8_per_token_head")
}
# Set by hand in the environment: how many layers each stage has.
_PARTITION = pattern(r"VLLM_PP_LAYER_PARTITION['\"]?[=:]~['\"]?(?P<value>\d{1,4}(?:,\d{1,4}){1,63})(?![\d,])")
LOOKED_FOR = (
    "GPU KV cache size: … tokens",
    "Available KV cache memory: … GiB",
    "reserved … GiB memory for KV Cache",
    "# GPU blocks: …",
    "To serve at least one request with the models's max seq len (…), (… GiB KV cache is needed, …",
)


def read(lines: LogLines) -> EngineLog | None:
    """What the log says of vLLM's cache; None where no line is vLLM's."""
    facts = Facts()
    tokens, blocks = facts.take("pool_tokens", lines.last(_TOKENS)), facts.take("blocks", _first(lines, _BLOCKS))
    rooms, times = next(filter(None, map(lines.all, _ROOM)), []), lines.last(_CONCURRENCY)
    lacks = lines.last(_LACKS)
    if not (tokens or blocks or rooms or lacks):
        return None
    concurrency, length = facts.take("concurrency", times), facts.take("length", times, "length")
    for code, wanted in _PARTS.items():
        facts.take(code, lines.last(wanted))
    block_size = facts.take("block_size", _first(lines, _BLOCK_SIZES))
    batched = facts.take("batched", lines.last(_BATCHED))
    facts.take("needed", lacks)
    longest = facts.take("longest", lacks, "longest")
    length = facts.take("length", lacks, "length") or length or facts.take("length", _first(lines, _LENGTH))
    weights, cache = facts.take("weights_dtype", lines.last(_DTYPE)), facts.take("cache_dtype", lines.last(_KV_DTYPE))
    cache = _stored(lines, facts) or cache
    tp, pp = facts.take("tp", lines.last(_TP)), facts.take("pp", lines.last(_PP))
    partition = facts.take("partition", lines.last(_PARTITION))
    version = facts.take("version", _first(lines, _VERSION))
    # Each rank prints what it has; a server that starts anew prints all again, and the last start counts.
    rooms = rooms[-count(tp or "1") * count(pp or "1") :]
    for one in rooms:
        facts.take("available", one)
    sizes = [printed(one["size"], "GiB", one["value"]) for one in rooms]
    if lacks and not rooms:
        facts.take("available", lacks, "room")
        sizes = [printed(lacks["left"], "GiB", lacks["room"])]
    model = facts.take("model", _first(lines, _MODEL))
    return EngineLog(
        "vLLM",
        facts.ordered,
        logged=min(sizes, key=_bytes, default=None),
        tokens=count(tokens) if tokens else None,
        dtype=dtype_of(weights, cache),
        stated=stated_in(weights, cache),
        model=model,
        blocks=count(blocks) if blocks else None,
        block_size=count(block_size) if block_size else None,
        batched=count(batched) if batched else None,
        length=count(length) if length else None,
        concurrency=Decimal(concurrency.replace(",", "")) if concurrency else None,
        tp=count(tp) if tp else None,
        pp=count(pp) if pp else None,
        partition=tuple(map(int, filter(None, partition.split(",")))),
        seen=len(sizes),
        rooms=tuple(sorted(set(sizes), key=_bytes)),
        needed=printed(lacks["size"], "GiB", lacks["value"]) if lacks else None,
        longest=count(longest) if longest else None,
        version=_numbers(version),
    )


def dtype_of(weights: str, cache: str) -> str | None:
    """The cache's format: what kv_cache_dtype says, or that of the weights where it is "auto"; None for another."""
    return _CACHE.get(cache) if cache and cache != "auto" else _WEIGHTS.get(weights)


def stated_in(weights: str, cache: str) -> tuple[str, str] | None:
    """The engine's own word for the cache's format, of K and of V; None where it says none."""
    word = cache if cache and cache != "auto" else weights
    return (word, word) if word else None


def _stored(lines: LogLines, facts: Facts) -> str:
    """The format that vLLM says that it stores, whatever kv_cache_dtype calls it; "" where no line says it."""
    one = lines.last(_STORED)
    if one is None:
        return ""
    facts.note("stored_format", one.text, one.line)
    return "fp8_ds_mla" if one.get("custom") else one.get("value") or one.get("plain")


def _numbers(version: str) -> tuple[int, int] | None:
    """Such as (0, 11)."""
    major, _, minor = version.partition(".")
    return (int(major), int(minor)) if version else None


def _bytes(size: Printed) -> int:
    return size.bytes


def _first(lines: LogLines, wanted: tuple) -> Found | None:
    """The last line of the first pattern that has any."""
    return next(filter(None, map(lines.last, wanted)), None)
