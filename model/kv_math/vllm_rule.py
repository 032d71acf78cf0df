"""vLLM's own rule for a share of a GPU's memory (--gpu-memory-utilization). Pure integers.

Cache = share − weights − peak of the activations − memory outside PyTorch − CUDA graphs, in whole blocks, of which one
is never handed out (vllm/v1/worker/gpu_worker.py, determine_available_memory; vllm/v1/core/kv_cache_utils.py,
get_num_blocks; block_pool.py). Activations and context are measured there, and counted here. Of pipeline stages all
get as many blocks as the one that can hold the fewest (kv_cache_utils.py, get_kv_cache_configs).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import kv_breakdown
from .options import KvOptions, caches_latents

if TYPE_CHECKING:
    from .use import MemoryUse

BLOCK = 16  # tokens of a block, where the calculator sets no other
# The same of a latent: FlashMLA takes no smaller ones, which is chosen on Hopper GPUs, nor does what FlashInfer has for
# it on Blackwell (vllm/platforms/cuda.py, check_and_update_config).
LATENT_BLOCK = 64
# 0.26 GiB: "Estimated CUDA graph memory" in a log of vllm-project/vllm #30515. Since v0.21.0 it comes out of the share.
GRAPHS = 266 << 20
# Per cent: the default of gpu_memory_utilization in vllm/config/cache.py, as docs.vllm.ai has it for v0.26.0; in older
# versions, such as v0.9, it is 90.
DEFAULT_SHARE = 92


# Whose a block's size is: the calculator's own, vLLM's usual one, or that of kernels for a latent.
SizeFrom = Literal["set", "usual", "latent"]


@dataclass(frozen=True)
class Blocks:
    """Whole blocks in `room` bytes: `count` of `each` bytes and `size` tokens, `rest` bytes too few for one more.
    `needed` are those of all sequences, each `per_sequence`."""

    size: int
    size_from: SizeFrom
    each: int
    count: int
    rest: int
    per_sequence: int
    needed: int

    @property
    def taken(self) -> int:
        """Bytes of the blocks that are needed, and of the one that is never handed out."""
        return (self.needed + 1) * self.each


# Why blocks are not counted; "" where they are.
Uncounted = Literal["", "room", "kinds", "context", "draft", "shared", "reserved"]


@dataclass(frozen=True)
class VllmRule:
    """What the rule leaves on one GPU of `stage`: `room` bytes for the cache. `blocks` are None where they are shared
    out otherwise, for the reason `uncounted`: layers of several "kinds", ranks that share out a "context", a "draft"
    model, tokens or layers that are "shared", "reserved" tokens; or where there is no "room"."""

    stage: int
    room: int
    cache: int
    blocks: Blocks | None
    uncounted: Uncounted

    @property
    def free(self) -> int:
        """Bytes that are left; below 0, so many are lacking."""
        if self.blocks is None:
            return self.room - self.cache
        return (self.blocks.count - 1 - self.blocks.needed) * self.blocks.each


def vllm_rule(use: "MemoryUse") -> VllmRule:
    """The rule on the stage that can hold the fewest blocks; where these are not counted, on the fullest GPU."""
    left = use.share_bytes - use.beside.activation_bytes - use.beside.context - GRAPHS
    rooms, cache = [left - weights for weights in use.weight_stage_bytes], use.cache.stage_bytes
    if (uncounted := _uncounted(use)) or min(rooms) < 0:
        stage = use.stage_bytes.index(use.per_gpu_bytes)
        return VllmRule(stage, rooms[stage], cache[stage], None, uncounted or "room")
    each = _block_bytes(use)
    stage = min(range(len(rooms)), key=lambda one: rooms[one] // each[one])
    return VllmRule(stage, rooms[stage], cache[stage], _blocks(use, rooms[stage], each[stage]), "")


def _uncounted(use: "MemoryUse") -> Uncounted:
    """Why a block is not the same bytes of every layer, for all tokens alike."""
    spec, options = use.cache.spec, use.cache.options
    reasons: dict[Uncounted, bool] = {
        "kinds": bool(spec.compressed) or spec.is_encoder_decoder or set(spec.layer_kinds) != {"full"},
        "context": options.dcp > 1,
        "draft": options.draft is not None,
        "shared": bool(options.shared_prefix) or options.shared_layers is not None,
        "reserved": options.reserved_tokens is not None or options.reserved_batch is not None,
    }
    for reason, applies in reasons.items():
        if applies:
            return reason
    return ""


def _block_size(use: "MemoryUse") -> tuple[int, SizeFrom]:
    """Tokens of a block, and whose number that is."""
    options = use.cache.options
    if options.block_size > 1:
        return options.block_size, "set"
    return (LATENT_BLOCK, "latent") if caches_latents(use.cache.spec, options) else (BLOCK, "usual")


def _block_bytes(use: "MemoryUse") -> tuple[int, ...]:
    """Bytes of a block on one GPU of each stage."""
    options = use.cache.options
    plain = KvOptions(tp=options.tp, pp=options.pp, layout=options.layout, indexer=options.indexer, mtp=options.mtp)
    return kv_breakdown(use.cache.spec, _block_size(use)[0], 1, use.setup.dtype, plain).stage_bytes


def _blocks(use: "MemoryUse", room: int, each: int) -> Blocks:
    size, size_from = _block_size(use)
    count, rest = divmod(room, each)
    per_sequence = -(-use.cache.tokens // size)
    return Blocks(size, size_from, each, count, rest, per_sequence, use.cache.batch * per_sequence)
