"""The names that the READMEs give for --model: their config.json as published loads, and at small sizes runs right."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import model
from model.families import family_of
from tests.families import close, pair_of, sample, save

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
NAMED = json.loads((HERE / "named_configs.json").read_text(encoding="utf-8"))
NAMED.pop("about")
PUBLISHED = json.loads((HERE.parent / "published" / "hub_configs.json").read_text(encoding="utf-8"))
# Sizes, ids of tokens, and nothing else: what decides the arithmetic stays as published.
SMALL: dict[str, Any] = {
    "vocab_size": 320, "hidden_size": 48, "n_embed": 48, "d_model": 48, "num_hidden_layers": 3, "n_layer": 3,
    "num_layers": 3, "num_decoder_layers": 3, "num_attention_heads": 6, "num_heads": 4, "num_key_value_heads": 2,
    "num_kv_heads": 2, "head_dim": 8, "d_kv": 10, "intermediate_size": 80, "d_ff": 80, "moe_intermediate_size": 24,
    "n_routed_experts": 8, "num_experts_per_tok": 2, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
    "v_head_dim": 6, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0, "unk_token_id": 0,
}  # fmt: skip


def published(name: str) -> dict[str, Any]:
    """The fields of a name's config.json."""
    entry = NAMED[name]
    return PUBLISHED[entry["as"]] if "as" in entry else entry["fields"]


def small(raw: dict[str, Any]) -> dict[str, Any]:
    """The same fields with small sizes; as many K/V heads as query heads where the published one has."""
    found = raw | {name: size for name, size in SMALL.items() if name in raw}
    if raw.get("num_key_value_heads") == raw.get("num_attention_heads") and "num_key_value_heads" in raw:
        found["num_key_value_heads"] = found["num_attention_heads"]
    return found


@pytest.mark.parametrize("name", NAMED)
def test_its_fields_load_and_run_as_transformers_does(name: str) -> None:
    raw = published(name)
    with torch.device("meta"):
        family = family_of(raw)
        whole = family.build(family.read(raw))
    assert sum(weight.numel() for weight in whole.parameters()) == NAMED[name]["parameters"]
    few = small(raw)
    directory = save(transformers.AutoConfig.for_model(**few), sharpness=0.8)
    (directory / "config.json").write_text(json.dumps(few))  # as the vendor writes it, not as transformers would
    pair = pair_of(directory)
    ids, target = sample(2, 17, seed=3), sample(2, 9, seed=4)
    with torch.no_grad():
        if few.get("is_encoder_decoder"):
            close(pair.lm.net(ids, target), pair.peer(ids, decoder_input_ids=target).logits)
        else:
            close(pair.lm.net(ids), pair.peer(ids).logits)
    text = "The cat sleeps on the sofa."
    steps = list(model.generate(pair.lm, text, max_new_tokens=4))
    assert 1 <= len(steps) <= 4
    assert model.run_trace(pair.lm, pair.lm.tokenizer.encode(text)).logits.shape == (320,)


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readme_names_what_is_tested(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    rows = [
        line
        for line in text.splitlines()
        if re.match(r"\| .*`(?:llama|qwen2|bloom|falcon|glm|mixtral|deepseek_v2|t5)`", line)
    ]
    listed = re.findall(r"`([\w-]+/[\w.-]+)`", "\n".join(rows))
    assert sorted(listed) == sorted(NAMED)
    for line in rows:
        kinds = re.findall(r"`([a-z0-9_]+)`", line)
        for one in re.findall(r"`([\w-]+/[\w.-]+)`", line):
            assert published(one)["model_type"] in kinds, one
