"""Where it was read what an engine reserves: repository, file and commit of each. Facts alone; no code is copied."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Source:
    """A file of an engine, as its repository has it at a commit, or a thread of its tracker."""

    text: str
    address: str


def _file(repository: str, commit: str, path: str, what: str = "") -> Source:
    text = f"{repository} {path}{f', {what}' if what else ''} @ {commit[:10]}"
    return Source(text, f"https://github.com/{repository}/blob/{commit}/{path}")


def _thread(repository: str, number: int, kind: str = "issues") -> Source:
    return Source(f"{repository} #{number}", f"https://github.com/{repository}/{kind}/{number}")


_VLLM, _SGLANG, _LLAMA = "vllm-project/vllm", "sgl-project/sglang", "ggml-org/llama.cpp"
_TRT, _OLLAMA = "NVIDIA/TensorRT-LLM", "ollama/ollama"
_KV_UTILS = ("001cabc1be16a59a70d720ed61a13b678c060a18", "vllm/v1/core/kv_cache_utils.py")
_INTERFACE = ("bc8282e61df21719b12b391c3a976b1c900dfbb4", "vllm/v1/kv_cache_interface.py")
_SPARSE = ("008a0c31dc020099dd40e8a2b7d2bdb37699b047", "vllm/v1/attention/backends/mla/flashmla_sparse.py")
_POOL = ("000ccdba94d4ed75d4fab7b1dac5f8ebcaaee7e8", "python/sglang/srt/mem_cache/memory_pool.py")
_MANAGER = ("002ba6a7cc5eb28f180d45d4a91142d9d927a606", "cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp")
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "llama_context": _file(_LLAMA, "25ae3a9b331fffea50ff8d07a5cad34c33f1276f", "src/llama-context.cpp"),
        "llama_padding": _file(
            _LLAMA, "06bb08ac05f977657eeeeb932385a9618dc24424", "src/llama-kv-cache-unified.cpp", "get_padding"
        ),
        "llama_iswa": _file(_LLAMA, "57ace0d612a11133ac86edcc7af1b323bf05f12f", "src/llama-kv-cache-iswa.cpp"),
        "llama_swa": _thread(_LLAMA, 13194, "pull"),
        "llama_latent_v": _thread(_LLAMA, 19067, "pull"),
        "llama_state": _thread("lmstudio-ai/lmstudio-bug-tracker", 1862),
        "llama_snapshots": _file(
            _LLAMA, "76d94392764a8bcc1e93bd6f248c30aec2cfac9a", "src/llama-memory-recurrent.cpp", "n_rs_seq"
        ),
        "vllm_blocks": _file(_VLLM, *_KV_UTILS, "get_num_blocks"),
        "vllm_least": _file(_VLLM, *_KV_UTILS, "get_kv_cache_configs"),
        "vllm_groups": _file(_VLLM, *_KV_UTILS, "_get_kv_cache_groups_uniform_page_size"),
        "vllm_report": _file(_VLLM, *_KV_UTILS, "_report_kv_cache_config"),
        "vllm_tokens": _thread(_VLLM, 40691),
        "vllm_tokens_states": _thread(_VLLM, 40384, "pull"),
        "vllm_page": _file(_VLLM, "0144dd5b0d2d9ef9ac2651a3ab6efa83d0497ea9", "vllm/model_executor/models/config.py"),
        "vllm_aligned": _thread(_VLLM, 54458),
        "vllm_null": _file(_VLLM, "002f34915134cfd1a7d6ed777edd67dcc2289466", "vllm/v1/core/block_pool.py"),
        "vllm_sparse": _file(_VLLM, *_SPARSE, "get_supported_kernel_block_sizes"),
        "vllm_latent": _file(
            _VLLM, "002db4951e0c4b326a559eb44b05698afd3e534a", "vllm/platforms/cuda.py", "check_and_update_config"
        ),
        "vllm_ds_mla": _file(
            _VLLM,
            "1936cf3841edb9781b06c50fc4daf4bac9d3b23e",
            "vllm/model_executor/models/config.py",
            "DeepseekV32ForCausalLM",
        ),
        "vllm_stages": _file(
            _VLLM, "5a6541db9bfa77756459722f69e8c89a0b47a14d", "vllm/distributed/utils.py", "get_pp_indices"
        ),
        "vllm_window": _file(_VLLM, *_INTERFACE, "SlidingWindowSpec"),
        "sglang_stages": _file(
            _SGLANG,
            "1107be112815907371027e0ab2203cb57d91c10e",
            "python/sglang/srt/distributed/utils.py",
            "get_pp_indices",
        ),
        "sglang_pool": _file(_SGLANG, *_POOL, "MHATokenToKVPool"),
        "sglang_latents": _file(_SGLANG, *_POOL, "MLATokenToKVPool"),
        "sglang_windows": _file(
            _SGLANG,
            "dec8155f6d073c78b0c7fd94953b838eccbdf9df",
            "python/sglang/srt/mem_cache/swa_memory_pool.py",
            "SWAKVPool",
        ),
        "sglang_drafts": _thread(_SGLANG, 23862, "pull"),
        "sglang_draft_states": _thread(_SGLANG, 37066),
        "trt_pool": _file(_TRT, *_MANAGER, "KVCacheManager::allocatePools"),
        "trt_quota": _file(
            _TRT,
            "218ea169be0dbb44219a77580e6fb663815cd1de",
            "tensorrt_llm/_torch/pyexecutor/kv_cache_manager_v2.py",
        ),
        "trt_per_token": _file(
            _TRT,
            "0004396720054fd8e205cbf616f21f0b57c6b412",
            "tensorrt_llm/_torch/pyexecutor/_util.py",
            "_cal_max_memory",
        ),
        "trt_world": _file(
            _TRT, "06c0e9b1ec38f981d023a223b212b312cfb62417", "cpp/tensorrt_llm/runtime/worldConfig.cpp", "mpi"
        ),
        "trt_blocks": _thread(_TRT, 224),
        "ollama_cache": _file(_OLLAMA, "02bb1cc81979e5d44cab9469a1d7a9381ef4585b", "kvcache/causal.go"),
        "ollama_log": _file(_OLLAMA, "fb30760996871fa9460115c753afd2c60d4ab0f7", "ml/device.go"),
    }
)
