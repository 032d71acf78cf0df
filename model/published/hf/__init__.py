"""How each family's config.json states its shape: `FAMILIES` maps a model_type to its reader. No torch, no network.

Names and defaults are those of transformers 5.23 (configuration_<model_type>.py) and, for "deepseek", "chatglm",
"kimi_k2", "internlm2", "internlm3", "baichuan" and "qwen", of the code in the vendors' own repositories on the Hub.
"""

from collections.abc import Mapping
from types import MappingProxyType

from . import dense, early, experts, hybrids, mamba, sharing, towers
from .class_heads import class_heads
from .deepseek import GLM5_DEFAULTS, deepseek_mla, deepseek_v1
from .deepseek_v4 import DEFAULTS as V4_DEFAULTS
from .deepseek_v4 import deepseek_v4
from .llama_like import gemma, gemma2, gemma3, gemma3_text, llama, llama4, llama4_text, mistral, mixtral, qwen
from .others import FALCON_DEFAULTS, bloom, chatglm, falcon, gpt2, t5
from .shape import Family

HALF_ROTATED = {"partial_rotary_factor": 0.5}  # what transformers' classes take where a file names no share

_READERS: Mapping[str, Family] = MappingProxyType(
    {
        "llama": Family(llama),
        "mistral": Family(mistral),
        "mixtral": Family(mixtral),
        "qwen2": Family(lambda f: qwen(f, "none", "qkv")),
        "qwen2_moe": Family(lambda f: qwen(f, "none", "qkv" if f.flag("qkv_bias", default=True) else "none")),
        "qwen3": Family(lambda f: qwen(f, "rms_per_head", None)),
        "qwen3_moe": Family(lambda f: qwen(f, "rms_per_head", None)),
        "gemma": Family(gemma),
        "gemma2": Family(gemma2),
        "gemma3": Family(gemma3),
        "gemma3_text": Family(gemma3_text),
        "falcon": Family(falcon, FALCON_DEFAULTS),
        "RefinedWeb": Family(falcon, FALCON_DEFAULTS),
        "RefinedWebModel": Family(falcon, FALCON_DEFAULTS),
        "bloom": Family(bloom),
        "gpt2": Family(gpt2),
        "t5": Family(t5),
        "mt5": Family(t5),
        "chatglm": Family(chatglm),
        "deepseek": Family(deepseek_v1),
        "deepseek_v2": Family(deepseek_mla),
        "deepseek_v3": Family(deepseek_mla),
        "deepseek_v32": Family(deepseek_mla),
        "deepseek_v4": Family(deepseek_v4, V4_DEFAULTS),
        "glm_moe_dsa": Family(deepseek_mla, GLM5_DEFAULTS),
        "llama4": Family(llama4),
        "llama4_text": Family(llama4_text),
        "granite": Family(llama),
        "phi3": Family(dense.windowed),
        "ministral": Family(mistral),
        "ministral3": Family(dense.windowed),
        "phi": Family(dense.phi, HALF_ROTATED),
        "olmo": Family(dense.olmo),
        "olmo2": Family(dense.olmo2),
        "olmo3": Family(dense.olmo3),
        "smollm3": Family(dense.smollm3),
        "cohere": Family(dense.cohere),
        "cohere2": Family(dense.cohere2),
        "starcoder2": Family(dense.starcoder2),
        "glm": Family(dense.glm, HALF_ROTATED),
        "glm4": Family(dense.glm4, HALF_ROTATED),
        "seed_oss": Family(dense.seed_oss),
        "exaone4": Family(dense.exaone4),
        "ernie4_5": Family(dense.ernie),
        "internlm2": Family(dense.internlm2),
        "internlm3": Family(dense.internlm3),
        "baichuan": Family(dense.baichuan),
        "gpt_oss": Family(experts.gpt_oss),
        "glm4_moe": Family(experts.glm4_moe, HALF_ROTATED),
        "minimax_m2": Family(experts.minimax_m2),
        "ernie4_5_moe": Family(experts.ernie_moe),
        "phimoe": Family(experts.phimoe),
        "olmoe": Family(experts.olmoe),
        "dbrx": Family(experts.dbrx),
        "kimi_k2": Family(deepseek_mla),
        "kimi_k25": Family(towers.kimi_k25),
        "kimi_k3": Family(hybrids.kimi_k3),
        "mistral3": Family(towers.mistral3),
        "qwen2_vl": Family(towers.qwen2_vl),
        "qwen2_5_vl": Family(towers.qwen2_vl),
        "qwen3_vl": Family(towers.qwen3_vl),
        "qwen3_vl_moe": Family(towers.qwen3_vl),
        "opt": Family(early.opt),
        "gpt_neox": Family(early.gpt_neox, early.NEOX_DEFAULTS),
        "mpt": Family(early.mpt),
        "qwen": Family(early.qwen1),
        "gemma3n": Family(sharing.gemma_outer),
        "gemma3n_text": Family(sharing.gemma3n_text, sharing.GEMMA3N_DEFAULTS),
        "gemma4": Family(sharing.gemma_outer),
        "gemma4_text": Family(sharing.gemma4_text, sharing.GEMMA4_DEFAULTS),
        "hunyuan": Family(sharing.hunyuan),
        "hunyuan_v1_dense": Family(sharing.hunyuan),
        "hunyuan_v1_moe": Family(sharing.hunyuan),
        "qwen3_next": Family(hybrids.qwen_hybrid, hybrids.QWEN_DEFAULTS),
        "qwen3_5": Family(hybrids.qwen_hybrid_outer),
        "qwen3_5_text": Family(hybrids.qwen_hybrid, hybrids.QWEN_DEFAULTS),
        "qwen3_5_moe": Family(hybrids.qwen_hybrid_outer),
        "qwen3_5_moe_text": Family(hybrids.qwen_hybrid, hybrids.QWEN_DEFAULTS),
        "jamba": Family(mamba.jamba, mamba.JAMBA_DEFAULTS),
        "mamba": Family(mamba.mamba, mamba.MAMBA_DEFAULTS),
        "mamba2": Family(mamba.mamba2, mamba.MAMBA2_DEFAULTS),
        "nemotron_h": Family(mamba.nemotron_h, mamba.NEMOTRON_DEFAULTS),
        "granitemoehybrid": Family(mamba.granite),
        "minimax": Family(hybrids.minimax, hybrids.MINIMAX_DEFAULTS),
        "minimax_text_01": Family(hybrids.minimax, hybrids.MINIMAX_DEFAULTS),
        "minimax_m1": Family(hybrids.minimax, hybrids.MINIMAX_DEFAULTS),
        "kimi_linear": Family(hybrids.kimi_linear),
        "falcon_h1": Family(mamba.falcon_h1),
        "lfm2": Family(hybrids.lfm2, hybrids.LFM2_DEFAULTS),
        "lfm2_moe": Family(hybrids.lfm2, hybrids.LFM2_DEFAULTS),
    }
)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {kind: Family(family.read, {**class_heads(kind), **family.defaults}) for kind, family in _READERS.items()}
)

# Every model_type that is read, as help texts and refusals list them.
MODEL_TYPES: tuple[str, ...] = tuple(sorted(FAMILIES, key=str.lower))
