"""What the page shows of networks that are no LLaMA is what transformers computes of the same files."""

import re
from typing import Any

import pytest
import torch
import transformers
from playwright.sync_api import Page, expect
from torch import Tensor

from app.texts import text
from tests.app.family_page import CLOSE, PROMPT, families, read, value_of
from tests.app.looking import number
from tests.families import SIZES, Pair, run

pytestmark = pytest.mark.thorough

DEEPSEEK: dict[str, Any] = {
    "kv_lora_rank": 20,
    "qk_nope_head_dim": 12,
    "qk_rope_head_dim": 8,
    "v_head_dim": 10,
    "num_key_value_heads": 6,
    "q_lora_rank": 16,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 24,
    "first_k_dense_replace": 1,
    "intermediate_size": 80,
    "n_group": 4,
    "topk_group": 2,
    "rope_parameters": {
        "rope_theta": 1e4,
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 32,
        "mscale": 0.7,
        "mscale_all_dim": 1.1,
    },
}
GLM: dict[str, Any] = {"num_key_value_heads": 2, "intermediate_size": 80, "head_dim": 16}
CONFIGS: dict[str, tuple[Any, tuple[str, ...]]] = {  # with transformers' names of a layer's norms
    "bloom": (transformers.BloomConfig(**SIZES), ("input_layernorm", "post_attention_layernorm")),
    "falcon-7b": (transformers.FalconConfig(**SIZES), ("input_layernorm",)),
    "falcon-40b": (
        transformers.FalconConfig(**SIZES, new_decoder_architecture=True, num_kv_heads=2),
        ("ln_attn", "ln_mlp"),
    ),
    "glm": (transformers.GlmConfig(**SIZES | GLM), ("input_layernorm", "post_attention_layernorm")),
    "deepseek": (
        transformers.DeepseekV3Config(**SIZES | DEEPSEEK),
        ("input_layernorm", "post_attention_layernorm"),
    ),
}
pairs, page = families({name: config for name, (config, _) in CONFIGS.items()})


def hooked(
    pair: Pair, norms: tuple[str, ...], ids: list[int]
) -> tuple[Any, dict[tuple[int, str], tuple[Tensor, Tensor]]]:
    """transformers' run, and what each norm read and gave, by layer and our name of the norm."""
    seen: dict[tuple[int, str], tuple[Tensor, Tensor]] = {}
    layers = [module for module in pair.peer.modules() if hasattr(module, norms[0])]
    marks = [
        getattr(layer, norm).register_forward_hook(
            lambda _module, given, made, at=(i, name): seen.__setitem__(at, (given[0][0], made[0]))
        )
        for i, layer in enumerate(layers)
        for norm, name in zip(norms, ("attn", "ffn"), strict=False)
    ]
    theirs = run(pair.peer, torch.tensor([ids]))
    for mark in marks:
        mark.remove()
    return theirs, seen


def check_norms(
    page: Page, pair: Pair, seen: dict[tuple[int, str], tuple[Tensor, Tensor]], layer: int, token: int
) -> None:
    """Mean and deviation, or the RMS, of every norm of the layer, and one channel of what it gives."""
    centred = hasattr(pair.lm.net.norm, "bias")
    there = [name for name in ("attn", "ffn") if (layer, name) in seen]
    for name in there:
        before, after = (vectors[token].double() for vectors in seen[layer, name])
        page.evaluate("(which) => glass.settings.set('norm', { which })", name)
        page.evaluate("([layer, query]) => glass.select({ layer, query })", [layer, token])
        value = value_of(page, "glance", "rmsnorm", f"layer {layer} {name} token {token} ")
        mean = before.mean() if centred else 0
        divisor = float(((before - mean).square().mean() + pair.lm.config.norm_eps).sqrt())
        assert number(value, "deviation" if centred else "rms") == pytest.approx(divisor, **CLOSE), name
        if centred:
            assert number(value, "mean") == pytest.approx(float(mean), **CLOSE), name
        value = value_of(page, "norm", "norm-vector", f"layer {layer} {name} token {token} ")
        channel = int(value.split("channel ")[1].split()[0])
        assert number(value, "x") == pytest.approx(float(before[channel]), **CLOSE)
        assert number(value, "normed") == pytest.approx(float(after[channel]), **CLOSE)
        value = value_of(page, "norm", "norm-scale", f"layer {layer} {name} token {token} ")
        assert "layer_eps_scaled=" in value
        check_norm_kinds(page, seen[layer, name][0].double(), pair.lm.config.norm_eps, f"layer {layer} {name}", token)
    offered = page.locator("section[data-kind=norm-vector] [data-choice=ffn]")
    assert offered.is_visible() == ("ffn" in there)


def check_norm_kinds(page: Page, before: Tensor, eps: float, place: str, token: int) -> None:
    """The same vector through torch's own norms, whichever of them the network has."""
    value = value_of(page, "norm", "norm-kinds", f"{place} token {token} ")
    channel, size = int(value.split("channel ")[1].split()[0]), before.shape[1:]
    truths = {
        "batch": torch.nn.BatchNorm1d(size[0], eps=eps, affine=False, dtype=before.dtype).train()(before),
        "layer": torch.nn.functional.layer_norm(before, size, eps=eps),
        "rms": torch.nn.functional.rms_norm(before, size, eps=eps),
    }
    for kind, truth in truths.items():
        assert number(value, f"to_{kind}") == pytest.approx(float(truth[token, channel]), rel=1e-3, abs=1e-4), kind
    assert "to_deep=" in value
    tables = page.locator("section[data-kind=norm-kinds] .norm-channels:has(th.norm-name)")
    heads = tables.evaluate_all("(all) => all.map((one) => one.querySelector('thead th').textContent)")
    assert heads == [text("norm-kinds.head_norm")] * 3  # whichever norm the network has


def score_at(page: Page, key: int, chapter: str, kind: str) -> dict[str, float]:
    """What a panel says of the score where the selection's key is this one."""
    page.evaluate("(key) => glass.select({ key })", key)
    value = value_of(page, chapter, kind)
    assert f"key {key}" in value, value
    return {name: number(value, name) for name in ("qk", "score", "bias", "weight") if f"{name}=" in value}


def check_scores(page: Page, pair: Pair, row: Tensor, query: int, key: int) -> None:
    """Weights, differences of scores as the logarithms of weights, and a bias as it is defined."""
    weights = row.double()
    page.evaluate("glass.open('attend')")
    first, second = (score_at(page, at, "attend", "cell") for at in (key, query))
    assert first["weight"] == pytest.approx(float(weights[key]), **CLOSE)
    apart = float(weights[key].log() - weights[query].log())
    assert first["score"] - second["score"] == pytest.approx(apart, rel=1e-3, abs=2e-4)
    scale = page.evaluate("glass.state.trace.model.parts.scale")
    assert first["qk"] * scale + first.get("bias", 0) == pytest.approx(first["score"], rel=1e-3, abs=2e-4)
    page.evaluate("(key) => glass.select({ key })", key)
    place = page.evaluate("`layer ${glass.state.layer} head ${glass.state.head}`")
    value = value_of(page, "glance", "attention", f"{place} query {query} key {key} ")
    assert number(value, "weight") == pytest.approx(float(weights[key]), **CLOSE)
    if page.evaluate("glass.state.trace.model.parts.rotary !== null"):
        value = value_of(page, "position", "rope-score")
        assert number(value, "score") == pytest.approx(first["score"], rel=1e-3, abs=2e-4)
        value = value_of(page, "position", "rope-layout")
        for name in ("half", "neighbours"):
            found = re.search(rf"\b{name}=[^,]+,[^,]+,(\S+)", value)
            assert found, value
            assert float(found[1]) == pytest.approx(float(weights[key]), rel=1e-3, abs=1e-4), value
        value_of(page, "position", "rope-scaling")
        value = value_of(page, "glance", "rope", "pair ")
        product = number(value, "qk" if " qk=" in value else "sum")
        assert product * scale == pytest.approx(first["score"], rel=1e-3, abs=2e-4), value
        value = value_of(page, "position", "rope-derivation")
        assert number(value, "far") * scale == pytest.approx(first["score"], rel=1e-3, abs=2e-4), value
        assert number(value, "by_distance") == pytest.approx(number(value, "term"), rel=1e-6, abs=1e-9), value
    check_position_kinds(page, float(weights[key]))


def check_position_kinds(page: Page, weight: float) -> None:
    """Of all kinds of positions the network's own gives the weight that it has; without any no order changes a score,
    and under MLA none is added."""
    value = value_of(page, "position", "position-kinds")
    own = "rope" if page.evaluate("glass.state.trace.model.parts.rotary !== null") else "alibi"
    assert number(value, f"weight_{own}") == pytest.approx(weight, **CLOSE)
    assert number(value, "change_none") == 0
    assert number(value, f"change_{own}") > 0
    latent = page.evaluate("glass.state.trace.model.parts.latent !== null")
    assert ("weight_sinusoidal=-" in value) == latent


def check_bias(page: Page, heads: int, head: int, query: int, key: int) -> None:
    """ALiBi by transformers' own tensor, whose rows differ from a bias by distance by a constant."""
    theirs = transformers.models.bloom.modeling_bloom.build_alibi_tensor(torch.ones(1, query + 1), heads, torch.float32)
    value = value_of(page, "glance", "rope")
    bias = float(theirs[head, 0, key] - theirs[head, 0, query])
    assert number(value, "bias") == pytest.approx(bias, **CLOSE)
    assert number(value, "slope") * (query - key) == pytest.approx(-bias, **CLOSE)
    for kind in ("rope-score", "rope-derivation", "rope-scaling", "rope-layout"):
        page.evaluate("glass.open('position')")
        page.locator(f"section[data-kind={kind}][data-absent] .gp-absent").wait_for()


def check_one_token(page: Page, name: str) -> None:
    """ALiBi's bias is 0 where one token looks at itself, and it is ALiBi's all the same."""
    assert len(read(page, name, "a")) == 1
    value_of(page, "position", "position-kinds", "layer")
    own = page.locator("section[data-kind=position-kinds] tr", has_text=text("position-kinds.own").strip())
    expect(own).to_contain_text(text("position-kinds.kind_alibi"))
    lacking = page.locator("section[data-kind=rope-derivation] .gp-absent")
    expect(lacking).to_have_text(text("absent.rotary_derivation", model=name))


def check_overview(
    page: Page, theirs: Any, seen: dict[tuple[int, str], tuple[Tensor, Tensor]], layer: int, token: int
) -> None:
    """What leaves the norms, and the stream after the layer; the rows are those that the network has."""
    page.evaluate("([layer, query]) => glass.select({ layer, query })", [layer, token])
    value_of(page, "overview", "overview")
    rows = page.locator("section[data-kind=overview] .ov-row").evaluate_all(
        "rows => rows.map((row) => row.dataset.row)"
    )
    assert ("ffn_norm" in rows) == ((layer, "ffn") in seen)
    truth = {f"{name}_norm": after for (i, name), (_, after) in seen.items() if i == layer}
    for key, vectors in (truth | {"ffn_add": theirs.hidden_states[layer + 1][0]}).items():
        page.locator(f"[data-row={key}] .ov-name").click()
        page.mouse.move(0, 0)  # what is scrolled under the pointer would be shown instead
        value = value_of(page, "overview", "overview", f"{key} layer {layer} token {token} ")
        channel = int(value.split("channel ")[1].split()[0])
        assert number(value, "value") == pytest.approx(float(vectors[token, channel]), **CLOSE), value


def check_logit(page: Page, pair: Pair, theirs: Any, query: int) -> None:
    """The parts of the chosen logit sum to transformers' own; of a LayerNorm, its bias is one of them."""
    target = int(theirs.logits[0, query].argmax())
    value = value_of(page, "choice", "contributions", "")
    assert f"token {query} target {target} " in value, value
    assert number(value, "sum") == pytest.approx(float(theirs.logits[0, query, target]), rel=1e-4, abs=2e-4), value
    beta = getattr(pair.lm.net.norm, "bias", None)
    panel = page.locator("section[data-kind=contributions]")
    if beta is None:
        expect(panel).not_to_contain_text(text("contributions.constant"))
        return
    said = re.search(rf"{text('contributions.constant')} ([+−][\d.]+)", panel.inner_text())
    assert said, panel.inner_text()
    added = pair.peer.get_output_embeddings().weight[target].detach().double() @ beta.detach().double()
    half = 0.51 * 10.0 ** -len(said[1].partition(".")[2])  # of the last decimal that is read
    assert float(said[1].replace("−", "-")) == pytest.approx(float(added), abs=half)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_family_is_shown_as_transformers_computes_it(name: str, page: Page, pairs: dict[str, Pair]) -> None:
    pair = pairs[name]
    theirs, seen = hooked(pair, CONFIGS[name][1], read(page, name, PROMPT))
    layer, head, query, key = 1, 4, 9, 3
    page.evaluate("(chosen) => glass.select(chosen)", {"layer": layer, "head": head, "query": query, "key": key})
    check_norms(page, pair, seen, layer, query)
    value = value_of(page, "norm", "norm-placement", f"token {query} depth {pair.lm.config.n_layers} ")
    assert number(value, "start") == pytest.approx(float(theirs.hidden_states[0][0, query].norm()), **CLOSE)
    check_scores(page, pair, theirs.attentions[layer][0, head, query], query, key)
    if name == "bloom":
        check_bias(page, pair.lm.config.n_heads, head, query, key)
    check_overview(page, theirs, seen, layer, query)
    check_logit(page, pair, theirs, query)
    if name == "bloom":
        check_one_token(page, name)
