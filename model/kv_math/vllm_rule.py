"""vLLM's own rule for a share of a GPU's memory (--gpu-memory-utilization). Pure integers.

Cache = share − weights − peak of the activations − memory outside PyTorch − CUDA graphs, in whole blocks, of which one
is never handed out (vllm/v1/worker/gpu_worker.py, determine_available_memory; vllm/v1/core/kv_cache_utils.py,
get_num_blocks; block_pool.py). Activations and context are measured there, and counted here.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import kv_breakdown
from .options import KvOptions

if TYPE_CHECKING:
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


# Why blocks are not counted; "" where they are.
Uncounted = Literal["", "room", "kinds", "stages", "draft", "shared", "reserved"]


@dataclass(frozen=True)
class VllmRule:
    """What the rule leaves: `room` bytes for the cache. `blocks` are None where they are shared out otherwise, for the
    reason `uncounted`: layers of several "kinds", "stages" or ranks that share out tokens, a "draft" model, tokens or
    layers that are "shared", "reserved" tokens; or where there is no "room"."""

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
    """The rule on the fullest GPU of `use`."""
    stage = use.stage_bytes.index(use.per_gpu_bytes)
    taken = use.weight_stage_bytes[stage] + use.beside.activation_bytes + use.beside.context + GRAPHS
    room = use.share_bytes - taken
    uncounted = _uncounted(use) or ("room" if room < 0 else "")
    blocks = None if uncounted else _blocks(use, room)
    return VllmRule(room, use.cache.stage_bytes[stage], blocks, uncounted)


def _uncounted(use: "MemoryUse") -> Uncounted:
    """Why a block is not the same bytes of every layer, for all tokens alike."""
    spec, options = use.cache.spec, use.setup.options
    reasons: dict[Uncounted, bool] = {
        "kinds": bool(spec.compressed) or spec.is_encoder_decoder or set(spec.layer_kinds) != {"full"},
        "stages": max(options.pp, options.dcp) > 1,
        "draft": options.draft is not None,
        "shared": bool(options.shared_prefix) or options.shared_layers is not None,
        "reserved": options.reserved_tokens is not None or options.reserved_batch is not None,
    }
    for reason, applies in reasons.items():
        if applies:
            return reason
    return ""


def _blocks(use: "MemoryUse", room: int) -> Blocks:
    spec, options = use.cache.spec, use.setup.options
    size = options.block_size if options.block_size > 1 else BLOCK
    plain = KvOptions(tp=options.tp, layout=options.layout, indexer=options.indexer, mtp=options.mtp)
    each = kv_breakdown(spec, size, 1, use.setup.dtype, plain).per_gpu_bytes
    count, rest = divmod(room, each)
    per_sequence = -(-use.cache.tokens // size)
    return Blocks(size, each, count, rest, per_sequence, use.cache.batch * per_sequence)
