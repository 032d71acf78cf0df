"""Mixtral (Jiang et al. 2024, arXiv 2401.04088): a LLaMA whose feed-forward is eight experts, two for each token.

The router's softmax is over all experts; the two highest are divided by their sum. Checked against transformers'
modeling_mixtral.py.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ..attention import Attention
from ..config import FIXED_FIELDS, LlamaConfig, network_fields, read_shape
from ..fields import expect_fixed, expect_type
from ..llama import TENSORS as LLAMA
from ..llama import Block, Llama
from ..moe import Experts, Routing
from ..published.hf.sizes import routed
from .family import Family
from .packed import checked_experts, unpacked

FIXED = {name: accepted for name, accepted in FIXED_FIELDS.items() if name != "num_local_experts"}
# What transformers' class takes for a field that the file leaves out, where LLaMA's does not.
DEFAULTS = {"num_key_value_heads": 8, "max_position_embeddings": 131_072, "rms_norm_eps": 1e-5, "rope_theta": 1e6}


@dataclass(frozen=True)
class MixtralConfig(LlamaConfig):
    """A LLaMA's fields, `ffn_hidden` being one expert's width; `top_k` of `n_experts` read each token."""

    n_experts: int = 8
    top_k: int = 2

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "MixtralConfig":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, as LlamaConfig's reader does."""
        expect_type(raw, "mixtral")
        expect_fixed(raw, FIXED)
        fields = network_fields(raw, DEFAULTS, num_local_experts=8, num_experts_per_tok=2)
        experts = checked_experts(routed(fields, "num_local_experts"), "num_local_experts")
        return cls(**read_shape(fields), n_experts=experts.n_experts, top_k=experts.top_k)

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model."""
        own = {"num_local_experts": self.n_experts, "num_experts_per_tok": self.top_k}
        return super().to_hf() | {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral"} | own


class Mixtral(Llama):
    """The network: a LLaMA with experts."""

    config: MixtralConfig

    def make_block(self, _layer: int) -> Block:
        """One layer's block."""
        config = self.config
        ffn = Experts(config.d_model, config.ffn_hidden, config.n_experts, Routing(config.top_k))
        return Block(self.make_norm, Attention(config), ffn)


_MOE = "model.layers.{i}.block_sparse_moe"
TENSORS = {name: files for name, files in LLAMA.items() if ".ffn." not in name} | {
    "layers.{i}.ffn.router.weight": (f"{_MOE}.gate.weight",),
    "layers.{i}.ffn.expert.{e}.gate_up_proj.weight": (
        f"{_MOE}.experts.{{e}}.w1.weight",
        f"{_MOE}.experts.{{e}}.w3.weight",
    ),
    "layers.{i}.ffn.expert.{e}.down_proj.weight": (f"{_MOE}.experts.{{e}}.w2.weight",),
}


def older(name: str) -> str:
    """transformers 5 calls the experts' part `mlp` where Mistral's own files call it `block_sparse_moe`."""
    return name.replace(".mlp.", ".block_sparse_moe.")


def own_tensors(raw: dict[str, Tensor], _config: MixtralConfig) -> dict[str, Tensor]:
    """Each expert's own tensors, also where transformers 5 packed them."""
    return unpacked(raw, "w1", "w3", "w2")


FAMILIES = {"mixtral": Family(MixtralConfig.from_hf, Mixtral, TENSORS, rename=older, unpack=own_tensors)}
