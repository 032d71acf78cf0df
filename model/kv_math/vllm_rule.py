"""vLLM's own rule for a share of a GPU's memory (--gpu-memory-utilization). Pure integers.

Cache = share − weights − peak of the activations − memory outside PyTorch − CUDA graphs, in whole blocks, of which one
is never handed out (vllm/v1/worker/gpu_worker.py, determine_available_memory; vllm/v1/core/kv_cache_utils.py,
get_num_blocks; block_pool.py). Activations and context are measured there, and counted here.
"""

from dataclasses import dataclass

from . import kv_breakdown
from .options import KvOptions
from .use import MemoryUse

BLOCK = 16  # tokens of a block, where the calculator sets no other
# 0.26 GiB: "Estimated CUDA graph memory" in a log of vllm-project/vllm #30515. Since v0.21.0 it comes out of the share.
GRAPHS = 266 << 20


@dataclass(frozen=True)
class Blocks:
    """Whole blocks in `room` bytes: `count` of `each` bytes and `size` tokens, `rest` bytes too few for one more.
    `needed` are those of all sequences, each `per_sequence`."""

    size: int
    each: int
    count: int
    rest: int
    per_sequence: int
    needed: int


@dataclass(frozen=True)
class VllmRule:
    """What the rule leaves: `room` bytes for the cache. `blocks` are None where layers of several kinds, stages or a
    draft model share them out otherwise."""

    room: int
    cache: int
    blocks: Blocks | None

    @property
    def free(self) -> int:
        """Bytes that are left; below 0, so many are lacking."""
        if self.blocks is None:
            return self.room - self.cache
        return (self.blocks.count - 1 - self.blocks.needed) * self.blocks.each


def vllm_rule(use: MemoryUse) -> VllmRule:
    """The rule on the fullest GPU of `use`."""
    stage = use.stage_bytes.index(use.per_gpu_bytes)
    taken = use.weight_stage_bytes[stage] + use.beside.activation_bytes + use.beside.context + GRAPHS
    room = use.share_bytes - taken
    return VllmRule(room, use.cache.stage_bytes[stage], _blocks(use, room))


def _blocks(use: MemoryUse, room: int) -> Blocks | None:
    spec, options = use.cache.spec, use.setup.options
    others = (options.draft, options.reserved_tokens, options.reserved_batch, options.shared_layers)
    shared = options.shared_prefix or max(options.pp, options.dcp) > 1 or any(one is not None for one in others)
    if shared or spec.compressed or spec.is_encoder_decoder or set(spec.layer_kinds) != {"full"}:
        return None
    size = options.block_size if options.block_size > 1 else BLOCK
    plain = KvOptions(tp=options.tp, layout=options.layout, indexer=options.indexer, mtp=options.mtp)
    each = kv_breakdown(spec, size, 1, use.setup.dtype, plain).per_gpu_bytes
    count, rest = divmod(max(room, 0), each)
    per_sequence = -(-use.cache.tokens // size)
    return Blocks(size, each, count, rest, per_sequence, use.cache.batch * per_sequence)
