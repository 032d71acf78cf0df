// Lines as engines print them at their start, one example each, all of a model of Llama-3 8B's shape; the values are
// those of public reports. Each names the settings of the calculator that its log is of: tokens are of a sequence, and
// as many sequences as the log's cache holds.

/**
 * @typedef {object} Example
 * @property {string} engine
 * @property {string} from the report, as its tracker numbers it
 * @property {string} lines
 * @property {{ model: string; tokens: string; batch: string; dtype: string }} of
 */

const MODEL = "Llama-3 8B";

/** @type {Example[]} */
export const EXAMPLES = [
  {
    engine: "llama.cpp",
    from: "ollama/ollama logs, December 2025",
    of: { model: MODEL, tokens: "2048", batch: "4", dtype: "fp16" },
    lines: `llama_new_context_with_model: n_seq_max     = 4
llama_new_context_with_model: n_ctx         = 8192
llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB
llama_new_context_with_model: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB`,
  },
  {
    engine: "vLLM",
    from: "vllm-project/vllm #10517",
    of: { model: MODEL, tokens: "20000", batch: "1", dtype: "bf16" },
    lines: `Loading model weights took 14.9888 GB
Memory profiling results: total_gpu_memory=23.58GiB non_torch_memory=0.35GiB kv_cache_size=3.81GiB
# GPU blocks: 1952, # CPU blocks: 2048
Maximum concurrency for 20000 tokens per request: 1.56x`,
  },
  {
    engine: "SGLang",
    from: "sgl-project/sglang #4760",
    of: { model: MODEL, tokens: "8192", batch: "54", dtype: "bf16" },
    lines: `Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.48 GB, mem usage=15.11 GB.
KV Cache is allocated. #tokens: 442750, K size: 27.02 GB, V size: 27.02 GB`,
  },
  {
    engine: "TensorRT-LLM",
    from: "a trtllm-serve of Llama-3.1 8B in FP8",
    of: { model: MODEL, tokens: "8192", batch: "32", dtype: "fp8" },
    lines: `Memory usage when calculating max tokens in paged kv cache: total: 31.84 GiB, available: 17.83 GiB
Number of blocks in KV cache primary pool: 8219
Number of tokens per block: 32.
[MemUsageChange] Allocated 16.05 GiB for max tokens in paged KV cache (263008)`,
  },
  {
    engine: "Ollama",
    from: "an Ollama of Llama-3 8B, January 2026",
    of: { model: MODEL, tokens: "4096", batch: "1", dtype: "fp16" },
    lines: `msg="kv cache" device=CPU size="512.0 MiB"
msg=load request="{Operation:commit Parallel:1 BatchSize:512 KvSize:4096 KvCacheType: NumThreads:4}"`,
  },
];
