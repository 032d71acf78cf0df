"""TensorRT-LLM's lines about its paged cache.

Formats (NVIDIA/TensorRT-LLM; compared/sources.py): "Number of blocks in KV cache primary pool: N", "Number of tokens
per block: N.", "[MemUsageChange] Allocated X GiB for max tokens in paged KV cache (N).", and what was free before.
"""

from .amounts import count, printed
from .facts import EngineLog, Facts
from .lines import LogLines, pattern

_ALLOCATED = pattern(r"Allocated (?P<value>#size:n# GiB) for max tokens in paged KV cache \(#tokens:w#\)")
_BYTES = pattern(r"Allocate (?P<value>#size:w# bytes) for k/v cache")
_USING = pattern(r"Using #value:w# tokens in paged KV cache")
_PRIMARY = pattern(r"KV cache primary pool: #value:w#")
_PER_BLOCK = pattern(r"Number of tokens per block: #value:w#")
_ROOM = pattern(r"max tokens in paged kv cache: total: #total:n# GiB, available: (?P<value>#size:n# GiB)")
_LENGTH = pattern(r"max_seq_len=#value:w#")
LOOKED_FOR = ("[MemUsageChange] Allocated … GiB for max tokens in paged KV cache (…)",)


def read(lines: LogLines) -> EngineLog | None:
    """What the log says of TensorRT-LLM's cache; None where no line is TensorRT-LLM's."""
    facts, allocated, plain = Facts(), lines.last(_ALLOCATED), lines.last(_BYTES)
    if allocated is None and plain is None:
        return None
    if allocated:
        facts.note("allocated", allocated["value"], allocated.line)
        facts.note("pool_tokens", allocated["tokens"], allocated.line)
        logged, tokens = printed(allocated["size"], "GiB", allocated["value"]), allocated["tokens"]
    else:
        facts.take("allocated", plain)
        logged = printed(plain["size"], "B", plain["value"]) if plain else None
        tokens = facts.take("pool_tokens", lines.last(_USING))
    blocks, per_block = facts.take("blocks", lines.last(_PRIMARY)), facts.take("block_size", lines.last(_PER_BLOCK))
    facts.take("free_memory", lines.last(_ROOM))
    length = facts.take("length", lines.last(_LENGTH))
    return EngineLog(
        "TensorRT-LLM",
        facts.ordered,
        logged=logged,
        tokens=count(tokens) if tokens else None,
        blocks=count(blocks) if blocks else None,
        block_size=count(per_block) if per_block else None,
        length=count(length) if length else None,
    )
