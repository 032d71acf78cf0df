"""DeepSeek-V4: a window in which K is V, entries compressed from 4 or 128 tokens, and an indexer over them.

B = 3 sequences in bf16 against transformers' own cache. In layers that do not compress, transformers keeps V as a copy
of K; it is left out here, since the calculator counts what is needed, as the layers that compress keep it.
"""

import copy
import json
from pathlib import Path

import pytest
import torch
import transformers

from model.errors import GlassLlamaError
from model.kv_math import KvOptions, kv_breakdown, kv_bytes_per_token, kv_cache_bytes
from model.kv_math.growth import kv_growth
from model.kv_math.kinds import attention_kinds
from model.kv_math.memory import Setup, largest_context, memory_use
from model.kv_math.report import breakdown_lines
from model.kv_math.speed import decode_bound
from model.published.catalogue import parameter_count
from model.published.hf_spec import spec_from_config

FILES = json.loads(Path(__file__).with_name("hybrid_configs.json").read_text(encoding="utf-8"))
FLASH = FILES["DeepSeek-V4 Flash"]["config"]
# V4-Pro as copies of its config.json list it: 30 layers compress 4:1, 31 compress 128:1.
PRO = {**FLASH, "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128, "q_lora_rank": 1536}
PRO |= {"o_groups": 16, "n_routed_experts": 384, "moe_intermediate_size": 3072, "routed_scaling_factor": 2.5}
PRO |= {"compress_ratios": [128, *[128, 4] * 30, 0]}
B, VOCABULARY = 3, 50
CSA, HCA = "compressed_sparse_attention", "heavily_compressed_attention"
TINY = {"vocab_size": VOCABULARY, "hidden_size": 32, "moe_intermediate_size": 16, "num_attention_heads": 4}
TINY |= {"head_dim": 16, "qk_rope_head_dim": 4, "q_lora_rank": 12, "o_groups": 2, "o_lora_rank": 6}
TINY |= {"n_routed_experts": 4, "num_experts_per_tok": 2, "index_n_heads": 2, "index_head_dim": 8, "index_topk": 3}
TINY |= {"sliding_window": 8, "hc_mult": 2, "max_position_embeddings": 64, "num_hidden_layers": 5}
TINY |= {"layer_types": ["sliding_attention", CSA, HCA, CSA, HCA], "compress_rates": {CSA: 4, HCA: 16}}
TINY |= {"num_hash_layers": 2, "model_type": "deepseek_v4", "compress_rope_theta": 160000.0}
AS_KEPT = KvOptions(window="transformers", indexer="dtype")


def weights_of(net):
    biases = [b for name, b in net.named_buffers() if name.endswith("e_score_correction_bias")]
    return sum(p.numel() for p in [*net.parameters(), *biases])


def held(net, tokens):
    """Bytes of the cache after a prefill of all tokens but one, and a step of one."""
    cache = None
    with torch.no_grad():
        for length in (tokens - 1, 1):
            given = torch.randint(0, VOCABULARY, (B, length))
            cache = net(given, use_cache=True, past_key_values=cache).past_key_values
    kept = []
    for layer in cache.layers:
        assert torch.equal(layer.keys, layer.values)
        kept.append(layer.keys)
        for name in ("buffer_kv", "buffer_gate", "compressed_kv", "overlap_kv", "overlap_gate"):
            kept += [tensor for tensor in (getattr(layer, name, None) or {}).values() if tensor is not None]
    return sum(tensor.nbytes for tensor in kept)


def test_bytes_and_weights_are_those_of_transformers():
    config = transformers.DeepseekV4Config(**copy.deepcopy(TINY))
    net = transformers.DeepseekV4ForCausalLM(config).to(torch.bfloat16).eval()
    shape = spec_from_config(config.to_dict(), "tiny")
    assert parameter_count(shape) == parameter_count(spec_from_config(TINY, "tiny")) == weights_of(net)
    for tokens in (2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 37, 48):
        assert held(net, tokens) == kv_cache_bytes(shape, tokens, B, options=AS_KEPT), tokens


def test_kinds_of_layers_that_the_file_leaves_out_are_those_of_transformers():
    given = {name: value for name, value in TINY.items() if name not in ("layer_types", "num_hash_layers")}
    given |= {"num_hidden_layers": 7}
    shape = spec_from_config(given, "tiny")
    config = transformers.DeepseekV4Config(**copy.deepcopy(given))
    assert shape.compressed == spec_from_config(config.to_dict(), "tiny").compressed
    assert any("layer_types" in note for note in shape.notes)
    with torch.device("meta"):
        assert parameter_count(shape) == weights_of(transformers.DeepseekV4ForCausalLM(config))


def test_a_million_tokens_take_what_is_published():
    """vLLM's account of V4 (vllm.ai/blog/deepseek-v4): 9.62 GiB for Pro, 6.72 GiB for Flash by the same sum in bf16."""
    for name, given, gib, billions in (("Pro", PRO, 9.62, 1600), ("Flash", FLASH, 6.72, 284)):
        shape = spec_from_config(given, name)
        assert kv_cache_bytes(shape, 2**20, options=AS_KEPT) / 2**30 == pytest.approx(gib, abs=0.01)
        assert parameter_count(shape) == pytest.approx(billions * 10**9, rel=0.02)
    assert [len(branch.layers) for branch in spec_from_config(PRO, "Pro").compressed] == [30, 31]


def test_what_a_token_adds_is_its_share_of_an_entry():
    flash = spec_from_config(FLASH, "Flash")
    later = 21 * (512 * 2 // 4 + 132 // 4) + 20 * (512 * 2 // 128)
    assert kv_bytes_per_token(flash) == 43 * 512 * 2 + later
    assert [(phase.until, phase.bytes) for phase in kv_growth(flash)] == [(128, 43 * 512 * 2 + later), (None, later)]
    assert kv_cache_bytes(flash, 2**20) - kv_cache_bytes(flash, 2**19) == 2**19 * later
    text = "\n".join(breakdown_lines(kv_breakdown(flash, 8192)))
    for said in ("2,048 compressed entries (8,192 // 4)", "Heavily compressed attention (HCA)", "on average for each"):
        assert said in text


def test_pages_prefixes_ranks_and_stages():
    flash = spec_from_config(FLASH, "Flash")
    whole = kv_breakdown(flash, 1000, 2)
    assert sum(kv_breakdown(flash, 1000, 2, options=KvOptions(pp=4)).stage_bytes) == whole.total_bytes
    assert kv_breakdown(flash, 1000, 2, options=KvOptions(tp=4)).per_gpu_bytes == whole.total_bytes
    entries = {256: 21 * 1024 // 4 + 20 * 1024 // 128, 1: 21 * 1000 // 4 + 20 * (1000 // 128)}
    for block, count in entries.items():
        found = kv_breakdown(flash, 1000, 1, options=KvOptions(block_size=block)).terms
        shared = [term.bytes for term in found if term.part == "shared" and term.place != "sliding"]
        assert sum(shared) == count * 512 * 2
    common = kv_cache_bytes(flash, 1000, 2, options=KvOptions(shared_prefix=1000))
    waiting = [term.bytes for term in whole.terms if term.part in ("buffer", "overlap")]
    assert common == (whole.total_bytes - sum(waiting)) // 2 + sum(waiting)
    for change, says in (({"block_size": 16}, "block_size is 16"), ({"layout": "broadcast_heads"}, "layout is")):
        with pytest.raises(GlassLlamaError, match=says):
            kv_cache_bytes(flash, 1000, options=KvOptions(**change))


def test_every_length_up_to_the_largest_context_fits():
    """The cache shrinks where waiting tokens become an entry: the longest that fits may follow one that does not."""
    flash = spec_from_config({**FLASH, "n_routed_experts": 8}, "small")
    setup = Setup(options=KvOptions(window="transformers"))
    batch = 40_000
    found = largest_context(flash, batch, "H100 80 GB", setup)
    uses = [memory_use(flash, n, batch, "H100 80 GB", setup) for n in range(1, found.value + 2)]
    assert 0 < found.value < 1000
    assert [use.fits for use in uses] == [True] * found.value + [False]


def test_a_step_reads_the_chosen_entries_and_every_indexer_key():
    flash = spec_from_config(FLASH, "Flash")
    read = decode_bound(flash, 2**20, 1, "B300 288 GB", Setup(options=KvOptions(tp=8))).cache
    assert {(term.place, term.part): term.bytes // 8 for term in read.terms} == {
        ("sliding", "shared"): 43 * 128 * 512 * 2,
        ("csa", "shared"): 21 * 512 * 512 * 2,
        ("csa", "indexer"): 21 * 2**18 * 132,
        ("hca", "shared"): 20 * 2**13 * 512 * 2,
    }


def test_other_kinds_keep_every_token_where_this_one_compresses():
    flash = spec_from_config(FLASH, "Flash")
    kinds = attention_kinds(flash)
    assert kinds["MQA"] == flash
    assert kv_cache_bytes(kinds["MHA"], 1000) == (41 * 1000 + 2 * 128) * 2 * 64 * 512 * 2


REFUSED = [
    ({"compress_ratios": [0, 4, 8] * 15}, "compress_ratios is [0, 4, 8"),
    ({"compress_ratios": [4]}, "compress_ratios is [4]; expected a list of at least 43"),
    ({"compress_rates": {CSA: 4, HCA: 6}}, "compress_rates.heavily_compressed_attention is 6; expected a multiple"),
    ({"layer_types": ["full_attention"] * 43}, "layer_types is 'full_attention'; expected each one of"),
    ({"num_key_value_heads": 2}, "num_key_value_heads is 2; expected 1"),
    ({"o_groups": 7}, "o_groups is 7; expected a divisor of the heads"),
    ({"sliding_window": 1}, "sliding_window is 1; expected"),
    ({"kv_lora_rank": 512}, "kv_lora_rank is 512; expected it absent"),
]


def test_what_cannot_be_read_is_refused_by_the_fields_name():
    for change, says in REFUSED:
        with pytest.raises(GlassLlamaError) as caught:
            spec_from_config({**FLASH, **change}, "mine")
        assert str(caught.value).startswith(f"config.json: {says}"), change
    more = spec_from_config({**FLASH, "n_shared_experts": 2}, "mine")
    assert str(more.unstated[0]).startswith("config.json: n_shared_experts is 2; expected 1")
    assert kv_cache_bytes(more, 1000) == kv_cache_bytes(spec_from_config(FLASH), 1000)
