"""FFNs that are no SwiGLU, experts and latents: the page shows what transformers computes of the same files."""

import math
import re
from collections import Counter
from typing import Any

import pytest
import torch
import transformers
from playwright.sync_api import Page, expect
from torch import Tensor
from torch.nn.functional import gelu, relu, silu
from transformers import SwitchTransformersConfig
from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func
from transformers.models.switch_transformers.modeling_switch_transformers import SwitchTransformersTop1Router
from transformers.models.switch_transformers.modeling_switch_transformers import load_balancing_loss_func as switch_loss

from app.texts import text
from tests.app.family_page import CLOSE, PROMPT, families, read, value_here
from tests.app.looking import number
from tests.families import SIZES, Pair, run

GROUPED = {"num_key_value_heads": 2, "head_dim": 8}
MLA = {"kv_lora_rank": 20, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10, "num_key_value_heads": 6}
MOE = {"n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "first_k_dense_replace": 1}
GROUPS = {"n_group": 4, "topk_group": 2, "routed_scaling_factor": 1.7, "q_lora_rank": 16, "intermediate_size": 80}
CONFIGS: dict[str, Any] = {
    "bloom": transformers.BloomConfig(vocab_size=320, hidden_size=48, n_layer=3, n_head=6),
    "mixtral": transformers.MixtralConfig(**SIZES, **GROUPED, intermediate_size=24, num_local_experts=8),
    "deepseek": transformers.DeepseekV3Config(**SIZES, **MLA, **MOE, **GROUPS),
}
pairs, page = families(CONFIGS)


def at(page: Page, chapter: str, **place: int | None) -> None:
    page.evaluate("([chapter, place]) => { glass.open(chapter); glass.select(place); }", [chapter, place])


def keep(pair: Pair, ids: list[int], **modules: str) -> tuple[Any, dict[str, Tensor]]:
    """transformers' run, and by name what went into (in_…) or came out of (out_…) some of its modules."""
    seen: dict[str, Any] = {}
    marks = []
    for name, path in modules.items():
        module = pair.peer.get_submodule(path)
        if name.startswith("in_"):
            marks.append(module.register_forward_pre_hook(lambda _, given, n=name: seen.__setitem__(n, given[0])))
        else:
            marks.append(module.register_forward_hook(lambda _, __, made, n=name: seen.__setitem__(n, made)))
    theirs = run(pair.peer, torch.tensor([ids]))
    for mark in marks:
        mark.remove()
    return theirs, seen


def test_a_feed_forward_without_a_gate(page: Page, pairs: dict[str, Pair]) -> None:
    pair, layer, token = pairs["bloom"], 1, 7
    ids = read(page, "bloom", PROMPT)
    mlp = f"transformer.h.{layer}.mlp"
    _, seen = keep(
        pair, ids, out_up=f"{mlp}.dense_h_to_4h", in_down=f"{mlp}.dense_4h_to_h", out_mlp=f"{mlp}.dense_4h_to_h"
    )
    up, made = (seen[name][0].double() for name in ("out_up", "in_down"))
    down = pair.peer.get_submodule(f"{mlp}.dense_4h_to_h").weight.detach().double()
    best = int(made[token].abs().argmax())
    at(page, "ffn", layer=layer, query=token, neuron=None)
    for neuron in (best, 5):
        at(page, "ffn", layer=layer, query=token, neuron=neuron)
        truth = {"up": up[token, neuron], "gelu": made[token, neuron], "product": made[token, neuron]}
        value = value_here(page, "swiglu", f"neuron {neuron} up=")
        assert "gate=" not in value
        wrote = value_here(page, "ffn-token", f"layer {layer} token {token} neuron {neuron} ")
        page.wait_for_function("document.querySelector('[data-kind=ffn-token]').dataset.value.includes('writes=')")
        wrote = value_here(page, "ffn-token", f"layer {layer} token {token} neuron {neuron} ")
        for name, number_of in truth.items():
            assert number(value, name) == pytest.approx(float(number_of), **CLOSE), name
            assert number(wrote, name) == pytest.approx(float(number_of), **CLOSE), name
        length = (down[:, neuron] * made[token, neuron]).norm()
        assert number(wrote, "writes") == pytest.approx(float(length), **CLOSE)
        halves = [int((up[token] <= 0).sum()), int((up[token] > 0).sum())]
        assert re.search(r"quadrants=([\d,]+)", wrote)[1] == ",".join(map(str, halves))  # pyright: ignore
    value = value_here(page, "activation-kinds", f"layer {layer} token {token} own gelu_new ")
    other = {"relu": relu(up[token]), "swish": silu(up[token]), "gelu": gelu(up[token])}
    for name, inner in other.items():
        change = (down @ (inner - made[token])).norm() / seen["out_mlp"][0, token].norm()
        assert number(value, rf" {name}") == pytest.approx(float(change), **CLOSE), name
    assert number(value, "closed") == int((up[token] <= 0).sum())
    assert "glu=" not in value
    found = value_here(page, "ffn-tokens", f"layer {layer} neuron ")
    row, column = (int(one) for one in re.search(r"neuron (\d+) token (\d+)", found).groups())  # pyright: ignore
    assert number(found, "product") == pytest.approx(float(made[column, row]), **CLOSE)
    page.wait_for_function("document.querySelector('[data-kind=ffn-tokens]').dataset.value.includes('mean_open=')")
    found = value_here(page, "ffn-tokens", f"layer {layer} neuron ")
    assert number(found, "mean_open") == pytest.approx(float((up > 0).double().mean()), **CLOSE)
    expect(page.locator("section[data-kind=swiglu] .gp-title")).to_contain_text("GELU(up)")
    for kind in ("experts", "latent"):
        expect(page.locator(f"section[data-kind={kind}]")).to_be_hidden()


def test_the_width_by_the_rule(page: Page, pairs: dict[str, Pair]) -> None:
    """Of this network, of a published one, and where a slider stands; by hand."""
    read(page, "bloom", PROMPT)
    at(page, "ffn", layer=1)
    value = value_here(page, "ffn-width", "layer 1 model own ")
    assert [number(value, name) for name in ("d", "four", "thirds", "actual")] == [48, 192, 128, 192]
    panel = page.locator("section[data-kind=ffn-width]")
    expect(panel).to_contain_text("has no gate")
    panel.get_by_label("Model").select_option("Llama-3 8B")
    value = value_here(page, "ffn-width", "layer 1 model Llama-3_8B ")
    assert [number(value, name) for name in ("thirds", "scaled", " width")] == [10922, 14198, 14336]
    assert [number(value, name) for name in ("two", "three")] == [2 * 4096 * 16384, 3 * 4096 * 14336]
    expect(panel).to_contain_text("14 × 1,024 = 14,336")
    panel.locator("[data-setting=times] input").fill("1")
    panel.locator("[data-setting=multiple] input").fill("8")
    page.wait_for_function("document.querySelector('[data-kind=ffn-width]').dataset.value.includes(' width=11008')")


def test_what_changes_in_a_feed_forward_without_a_gate(page: Page, pairs: dict[str, Pair]) -> None:
    layer, token, neuron = 1, 7, 5
    made = []
    for prompt in (PROMPT.replace("dog", "cat"), PROMPT):
        ids = read(page, "bloom", prompt)
        page.evaluate("void (glass.sides() || glass.keep(glass.state.trace))")
        _, seen = keep(pairs["bloom"], ids, in_down=f"transformer.h.{layer}.mlp.dense_4h_to_h")
        made.append(float(seen["in_down"][0, token, neuron]))
    at(page, "ffn", layer=layer, query=token, neuron=neuron)
    page.evaluate("glass.showSide('B-A')")
    for kind in ("swiglu", "ffn-token"):
        value = value_here(page, kind, f"B-A layer {layer} token {token} neuron {neuron} ")
        assert [number(value, rf"\b{side}\.product") for side in "AB"] == pytest.approx(made, **CLOSE)
    page.locator("section[data-kind=ffn-tokens]").scroll_into_view_if_needed()
    value_here(page, "ffn-tokens", f"B-A layer {layer} ")
    page.evaluate("glass.showSide('B'); void glass.keep(null)")


def check_experts(page: Page, pair: Pair, ids: list[int], layer: int, token: int) -> None:
    """The choice, the load, and the strongest neuron of the best expert."""
    block = f"model.layers.{layer}"
    _, seen = keep(pair, ids, out_gate=f"{block}.mlp.gate", in_ffn=f"{block}.mlp", out_ffn=f"{block}.mlp")
    _, weights, chosen = (part.view(len(ids), -1) for part in seen["out_gate"])
    at(page, "ffn", layer=layer, query=token, neuron=None)
    value = value_here(page, "experts", f"layer {layer} token {token} ")
    truth = {int(e): float(w) for e, w in zip(chosen[token], weights[token], strict=True)}
    for name in ("chosen", "formula"):
        said = dict(one.split(":") for one in re.search(rf"{name}=(\S+)", value)[1].split(","))  # pyright: ignore
        assert {int(e): float(w) for e, w in said.items()} == pytest.approx(truth, **CLOSE), name
    counts = Counter(chosen.flatten().tolist())
    assert re.search(r"load=([\d,]+)", value)[1] == ",".join(str(counts[e]) for e in range(8))  # pyright: ignore
    assert number(value, "whole") == pytest.approx(float(seen["out_ffn"].view(len(ids), -1)[token].norm()), **CLOSE)
    experts, x = pair.peer.get_submodule(f"{block}.mlp.experts"), seen["in_ffn"].view(len(ids), -1)[token].double()
    for expert, weight in truth.items():
        gate, up = (experts.gate_up_proj[expert].detach().double() @ x).chunk(2)
        own = int((silu(gate) * up).abs().argmax())
        neuron = expert * 24 + own
        at(page, "ffn", layer=layer, query=token, neuron=neuron)
        numbers = {"gate": gate[own], "silu": silu(gate[own]), "up": up[own], "weight": weight}
        numbers["product"] = numbers["silu"] * numbers["up"] * weight
        place = f"neuron {neuron} expert {expert} own {own} "
        length = float((experts.down_proj[expert][:, own].detach().double() * numbers["product"]).norm())
        for kind, start in (("swiglu", place), ("ffn-token", f"layer {layer} token {token} {place}")):
            value = value_here(page, kind, start)
            for name, number_of in numbers.items():
                assert number(value, name) == pytest.approx(float(number_of), **CLOSE), (kind, name)
        page.wait_for_function("document.querySelector('[data-kind=ffn-token]').dataset.value.includes('writes=')")
        value = value_here(page, "ffn-token", f"layer {layer} token {token} {place}")
        assert number(value, "writes") == pytest.approx(length, **CLOSE)
    value_here(page, "ffn-tokens", f"layer {layer} neuron ")
    check_kinds(page, experts, x, truth, (layer, token))


def check_routing(page: Page, pair: Pair, ids: list[int], layer: int) -> None:
    """Top-1 and its slots by transformers' Switch, the balance loss by its Switch and by its Mixtral."""
    block, tokens = f"model.layers.{layer}", len(ids)
    _, seen = keep(pair, ids, out_gate=f"{block}.mlp.gate", in_ffn=f"{block}.mlp", out_ffn=f"{block}.mlp")
    x, whole = (seen[name].view(tokens, -1).double() for name in ("in_ffn", "out_ffn"))
    logits = x @ pair.peer.get_submodule(f"{block}.mlp.gate").weight.detach().double().T
    chosen = seen["out_gate"][2].view(tokens, -1)
    experts = pair.peer.get_submodule(f"{block}.mlp.experts")

    def wrote(expert: int, token: int) -> Tensor:
        gate, up = (experts.gate_up_proj[expert].detach().double() @ x[token]).chunk(2)
        return experts.down_proj[expert].detach().double() @ (silu(gate) * up)

    factor = 0.5
    slots = math.ceil(tokens / 8 * factor)
    config = SwitchTransformersConfig(num_experts=8, expert_capacity=slots, hidden_size=x.shape[-1])
    router = SwitchTransformersTop1Router(config).eval()
    router.classifier.weight.data = pair.peer.get_submodule(f"{block}.mlp.gate").weight.detach()
    with torch.no_grad():
        dispatched, p, _ = router(x.float()[None])
    best = logits.argmax(-1)
    top = torch.stack([wrote(int(best[t]), t) * float(p[0, t]) for t in range(tokens)])
    changes = (top - whole).norm(dim=-1) / whole.norm(dim=-1)
    page.evaluate("glass.settings.set('routing-kinds', { scheme: 'switch', factor: '0.5' })")
    at(page, "ffn", layer=layer, query=3)
    value = value_here(page, "routing-kinds", f"layer {layer} token 3 scheme switch factor 0.5 ")
    assert number(value, " switch") == pytest.approx(float(changes.mean()), **CLOSE)
    assert (number(value, " slots"), number(value, "tokens_dropped")) == (slots, tokens - int(dispatched.sum()))
    assert number(value, "lost") == pytest.approx(float(1 - dispatched[0, 3].sum()), **CLOSE)
    first = switch_loss(logits.softmax(-1)[None], best[None, :, None])
    assert number(value, "loss_first") == pytest.approx(0.02 * float(first), **CLOSE)
    every = load_balancing_loss_func((logits.float(),), 8, 2)
    assert number(value, "loss_every") == pytest.approx(0.02 * float(every) / 2, **CLOSE)
    assert number(value, "gshard") == pytest.approx(0, abs=1e-6)
    panel = page.locator("section[data-kind=routing-kinds]")
    own = panel.get_by_role("button", name=text("routing-kinds.scheme_own"))
    own.click()
    value_here(page, "routing-kinds", f"layer {layer} token 3 scheme own factor 0.5 ")
    away = sum(1 for t in range(tokens) for e in chosen[t].tolist() if (t * 2 // tokens) != (e * 2 // 8))
    expect(panel).to_contain_text(f"{away} of {2 * tokens} choices")
    page.evaluate("glass.settings.set('routing-kinds', {})")


def check_kinds(page: Page, experts: Any, x: Tensor, chosen: dict[int, float], place: tuple[int, int]) -> None:
    """ReLU in the place of SiLU, in the experts that the token goes to."""
    value = value_here(page, "activation-kinds", f"layer {place[0]} token {place[1]} own swiglu ")
    both = [(experts.gate_up_proj[e].detach().double() @ x).chunk(2) for e in chosen]
    if "deepseek" not in page.evaluate("glass.state.trace.model.name"):  # which has a shared expert besides
        downs = [experts.down_proj[e].detach().double() * weight for e, weight in chosen.items()]

        def wrote(bend: Any) -> Tensor:
            return sum(down @ (bend(gate) * up) for down, (gate, up) in zip(downs, both, strict=True))  # pyright: ignore

        change = (wrote(relu) - wrote(silu)).norm() / wrote(silu).norm()
        assert number(value, "reglu") == pytest.approx(float(change), **CLOSE)
        assert number(value, "closed") == sum(int((gate <= 0).sum()) for gate, _ in both)


def test_experts_of_mixtral(page: Page, pairs: dict[str, Pair]) -> None:
    ids = read(page, "mixtral", PROMPT)
    check_experts(page, pairs["mixtral"], ids, 1, 7)
    check_routing(page, pairs["mixtral"], ids, 1)
    expect(page.locator("section[data-kind=swiglu] .gp-title")).to_contain_text("Chosen experts")
    page.evaluate("glass.open('attend')")
    expect(page.locator("section[data-kind=latent]")).to_be_hidden()


@pytest.mark.thorough
def test_experts_and_the_latent_of_deepseek(page: Page, pairs: dict[str, Pair]) -> None:
    pair = pairs["deepseek"]
    ids = read(page, "deepseek", PROMPT)
    at(page, "ffn", layer=0)
    value_here(page, "routing-kinds", "layer 0 dense")
    value_here(page, "experts", "layer 0 dense first 1")
    page.get_by_role("button", name=text("experts.dense_lead", layer=1)).click()
    page.mouse.move(1, 1)  # what is under the pointer is shown in a selection's place
    page.wait_for_function("glass.state.layer === 1")
    check_experts(page, pair, ids, 2, 6)
    value = value_here(page, "experts", "layer 2 token 6 ")
    other = value_here(page, "routing-kinds", "layer 2 token 6 scheme own ")
    mlp = "model.layers.2.mlp"
    _, seen = keep(pair, ids, out_shared=f"{mlp}.shared_experts", in_ffn=mlp, out_ffn=mlp)
    lengths = [seen[name].view(len(ids), -1).norm(dim=-1) for name in ("out_shared", "out_ffn")]
    assert number(other, "no_shared") == pytest.approx(float((lengths[0] / lengths[1]).mean()), **CLOSE)
    assert number(other, "no_balance") >= 0
    router = pair.peer.get_submodule(f"{mlp}.gate").weight.detach().double()
    p = (seen["in_ffn"].view(len(ids), -1).double() @ router.T).softmax(-1)
    first = switch_loss(p[None], p.argmax(-1)[None, :, None])  # whatever its bias for balance puts first
    assert number(other, "loss_first") == pytest.approx(0.02 * float(first), **CLOSE)
    assert number(value, "shared") == pytest.approx(float(seen["out_shared"].view(len(ids), -1)[6].norm()), **CLOSE)
    theirs, head, query = run(pair.peer, torch.tensor([ids])), 4, 8
    scores = []
    for key in (2, 5):
        at(page, "attend", layer=2, head=head, query=query, key=key)
        value = value_here(page, "latent", f"layer 2 head {head} query {query} key {key} ")
        assert number(value, "absorbed") == pytest.approx(number(value, "score"), rel=1e-5, abs=5e-6)
        scores.append(number(value, "score"))
        assert (number(value, "kept"), number(value, "expanded")) == (20 + 8, 6 * (12 + 8 + 10))
        assert number(value, "apart") < 1e-5
    weights = theirs.attentions[2][0, head, query, [2, 5]].log()
    assert scores[1] - scores[0] == pytest.approx(float(weights[1] - weights[0]), **CLOSE)
    page.evaluate("glass.settings.set('sparse-attention', { k: 3 })")
    value = value_here(page, "sparse-attention", f"layer 2 head {head} query {query} key 5 k 3 ")
    weights = theirs.attentions[2][0, :, query]
    kept = weights[:, weights.mean(0).topk(3).indices].sum(-1)
    assert number(value, "best_lost") == pytest.approx(float(1 - kept[head]), **CLOSE)
    assert number(value, "best_lost_by_all") == pytest.approx(float(1 - kept.mean()), **CLOSE)
    assert (number(value, "bytes"), number(value, "bytes_added")) == (3 * (20 + 8) * 4, 3 * 132)
    expect(page.locator("section[data-kind=qkv] .gp-absent")).to_contain_text("latent")
