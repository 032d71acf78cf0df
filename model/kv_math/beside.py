"""What a GPU holds beside weights and cache: activations, CUDA's own context, and what fragmentation makes unusable.

Pure integers. The activations are those of the largest moment of a step, counted from shapes: the stream and its normed
copy; the feed-forward's gate, input and product; the logits in fp32. A real engine holds a few buffers more.
"""

from dataclasses import dataclass
from math import prod

from ..published.spec import ModelSpec
from ..published.unstated import unstated_in
from .factors import Factor

STEP_TOKENS = 8192  # vLLM's max_num_batched_tokens, as it logs it on large GPUs
UBATCH_TOKENS = 512  # llama.cpp's micro-batch, --ubatch-size: on an Apple chip, where vLLM's CUDA does not run
CONTEXT_MIB = 358  # 0.35 GiB: non_torch_memory in a log of vLLM on one RTX 3090 (vllm-project/vllm #10517)
# What vLLM leaves for memory that its profile missed: redundancy_buffer_memory in vllm/v1/worker/gpu_worker.py, which
# vllm-project/vllm #37428 calls its buffer for fragmentation. llama.cpp's --fit leaves 1,024 MiB.
FRAGMENTATION_MIB = 150
MAX_MIB = 10**6
MIB = 1 << 20


@dataclass(frozen=True)
class Activations:
    """One product: what tensors of one kind take. `label` is "stream", "ffn" or "logits"."""

    label: str
    factors: tuple[Factor, ...]

    @property
    def bytes(self) -> int:
        return prod(factor.value for factor in self.factors)


@dataclass(frozen=True)
class Beside:
    """Bytes of one GPU, line by line, that weights and cache may not take: the same on every GPU of a model.
    `lacking` are the fields without which not all activations are counted.

    Only the last pipeline stage makes logits; they are counted on each.
    """

    activations: tuple[Activations, ...]
    context: int
    fragmentation: int
    lacking: tuple[str, ...] = ()

    @property
    def activation_bytes(self) -> int:
        """The activations together."""
        return sum(term.bytes for term in self.activations)

    @property
    def bytes(self) -> int:
        """All lines together."""
        return self.activation_bytes + self.context + self.fragmentation


def lacking(spec: ModelSpec) -> tuple[str, ...]:
    """The fields, missing or wrong in the config, for which some of the activations are left out."""
    needed = frozenset[str]().union(*_lacking(spec).values())
    return tuple(name for one in spec.unstated if (name := str(one.params["field"])) in needed)


def _lacking(spec: ModelSpec) -> dict[str, frozenset[str]]:
    """Of each of the activations, by label, the fields that it is counted from, missing or wrong in the config."""
    other_kind = [name for one in spec.unstated if _of_ffn(name := str(one.params["field"]))]
    return {
        "stream": unstated_in(spec.d_model),
        "ffn": unstated_in(_ffn_widths(spec)).union(other_kind),
        "logits": unstated_in(spec.vocab_size),
    }


def _of_ffn(field: str) -> bool:
    """Whether a field may say that the feed-forward blocks are of another kind than what was read."""
    return any(word in field for word in ("expert", "moe", "mlp_layer", "mlp_only", "ffn", "feed_forward"))


def activations(spec: ModelSpec, step_tokens: int, batch: int, tp: int = 1) -> tuple[Activations, ...]:
    """The largest tensors of a step at once, in 16 bits and the logits in fp32, on one of `tp` ranks."""
    tokens, size = Factor(step_tokens, "step_tokens"), Factor(2, "bytes", params={"format": "bf16"})
    stream = (tokens, Factor(2, "stream_and_norm"), Factor(spec.d_model, "d_model"), size)
    width = ffn_width(spec)
    share = Factor(-(-width // tp), "ffn_width", f"ceil({width:,} / {tp})" if tp > 1 else "")
    ffn = (tokens, Factor(3 if spec.ffn.gated else 2, "ffn_parts"), share, size)
    logits = (
        Factor(batch, "sequences"),
        Factor(spec.vocab_size, "vocabulary"),
        Factor(4, "bytes", params={"format": "fp32"}),
    )
    lacking_of = _lacking(spec)
    return tuple(
        Activations(label, factors)
        for label, factors in (("stream", stream), ("ffn", ffn), ("logits", logits))
        if all(factor.value for factor in factors) and not lacking_of[label]
    )


def ffn_width(spec: ModelSpec) -> int:
    """The widest feed-forward block that a token goes through: of experts those that it goes to, and the shared."""
    return max(_ffn_widths(spec))


def _ffn_widths(spec: ModelSpec) -> tuple[int, ...]:
    """The width of the feed-forward blocks of each kind."""
    if moe := spec.moe:
        routed = moe.top_k * moe.expert_ffn + moe.shared_experts * (moe.shared_ffn or moe.expert_ffn)
        return routed, moe.dense_ffn or 0
    return spec.ffn_widths if spec.ffn_widths is not None else (spec.ffn_hidden,)
