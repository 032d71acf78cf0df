"""The small networks of the other families (model/zoo): their shapes, and their share of the one recipe.

All are about as large as the LLaMA that they are measured by, 3 million parameters, and see the same documents in the
same order. Each has what its family is known for, small enough to be looked at.
"""

from dataclasses import asdict, replace
from typing import Any

from tokenizers.processors import TemplateProcessing

from ..checkpoint import BUNDLED
from ..config import NetworkConfig
from ..families.bloom import BloomConfig
from ..families.deepseek import DeepseekConfig
from ..families.falcon import FalconConfig
from ..families.glm import GlmConfig
from ..families.mixtral import MixtralConfig
from ..families.qwen import QwenConfig
from ..families.t5 import T5Config
from ..moe import Routing
from ..tokenizer import Tokenizer
from .curriculum import Stage, recipe
from .packing import END, start_of
from .tokenizer import END as END_TEXT
from .trainer import SHAPE

ZOO = BUNDLED.parent / "zoo"
TOKENS = 4_000_000
SAVE_EVERY = 1000  # steps
# Of so few tokens the patterns get a larger share than of the bundled model's: without them nothing else is learnt.
SHARES = {"patterns": 0.40, "bindings": 0.20, "stories": 0.40}


def _but(fields: dict[str, Any], **own: Any) -> dict[str, Any]:
    return fields | own


LLAMA = replace(SHAPE, n_layers=6, d_model=192, n_heads=6, n_kv_heads=2, head_dim=32, ffn_hidden=512)
_LLAMA: dict[str, Any] = asdict(LLAMA)
# LayerNorm and biases, two matrices of four times the width, and a K and a V for every head.
_OLDER: dict[str, Any] = {
    "n_layers": 6, "d_model": 192, "ffn_hidden": 768, "vocab_size": 4096, "max_context": 1024,
    "tied_embeddings": True, "eos_ids": (END,),
}  # fmt: skip
SHAPES: dict[str, NetworkConfig] = {
    "llama": LLAMA,
    "qwen": QwenConfig(**_LLAMA, qkv_bias=False, qk_norm=True),
    "bloom": BloomConfig(**_OLDER, n_heads=8, n_kv_heads=8, head_dim=24),
    "falcon": FalconConfig(**_OLDER, n_heads=6, n_kv_heads=1, head_dim=32),
    "glm": GlmConfig(**_LLAMA, rotary_factor=0.5, qkv_bias=True),
    "mixtral": MixtralConfig(**_but(_LLAMA, ffn_hidden=64), n_experts=8, top_k=2),
    "deepseek": DeepseekConfig(
        **_but(_LLAMA, n_kv_heads=6, head_dim=48),
        q_lora_rank=96, kv_lora_rank=48, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32,
        dense_layers=1, n_experts=16, expert_hidden=32, shared_hidden=32,
        routing=Routing(4, "sigmoid", True, 2.5, groups=4, kept_groups=2, group_best=2, balanced=True),
    ),
    "t5": T5Config(
        **_but(_OLDER, n_layers=3, d_model=160, ffn_hidden=256, tied_embeddings=False, norm_eps=1e-6),
        n_heads=5, n_kv_heads=5, head_dim=32, encoder_layers=3, gated=True, start_id=END,
    ),
}  # fmt: skip


def stages(tokens: int = TOKENS) -> tuple[Stage, ...]:
    """The recipe's stages for networks of this size."""
    return tuple(
        replace(stage, tokens=round(tokens * SHARES[stage.name])) for stage in recipe() if stage.name in SHARES
    )


def tokenizer(shape: NetworkConfig) -> Tokenizer:
    """The bundled model's, so that all read the same tokens; for an encoder it ends each text, as T5's own does."""
    found = Tokenizer.from_file(BUNDLED / "tokenizer.json")
    if start_of(shape) is not None:
        found.back_end.post_processor = TemplateProcessing(single=f"$A {END_TEXT}", special_tokens=[(END_TEXT, END)])
    return found
