"""TensorRT-LLM's lines about its paged cache.

Formats (NVIDIA/TensorRT-LLM; compared/sources.py): "Number of blocks in KV cache primary pool: N", "Number of tokens
per block: N.", "[MemUsageChange] Allocated X GiB for max tokens in paged KV cache (N).", and what was free before.
Since 2025 the blocks stand in a line for each window: "… [window size=W], tokens per block=N, primary blocks=M, …". A
trial run that measures the activations prints all of it before. The manager of 2026 ("KV cache manager v2 device quota
set to X GiB") says what the cache may take, and no tokens. The PyTorch executor measures a run before: "Peak memory
during memory usage profiling …, available KV cache memory when calculating max tokens: X GiB, …, kv size per token is
131072 bytes/token. device total memory …", without the unit before 2026, and with " + N bytes fixed cost" where states
take as much for each sequence. "MPI size: N, rank: R" counts the processes, one a GPU: tensor × pipeline parallel.
"""

from .amounts import count, printed
from .facts import EngineLog, Facts
from .lines import Found, LogLines, pattern

_ALLOCATED = pattern(r"Allocated (?P<value>#size:n# GiB) for max tokens in paged KV cache \(#tokens:w#\)")
_BYTES = pattern(r"Allocate (?P<value>#size:w# bytes) for k/v cache")
_QUOTA = pattern(r"KV cache manager v2 device quota set to (?P<value>(?P<size>\d{1,6}(?:\.\d{1,18})?) ?GiB)")
_USING = pattern(r"Using #value:w# tokens in paged KV cache")
_PRIMARY = pattern(r"KV cache primary pool: #value:w#")
_PER_BLOCK = pattern(r"Number of tokens per block: #value:w#")
_WINDOW = pattern(
    r"\[window size=#window:w#\],~tokens per block=#block:w#,~primary blocks=#value:w#"
    r"(?:,~secondary blocks=#secondary:w#)?(?:,~max sequence length=#length:w#)?"
)
_ROOM = pattern(r"max tokens in paged kv cache: total: #total:n# GiB, available: (?P<value>#size:n# GiB)")
_MEASURED = pattern(r"available KV cache memory when calculating max tokens: (?P<value>#size:n# GiB)")
_PER_TOKEN = pattern(
    r"kv size per token is (?P<value>#each:w#)(?: bytes?(?:/token)?)?(?: \+ (?P<fixed>#more:w# bytes) fixed cost)?"
)
_LENGTH = pattern(r"max_seq_len=#value:w#")
_RANKS = pattern(r"MPI size: #value:w#,")
LOOKED_FOR = (
    "[MemUsageChange] Allocated … GiB for max tokens in paged KV cache (…)",
    "KV cache manager v2 device quota set to …GiB",
    "available KV cache memory when calculating max tokens: … GiB, …, kv size per token is …",
)


def read(lines: LogLines) -> EngineLog | None:
    """What the log says of TensorRT-LLM's cache; None where no line is TensorRT-LLM's."""
    facts, allocated, plain = Facts(), lines.last(_ALLOCATED), lines.last(_BYTES)
    quota, measured, each = lines.last(_QUOTA), lines.last(_MEASURED), lines.last(_PER_TOKEN)
    if allocated is None and plain is None and quota is None and measured is None:
        return None
    facts.take("available", measured)
    told = quota or (None if allocated or plain else measured)
    if told:
        logged, tokens = printed(told["size"], "GiB", "" if quota else told["value"]), ""
        facts.take("available", quota)
    elif allocated:
        facts.note("allocated", allocated["value"], allocated.line)
        facts.note("pool_tokens", allocated["tokens"], allocated.line)
        logged, tokens = printed(allocated["size"], "GiB", allocated["value"]), allocated["tokens"]
        if not logged.bytes:  # AutoDeploy's pools are not the manager's, which so prints 0.00
            logged = None
    else:
        facts.take("allocated", plain)
        logged = printed(plain["size"], "B", plain["value"]) if plain else None
        tokens = facts.take("pool_tokens", lines.last(_USING))
    window = _window(lines)
    blocks = facts.take("blocks", lines.last(_PRIMARY) or window)
    per_block = facts.take("block_size", lines.last(_PER_BLOCK)) or facts.take("block_size", window, "block")
    facts.take("free_memory", lines.last(_ROOM))
    per_token = facts.take("per_token", each)
    facts.take("fixed_cost", each, "fixed")
    length = facts.take("length", lines.last(_LENGTH)) or facts.take("length", window, "length")
    ranks = facts.take("mpi_size", lines.last(_RANKS))
    return EngineLog(
        "TensorRT-LLM",
        facts.ordered,
        logged=logged,
        tokens=count(tokens) if tokens else None,
        blocks=count(blocks) if blocks else None,
        block_size=count(per_block) if per_block else None,
        length=count(length) if length else None,
        per_token=count(per_token) if per_token else None,
        tp=count(ranks) if ranks else None,
    )


def _window(lines: LogLines) -> Found | None:
    """The line with the blocks of the last allocation; None where windows of several sizes have blocks apart."""
    allocated = [one.line for one in lines.all(_ALLOCATED)]
    before = allocated[-2] if len(allocated) > 1 else 0
    found = [one for one in lines.all(_WINDOW) if one.line > before]
    return found[-1] if len({one["window"] for one in found}) == 1 else None
