"""DeepSeek V2 and V3 (arXiv 2405.04434, 2412.19437): latent attention, and many small experts beside a shared one.

The first layers have an ordinary SwiGLU. V2's router takes a softmax, V3's a sigmoid to which a learned bias is added
for the choice alone; in the large models experts stand in groups, of which a token's best few count. YaRN's mscale
enters the scores twice. Checked against transformers' modeling_deepseek_v2.py and modeling_deepseek_v3.py.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from ..cache import KVCache
from ..config import FIXED_FIELDS, LlamaConfig, config_fields, network_fields, rope_fields
from ..feedforward import SwiGLU
from ..fields import NetworkFields, expect_fixed, expect_type, refusal
from ..llama import TENSORS as LLAMA
from ..llama import Block, Llama
from ..masks import Start
from ..mla import LatentAttention
from ..moe import Experts, Routing
from ..positions import PairRotation, Rotation, interleaved, rope
from ..published.hf.sizes import Routed, latent, rms_eps, routed, tied
from .family import Family
from .packed import checked_experts, unpacked

# What is read or has no effect here; and what changes the result and is implemented in one way only.
_READ = ("rope_interleaved", "auto_map")
FIXED: dict[str, tuple[Any, ...]] = {
    **{name: accepted for name, accepted in FIXED_FIELDS.items() if name not in _READ},
    "moe_layer_freq": (1, None),
    "n_shared_experts": tuple(range(1, 65)),
}
OF_KIND: dict[str, dict[str, tuple[Any, ...]]] = {
    "deepseek_v2": {
        "norm_topk_prob": (False, None),
        "scoring_func": ("softmax", None),
        "topk_method": ("greedy", "group_limited_greedy"),
    },
    "deepseek_v3": {"scoring_func": ("sigmoid", None), "topk_method": ("noaux_tc", None)},
}
# What transformers' classes take for a field that the file leaves out.
_BOTH = {"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
DEFAULTS: dict[str, dict[str, Any]] = {
    "deepseek_v2": {
        **_BOTH,
        "first_k_dense_replace": 0,
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "moe_intermediate_size": 1407,
        "topk_method": "greedy",
        "routed_scaling_factor": 1.0,
    },
    "deepseek_v3": {
        **_BOTH,
        "max_position_embeddings": 4096,
        "first_k_dense_replace": 3,
        "n_routed_experts": 256,
        "num_experts_per_tok": 8,
        "n_shared_experts": 1,
        "moe_intermediate_size": 2048,
        "n_group": 8,
        "topk_group": 4,
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
    },
}


@dataclass(frozen=True)
class DeepseekConfig(LlamaConfig):
    """A LLaMA's fields, `head_dim` being that of q and k and `ffn_hidden` the first layers' width; MLA's; the experts'.

    The first `dense_layers` layers have no experts; of the others each has `n_experts` of width `expert_hidden`, and a
    shared one of `shared_hidden`. `pairs_interleaved`: how the rotated channels are paired.
    """

    q_lora_rank: int | None = None
    kv_lora_rank: int = 1
    qk_nope_head_dim: int = 1
    qk_rope_head_dim: int = 2
    v_head_dim: int = 1
    pairs_interleaved: bool = True
    dense_layers: int = 0
    n_experts: int = 1
    expert_hidden: int = 1
    shared_hidden: int = 0
    routing: Routing = field(default_factory=lambda: Routing(1))

    @property
    def rotary_dim(self) -> int:
        """The part of a head that RoPE rotates."""
        return self.qk_rope_head_dim

    @property
    def score_scale(self) -> float:
        """1/√head_dim, under YaRN times the square of its mscale (DeepSeek-V2's modeling_deepseek.py)."""
        scaling, scale = self.rope_scaling, self.head_dim**-0.5
        if scaling is None or not scaling.mscale_all_dim or scaling.factor <= 1:
            return scale
        return scale * (0.1 * scaling.mscale_all_dim * math.log(scaling.factor) + 1.0) ** 2

    @classmethod
    def from_hf(cls, raw: dict[str, Any]) -> "DeepseekConfig":
        """Read a parsed config.json. Raises GlassLlamaError, naming the field, for what is wrong or not implemented."""
        expect_type(raw, *DEFAULTS)
        kind = raw["model_type"]
        raw = DEFAULTS[kind] | raw
        expect_fixed(raw, FIXED | OF_KIND[kind])
        fields = network_fields(raw, n_routed_experts=1)
        sizes, mla = latent(fields)
        if mla.q_lora_rank is None and raw["q_lora_rank"] is not None:
            raise refusal("q_lora_rank", raw["q_lora_rank"], "a whole number of at least 1, or null")
        experts = checked_experts(routed(fields, "n_routed_experts"), "n_routed_experts")
        width = fields.count("moe_intermediate_size")
        return cls(
            **config_fields(fields, sizes, rms_eps(fields), tied(fields, False)),
            **rope_fields(fields, sizes.max_context),
            **vars(mla),
            pairs_interleaved=kind == "deepseek_v2" or fields.flag("rope_interleave", default=True),
            dense_layers=fields.count("first_k_dense_replace", low=0),
            n_experts=experts.n_experts,
            expert_hidden=width,
            shared_hidden=width * fields.count("n_shared_experts"),
            routing=_routing(fields, experts),
        )

    def to_hf(self) -> dict[str, Any]:
        """The `config.json` that transformers reads for this model, V3's where the router takes a sigmoid."""
        how, newer = self.routing, self.routing.scoring == "sigmoid"
        fields = {
            "architectures": [f"DeepseekV{2 + newer}ForCausalLM"],
            "model_type": f"deepseek_v{2 + newer}",
            "q_lora_rank": self.q_lora_rank,
            "kv_lora_rank": self.kv_lora_rank,
            "qk_nope_head_dim": self.qk_nope_head_dim,
            "qk_rope_head_dim": self.qk_rope_head_dim,
            "v_head_dim": self.v_head_dim,
            "first_k_dense_replace": self.dense_layers,
            "n_routed_experts": self.n_experts,
            "n_shared_experts": self.shared_hidden // self.expert_hidden,
            "moe_intermediate_size": self.expert_hidden,
            "num_experts_per_tok": how.top_k,
            "scoring_func": how.scoring,
            "topk_method": "noaux_tc" if newer else "group_limited_greedy" if how.groups > 1 else "greedy",
            "norm_topk_prob": how.normalised,
            "routed_scaling_factor": how.scaling,
            "n_group": how.groups,
            "topk_group": how.kept_groups,
        }
        if newer:
            fields |= {"rope_interleave": self.pairs_interleaved, "num_nextn_predict_layers": 0}
        whole = {name: value for name, value in super().to_hf().items() if name != "head_dim"}  # q's and v's differ
        return whole | fields


def _routing(fields: NetworkFields, experts: Routed) -> Routing:
    n_experts, top_k = experts
    scaling = fields.number("routed_scaling_factor")
    newer = fields.raw["model_type"] == "deepseek_v3"
    grouped = newer or fields.get("topk_method") == "group_limited_greedy"
    groups, kept = (fields.count("n_group"), fields.count("topk_group")) if grouped else (1, 1)
    if n_experts % groups:
        raise refusal("n_group", groups, f"a divisor of n_routed_experts ({n_experts})")
    if kept > groups or kept * (n_experts // groups) < top_k:
        raise refusal("topk_group", kept, f"groups that hold {top_k} experts, at most {groups}")
    if newer:
        normalised = fields.flag("norm_topk_prob", default=True)
        return Routing(top_k, "sigmoid", normalised, scaling, groups, kept, group_best=2, balanced=True)
    return Routing(top_k, "softmax", normalised=False, scaling=scaling, groups=groups, kept_groups=kept)


class Deepseek(Llama):
    """The network: a LLaMA with latent attention, and with experts after the first layers."""

    config: DeepseekConfig

    def make_block(self, layer: int) -> Block:
        """One layer's block."""
        config = self.config
        if layer < config.dense_layers:
            ffn = SwiGLU(config.d_model, config.ffn_hidden)
        else:
            ffn = Experts(config.d_model, config.expert_hidden, config.n_experts, config.routing, config.shared_hidden)
        return Block(self.make_norm, LatentAttention(config), ffn)

    def positions(self, start: Start, count: int) -> Rotation | PairRotation:
        """RoPE's cos and sin for the rotated channels of `count` tokens from `start` on."""
        halves = rope(self.config, start, count, self.embed.weight)
        return interleaved(halves) if self.config.pairs_interleaved else halves

    def cache(self, capacity: int, batch: int = 1) -> KVCache:
        """An empty cache of latents and shared keys, for `batch` sequences of up to `capacity` tokens."""
        weight, config = self.embed.weight, self.config
        rows = ((1, config.kv_lora_rank), (1, config.qk_rope_head_dim))
        return KVCache(config, capacity, batch, weight.dtype, weight.device, rows)


_ATTN, _MLP = "model.layers.{i}.self_attn", "model.layers.{i}.mlp"
TENSORS = {name: files for name, files in LLAMA.items() if "qkv_proj" not in name} | {
    "layers.{i}.attn.q_down.weight": (f"{_ATTN}.q_a_proj.weight",),
    "layers.{i}.attn.q_norm.weight": (f"{_ATTN}.q_a_layernorm.weight",),
    "layers.{i}.attn.kv_down.weight": (f"{_ATTN}.kv_a_proj_with_mqa.weight",),
    "layers.{i}.attn.kv_norm.weight": (f"{_ATTN}.kv_a_layernorm.weight",),
    "layers.{i}.attn.kv_up.weight": (f"{_ATTN}.kv_b_proj.weight",),
    "layers.{i}.ffn.router.weight": (f"{_MLP}.gate.weight",),
    "layers.{i}.ffn.balance": (f"{_MLP}.gate.e_score_correction_bias",),
    "layers.{i}.ffn.expert.{e}.gate_up_proj.weight": (
        f"{_MLP}.experts.{{e}}.gate_proj.weight",
        f"{_MLP}.experts.{{e}}.up_proj.weight",
    ),
    "layers.{i}.ffn.expert.{e}.down_proj.weight": (f"{_MLP}.experts.{{e}}.down_proj.weight",),
    "layers.{i}.ffn.shared.gate_up_proj.weight": (
        f"{_MLP}.shared_experts.gate_proj.weight",
        f"{_MLP}.shared_experts.up_proj.weight",
    ),
    "layers.{i}.ffn.shared.down_proj.weight": (f"{_MLP}.shared_experts.down_proj.weight",),
}


def tensors(config: DeepseekConfig) -> dict[str, tuple[str, ...]]:
    """The table of names: a query without a latent has one matrix."""
    name = "q_proj" if config.q_lora_rank is None else "q_b_proj"
    return TENSORS | {"layers.{i}.attn.q_up.weight": (f"{_ATTN}.{name}.weight",)}


def own_tensors(raw: dict[str, Tensor], config: DeepseekConfig) -> dict[str, Tensor]:
    """Each expert's own tensors; and not those of the further layer that predicts the token after the next (V3)."""

    def further(name: str) -> bool:
        found = re.match(r"model\.layers\.(\d+)\.", name)
        return found is not None and int(found[1]) >= config.n_layers

    own = {name: tensor for name, tensor in raw.items() if not further(name)}
    return unpacked(own, "gate_proj", "up_proj", "down_proj")


FAMILIES = dict.fromkeys(DEFAULTS, Family(DeepseekConfig.from_hf, Deepseek, tensors, unpack=own_tensors))
