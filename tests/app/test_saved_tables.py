"""Every panel's saved table, all of its rows, against transformers' own pass over the same tokens."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page
from tokenizers import Tokenizer
from torch.nn import functional as F
from torch.nn.functional import cosine_similarity, silu
from transformers import LlamaConfig, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper
from transformers.activations import ACT2FN
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaAttention

from app.chapters import FIRST
from tests.app.looking import run, settled, shown
from tests.app.test_inside_page import change
from tests.app.test_inside_page import turned as turned_by
from tests.app.test_saving import save
from tests.model.replaced.test_low_rank import of_low_rank
from tests.model.replaced.test_pooled_heads import of_transformers
from tests.page import leave, open_page
from tests.panels import of_a_llama
from tests.peer import Peer
from tests.reference import reference, sinusoids_of_marian

pytestmark = pytest.mark.thorough

FIRST_PROMPT, PROMPT = "The dog plays in the yard. 猫在沙发上", "The cat plays in the yard. 猫在沙发上"
AT = {"layer": 1, "head": 3, "query": 7, "key": 4, "pair": 2, "neuron": 11}
LAYER, HEAD, QUERY, KEY = (AT[name] for name in ("layer", "head", "query", "key"))
FILTERS = {"temperature": 0.8, "top_k": 40, "top_p": 0.7}
MOVED = 100  # by how much the score's panel moves both positions at first

Rows = list[dict[str, str]]


class Both(Peer):
    """transformers' pass over run B, and over run A, with the streams and their parts by name."""

    def __init__(self, directory: Path, ids: list[int], first: list[int] | None = None):
        super().__init__(directory, ids)
        self.ids, self.directory, self.layers = ids, directory, self.config.num_hidden_layers
        self.first = Both(directory, first) if first else None
        self.group = self.config.num_attention_heads // self.config.num_key_value_heads

    @property
    def tokens(self) -> int:
        return len(self.ids)

    def wrote(self, part: str, layer: int) -> torch.Tensor:
        return self.outputs[f"model.layers.{layer}." + ("self_attn.o_proj" if part == "attn" else "mlp")].double()

    def stream(self, depth: int) -> torch.Tensor:
        """Before a layer; with `depth` = L after the last one, which transformers hands out normalised only."""
        if depth < self.layers:
            return self.run.hidden_states[depth][0].double()
        return self.stream(depth - 1) + self.wrote("attn", depth - 1) + self.wrote("ffn", depth - 1)

    def inner(self, layer: int) -> dict[str, torch.Tensor]:
        """Gate, SiLU(gate), up and their product, (T, f) each."""
        gate, up = (self.outputs[f"model.layers.{layer}.mlp.{name}_proj"].double() for name in ("gate", "up"))
        return {"gate": gate, "silu": silu(gate), "up": up, "product": silu(gate) * up}

    def before_rope(self, head: int, name: str, token: int) -> torch.Tensor:
        return self.head(LAYER, name, head if name == "q" else head // self.group, token)

    @property
    def inv_freq(self) -> torch.Tensor:
        return self.net.model.rotary_emb.inv_freq

    def turned(
        self, head: int, name: str, token: int, position: int | None = None, other: bool = False
    ) -> torch.Tensor:
        """q or k after RoPE, by complex numbers; `other`: in the layout of neighbours."""
        at = token if position is None else position
        return turned_by(self.before_rope(head, name, token), at, self.inv_freq, other)

    def weights(self, layer: int, head: int) -> torch.Tensor:
        return self.run.attentions[layer][0, head].double()

    def read(self, token: int, target: int) -> torch.Tensor:
        """What the final norm and the head multiply a vector of this token by to get its share of a logit."""
        scale = (self.stream(self.layers)[token].square().mean() + self.config.rms_norm_eps).sqrt()
        weight = self.net.lm_head.weight[target].detach().double()
        return weight * self.net.model.norm.weight.detach().double() / scale


def agree(rows: Rows, **truths: Any) -> None:
    """Whether these columns hold these numbers, row by row and no row too few or too many."""
    for name, truth in truths.items():
        told = np.array([float(row[name]) for row in rows])
        wanted = torch.as_tensor(truth).detach().double().reshape(-1).numpy()
        assert told.shape == wanted.shape, (name, told.shape, wanted.shape)
        np.testing.assert_allclose(told, wanted, rtol=1e-4, atol=2e-5 * max(1, abs(wanted).max()), err_msg=name)


def named(rows: Rows, **columns: Any) -> None:
    """Whether these columns hold these words or whole numbers, row by row."""
    for name, truth in columns.items():
        assert [row[name] for row in rows] == [str(one) for one in truth], name


def tokens(p: Both, rows: Rows) -> None:
    named(rows, position=range(p.tokens), id=p.ids)
    column = f"attention_weight_from_{QUERY}"
    agree(rows[: QUERY + 1], **{column: p.weights(LAYER, HEAD)[QUERY, : QUERY + 1]})
    assert all(row[column] == "" for row in rows[QUERY + 1 :])  # hidden by the mask


def next_token(p: Both, rows: Rows) -> None:
    logits = p.run.logits[0, -1].double()
    order = logits.argsort(descending=True)[: len(rows) - 1]
    named(rows[:-1], id=order.tolist())
    agree(rows[:-1], logit=logits[order], probability=logits.softmax(-1)[order])
    agree(rows[-1:], probability=1 - logits.softmax(-1)[order].sum())


def attention(p: Both, rows: Rows) -> None:
    heads, keys = range(p.config.num_attention_heads), range(QUERY + 1)
    places = list(product(heads, keys))
    named(rows, head=[h for h, _ in places], kv_head=[h // p.group for h, _ in places], key=[k for _, k in places])
    scores = [p.turned(h, "q", QUERY) @ p.turned(h, "k", k) / p.config.head_dim**0.5 for h, k in places]
    agree(rows, score=scores, weight=[p.weights(LAYER, h)[QUERY, k] for h, k in places])


def rmsnorm(p: Both, rows: Rows) -> None:
    names = {("", "final"): "model.norm"}
    for layer in range(p.layers):
        names[str(layer), "attn"] = f"model.layers.{layer}.input_layernorm"
        names[str(layer), "ffn"] = f"model.layers.{layer}.post_attention_layernorm"
    assert len(rows) == len(names) * p.tokens
    found = [p.inputs[names[row["layer"], row["norm"]]][0, int(row["token"])].double() for row in rows]
    agree(rows, rms=[(x.square().mean() + p.config.rms_norm_eps).sqrt() for x in found])


def rope(p: Both, rows: Rows) -> None:
    half = p.config.head_dim // 2
    agree(rows, pair=range(half), second=range(half, 2 * half), inv_freq=p.inv_freq)
    for name, token in (("q", QUERY), ("k", KEY)):
        before, after = p.before_rope(HEAD, name, token).view(2, -1), p.turned(HEAD, name, token).view(2, -1)
        agree(rows, **{f"{name}_first": before[0], f"{name}_second": before[1]})
        agree(rows, **{f"{name}_rot_first": after[0], f"{name}_rot_second": after[1]})
    agree(rows, term=(p.turned(HEAD, "q", QUERY) * p.turned(HEAD, "k", KEY)).view(2, -1).sum(0))


def swiglu(p: Both, rows: Rows) -> None:
    named(rows, neuron=range(p.config.intermediate_size))
    agree(rows, **{name: values[QUERY] for name, values in p.inner(LAYER).items()})


def overview(p: Both, rows: Rows) -> None:
    norms = [f"model.layers.{LAYER}.{name}_layernorm" for name in ("input", "post_attention")]
    before, attn, ffn = p.stream(LAYER), p.wrote("attn", LAYER), p.wrote("ffn", LAYER)
    logits = p.run.logits[0, QUERY].double()
    vectors = {
        "embed": p.stream(0), "before": before, "attn_norm": p.outputs[norms[0]], "attn": attn,
        "attn_add": before + attn, "ffn_norm": p.outputs[norms[1]], "ffn": ffn, "ffn_add": before + attn + ffn,
        "after": p.stream(p.layers), "final_norm": p.outputs["model.norm"],
    }  # fmt: skip
    assert list(dict.fromkeys(row["row"] for row in rows)) == [*vectors, "head", "softmax"]
    for name, values in vectors.items():
        agree([row for row in rows if row["row"] == name], value=values[QUERY])
    for name, values in (("head", logits), ("softmax", logits.softmax(-1))):
        part = [row for row in rows if row["row"] == name]
        assert {int(row["index"]) for row in part} == set(logits.argsort(descending=True)[: len(part)].tolist())
        agree(part, value=[values[int(row["index"])] for row in part])


def residual(p: Both, rows: Rows) -> None:
    places = list(product(range(p.layers), ("attn", "ffn"), range(p.tokens)))
    named(rows, layer=[i for i, _, _ in places], part=[part for _, part, _ in places], token=[t for *_, t in places])
    added = [p.wrote(part, i)[t] for i, part, t in places]
    before = [(p.stream(i) + (p.wrote("attn", i) if part == "ffn" else 0))[t] for i, part, t in places]
    both = list(zip(added, before, strict=True))
    agree(rows, norm_added=[x.norm() for x in added], norm_before=[x.norm() for x in before])
    agree(rows, norm_after=[(x + y).norm() for x, y in both])
    agree(rows, cosine_to_stream=[cosine_similarity(x, y, dim=0) for x, y in both])


def merges(p: Both, rows: Rows) -> None:
    """Each token's merges, replayed with the tokenizer's file: each has its rank there, and the last makes it."""
    path = p.directory / "tokenizer.json"
    ranked = [tuple(pair) for pair in json.loads(path.read_text())["model"]["merges"]]
    vocabulary = Tokenizer.from_file(str(path))
    named(rows, position=range(p.tokens), id=p.ids)
    for row, number in zip(rows, p.ids, strict=True):
        data = bytes.fromhex(row["utf8_bytes"])
        stored = vocabulary.id_to_token(number)
        assert len(data) == len(stored)  # a byte is a character there
        letters = dict(zip(stored, data, strict=True))
        ranks = [int(one.rsplit("(", 1)[1]) for one in row["merges_in_order_with_ranks"].split(")")[:-1]]
        assert len(ranks) == int(row["merges"]) == len(data) - 1
        parts = list(stored)
        for rank in ranks:
            at = next(i for i in range(len(parts) - 1) if (parts[i], parts[i + 1]) == ranked[rank])
            parts[at : at + 2] = ["".join(ranked[rank])]
        assert parts == [stored]
        assert bytes(letters[letter] for letter in stored).decode(errors="replace") == vocabulary.decode([number])


def norm_vector(p: Both, rows: Rows) -> None:
    name = f"model.layers.{LAYER}.input_layernorm"
    x = p.inputs[name][0, QUERY].double()
    gamma = p.net.get_submodule(name).weight
    agree(
        rows,
        channel=range(len(x)),
        x=x,
        divided=x / p.rms(LAYER, QUERY),
        gamma=gamma,
        normed=p.outputs[name][QUERY],
    )


def norm_scale(p: Both, rows: Rows) -> None:
    x = p.inputs[f"model.layers.{LAYER}.input_layernorm"][0, QUERY].double()
    a, b = 0.01, 0.5 * p.rms(LAYER, QUERY)  # where the sliders stand at first
    methods = {"rms_eps": (1e-5, False), "rms_zero": (0.0, False), "layer_eps": (1e-5, True), "layer_zero": (0.0, True)}
    named(rows, method=methods)
    for name, y in (("scaled", a * x), ("shifted", x + b), ("both", a * x + b)):
        agree(rows, **{name: [change(x, y, eps, centre) for eps, centre in methods.values()]})


def rope_score(p: Both, rows: Rows) -> None:
    def terms(m: int, n: int) -> torch.Tensor:
        return (p.turned(HEAD, "q", QUERY, m) * p.turned(HEAD, "k", KEY, n)).view(2, -1).sum(0)

    agree(rows, inv_freq=p.inv_freq, wavelength=2 * np.pi / p.inv_freq.double())
    agree(rows, term=terms(QUERY, KEY), term_moved=terms(QUERY + MOVED, KEY + MOVED))


def rope_scaling(p: Both, rows: Rows) -> None:
    context, factor = p.config.max_position_embeddings, 4.0
    base = {"rope_theta": 10_000.0, "factor": factor, "original_max_position_embeddings": context}
    more = {"llama3": {"low_freq_factor": 1.0, "high_freq_factor": 4.0}, "dynamic": {"factor": 1.0}}
    named(rows[:: p.config.head_dim // 2], method=["none", "linear", "dynamic", "yarn", "llama3"])
    for name in ("none", "linear", "dynamic", "yarn", "llama3"):
        wanted, scaling = p.inv_freq, 1.0
        if name != "none":
            parameters = base | {"rope_type": name} | more.get(name, {})
            sizes = {"hidden_size": p.config.hidden_size, "num_attention_heads": p.config.num_attention_heads}
            theirs = LlamaConfig(
                **sizes, head_dim=p.config.head_dim, max_position_embeddings=context, rope_parameters=parameters
            )
            length = {"seq_len": round(context * factor)} if name == "dynamic" else {}
            wanted, scaling = ROPE_INIT_FUNCTIONS[name](theirs, torch.device("cpu"), **length)
        part = [row for row in rows if row["method"] == name]
        agree(part, inv_freq=wanted, attention_scaling=[scaling] * len(part))
        np.testing.assert_allclose([float(row["inv_freq"]) for row in part], wanted, rtol=1e-5)


def position_kinds(p: Both, rows: Rows) -> None:
    """Each kind as written, and with the keys at the places that the table names: BLOOM's ALiBi, Marian's sinusoids
    through the network's own projections, RoPE by complex numbers."""
    places = [int(row["place_in_other_order"]) for row in rows]
    assert sorted(places) == list(range(QUERY + 1))
    assert places[QUERY] == QUERY
    assert places != sorted(places)
    heads, scale = p.config.num_attention_heads, p.config.head_dim**-0.5
    waves = sinusoids_of_marian(p.tokens, p.config.hidden_size).double()
    attention = p.net.model.layers[LAYER].self_attn
    normed = p.outputs[f"model.layers.{LAYER}.input_layernorm"].double()
    bias = build_alibi_tensor(torch.ones(1, p.tokens), heads, torch.float32)[HEAD, 0].double()
    slope = bias[1] - bias[0]
    w_q, w_k = (
        getattr(attention, f"{name}_proj").weight.detach().double().unflatten(0, (-1, p.config.head_dim))[head]
        for name, head in (("q", HEAD), ("k", HEAD // p.group))
    )
    q = p.before_rope(HEAD, "q", QUERY).double()
    k = torch.stack([p.before_rope(HEAD, "k", n).double() for n in range(QUERY + 1)])
    moved_query = w_q @ (normed[QUERY] + waves[QUERY])
    for at, column in ((range(QUERY + 1), "weight"), (places, "other_order")):
        keys = torch.stack([w_k @ (normed[n] + waves[place]) for n, place in enumerate(at)])
        turned = torch.stack([p.turned(HEAD, "k", n, place) for n, place in enumerate(at)])
        scores = {
            "none": k @ q * scale,
            "sinusoidal": keys @ moved_query * scale,
            "alibi": k @ q * scale - slope * (QUERY - torch.tensor(list(at))),
            "rope": turned @ p.turned(HEAD, "q", QUERY) * scale,
        }
        for kind, wanted in scores.items():
            if column == "weight":
                agree(rows, **{f"score_{kind}": wanted})
            agree(rows, **{f"{column}_{kind}": wanted.softmax(-1)})
    agree(rows, weight_rope=p.weights(LAYER, HEAD)[QUERY, : QUERY + 1])


def rope_derivation(p: Both, rows: Rows) -> None:
    """By torch's complex numbers, as Meta's precompute_freqs_cis and view_as_complex have them."""

    def pairs(name: str, token: int) -> torch.Tensor:
        halves = p.before_rope(HEAD, name, token).double().view(2, -1).T.contiguous()
        return torch.view_as_complex(halves)

    theta = p.inv_freq.double()
    turns = {n: torch.polar(torch.ones_like(theta), n * theta) for n in (QUERY, KEY, QUERY - KEY)}
    q, k = pairs("q", QUERY), pairs("k", KEY)
    turned_q, turned_k = q * turns[QUERY], k * turns[KEY]
    agree(rows, pair=range(len(theta)), theta=theta)
    for name, one in (("q", q), ("k", k), ("q_turned", turned_q), ("k_turned", turned_k)):
        agree(rows, **{f"{name}_real": one.real, f"{name}_imaginary": one.imag})
    whole = p.turned(HEAD, "q", QUERY) * p.turned(HEAD, "k", KEY)
    agree(rows, term=(turned_q * turned_k.conj()).real, term_by_distance=whole.view(2, -1).sum(0))
    agree(rows, term_wrong_sign=(q * k.conj() * turns[QUERY - KEY].conj()).real)


def rope_layout(p: Both, rows: Rows) -> None:
    named(rows, key=range(QUERY + 1))
    for name, q, k in (("half", 0, 0), ("neighbours", 0, 0), ("mixed", 1, 1), ("one_side", 0, 1)):
        query = p.turned(HEAD, "q", QUERY, other=bool(q))
        agree(rows, **{f"q_k_{name}": [query @ p.turned(HEAD, "k", n, other=bool(k)) for n in range(QUERY + 1)]})


def heads(p: Both, rows: Rows) -> None:
    places = list(product(range(p.layers), range(p.config.num_attention_heads)))
    named(rows, layer=[i for i, _ in places], head=[h for _, h in places])
    each = [p.weights(*place) for place in places]
    agree(rows, mean_weight_on_first_token=[w[2:, 0].mean() for w in each])
    agree(rows, mean_weight_on_previous_token=[w.diagonal(-1)[1:].mean() for w in each])


def cell(p: Both, rows: Rows) -> None:
    weights = p.weights(LAYER, HEAD)[QUERY, : QUERY + 1]
    norms = torch.stack([p.head(LAYER, "v", HEAD // p.group, n).double().norm() for n in range(QUERY + 1)])
    products = [p.turned(HEAD, "q", QUERY) @ p.turned(HEAD, "k", n) for n in range(QUERY + 1)]
    agree(rows, key=range(QUERY + 1), score=torch.stack(products) / p.config.head_dim**0.5, weight=weights)
    agree(rows, value_norm=norms, weight_times_value_norm=weights * norms)


def arcs(p: Both, rows: Rows) -> None:
    agree(rows, key=range(QUERY + 1), weight=p.weights(LAYER, HEAD)[QUERY, : QUERY + 1])


def difference(p: Both, rows: Rows) -> None:
    one, other = (p.weights(LAYER, head)[QUERY, : QUERY + 1] for head in (HEAD, HEAD + 1))
    columns = {f"layer_{LAYER}_head_{HEAD}": one, f"layer_{LAYER}_head_{HEAD + 1}": other}
    agree(rows, key=range(QUERY + 1), difference=one - other, **columns)


def ffn_token(p: Both, rows: Rows) -> None:
    swiglu(p, rows)
    signs = [(float(row["gate"]) > 0, float(row["up"]) > 0) for row in rows]
    named(rows, quadrant=[f"gate {'>' if gate else '<='} 0, up {'>' if up else '<='} 0" for gate, up in signs])


def activation_kinds(p: Both, rows: Rows) -> None:
    """Each kind on transformers' own gate and up, through its W_down; the slopes by autograd."""
    inner = p.inner(LAYER)
    gate, up = (inner[name][QUERY].detach() for name in ("gate", "up"))
    bends = {"relu": F.relu, "swish": F.silu, "gelu": F.gelu, "gelu_new": ACT2FN["gelu_new"]}
    bends |= {"gelu_sigmoid": ACT2FN["quick_gelu"]}
    gated = {"glu": F.sigmoid, "swiglu": F.silu, "reglu": F.relu, "geglu": F.gelu}
    gated |= {"geglu_new": bends["gelu_new"], "geglu_sigmoid": bends["gelu_sigmoid"]}
    every = {**dict.fromkeys(("relu", "swish", "glu", "swiglu")), **bends, **gated}
    named(rows, kind=every, matrices=[3 if kind in gated else 2 for kind in every])
    down = p.net.model.layers[LAYER].mlp.down_proj.weight.detach().double()
    wrote = {kind: down @ (bend(gate) * (up if kind in gated else 1)) for kind, bend in every.items()}
    slopes = []
    for bend in every.values():
        x = gate.clone().requires_grad_()
        bend(x).sum().backward()
        slopes.append(x.grad.mean())
    named(rows, zeros=[int((gate <= 0).sum()) if "re" in kind else 0 for kind in every])
    agree(rows, mean_slope=torch.stack(slopes), length=[one.norm() for one in wrote.values()])
    own = wrote["swiglu"]
    agree(rows, change=[(one - own).norm() / own.norm() for one in wrote.values()])


def ffn_width(p: Both, rows: Rows) -> None:
    """The widths that models published, and Meta's rule by its own lines (llama-models, models/llama3/model.py)."""
    published = {"LLaMA-1 7B": 11008, "Llama-3 8B": 14336, "Llama-3 70B": 28672, "Llama-3.1 405B": 53248}
    assert {row["model"]: int(row["width"]) for row in rows}.items() >= published.items()
    for row in rows:
        hidden = int(2 * (4 * int(row["d"])) / 3)
        hidden = int(float(row["multiplier"]) * hidden)
        multiple = int(row["multiple_of"])
        assert int(row["rule_gives"]) == multiple * ((hidden + multiple - 1) // multiple)
        assert row["rule_stated"] == "no" or row["rule_gives"] == row["width"]


def ffn_tokens(p: Both, rows: Rows) -> None:
    inner = p.inner(LAYER)
    at = [(int(row["token"]), int(row["neuron"])) for row in rows]
    # The neurons with the largest |product| at any token, of which there are as many as the page has rows for.
    strongest = inner["product"].abs().amax(0).argsort(descending=True)[: len(at) // p.tokens]
    assert {neuron for _, neuron in at} == set(strongest.tolist())
    assert len(set(at)) == len(at) == len(strongest) * p.tokens
    agree(rows, **{name: [inner[name][place] for place in at] for name in ("gate", "up", "product")})


def sampling(p: Both, rows: Rows) -> None:
    logits = p.run.logits[0, -1].double()
    order = logits.argsort(descending=True)[: len(rows)]
    named(rows, rank=range(1, len(rows) + 1), id=order.tolist())
    empty = torch.empty(1, 0)
    warmed = TemperatureLogitsWarper(FILTERS["temperature"])(empty, logits[None])
    top_k = TopKLogitsWarper(int(FILTERS["top_k"]))(empty, warmed)
    top_p = TopPLogitsWarper(FILTERS["top_p"])(empty, top_k)
    stages = {"softmax": logits, "all": warmed[0], "topK": top_k[0], "topP": top_p[0]}
    agree(rows, logit=logits[order], **{name: x.softmax(-1)[order] for name, x in stages.items()})


def lens(p: Both, rows: Rows) -> None:
    places = list(product(range(p.layers + 1), range(p.tokens)))
    named(rows, depth=[d for d, _ in places], token=[t for _, t in places])
    chosen = p.run.logits[0].argmax(-1)
    with torch.no_grad():
        read = [p.net.lm_head(p.net.model.norm(p.stream(d).float())).double().softmax(-1) for d in range(p.layers + 1)]
    named(
        rows, rank_1_id=[int(read[d][t].argmax()) for d, t in places], followed_id=[int(chosen[t]) for _, t in places]
    )
    followed = [read[d][t, chosen[t]] for d, t in places]
    agree(rows, rank_1_probability=[read[d][t].max() for d, t in places], followed_probability=followed)
    ranks = [int((read[d][t] > own).sum()) + 1 for (d, t), own in zip(places, followed, strict=True)]
    named(rows, followed_rank=ranks)


def contributions(p: Both, rows: Rows) -> None:
    chosen = p.run.logits[0].argmax(-1)
    parts = [("embedding", ""), *((part, i) for i in range(p.layers) for part in ("attention", "ffn"))]
    places = list(product(range(p.tokens), parts))
    named(rows, token=[t for t, _ in places], part=[part for _, (part, _) in places])
    named(rows, layer=[i for _, (_, i) in places], target_id=[int(chosen[t]) for t, _ in places])

    def wrote(part: str, layer: Any) -> torch.Tensor:
        return p.stream(0) if part == "embedding" else p.wrote("attn" if part == "attention" else "ffn", layer)

    agree(rows, contribution=[wrote(*part)[t] @ p.read(t, int(chosen[t])) for t, part in places])


def compare(p: Both, rows: Rows) -> None:
    assert p.first
    a, b = (one.run.logits[0, -1].double().softmax(-1) for one in (p.first, p))
    ids = [int(row["id"]) for row in rows]
    assert {*a.argsort(descending=True)[:5].tolist(), *b.argsort(descending=True)[:5].tolist()} <= set(ids)
    agree(rows, A=a[ids], B=b[ids])


def stream_change(p: Both, rows: Rows) -> None:
    assert p.first
    places = list(product(range(p.layers + 1), range(p.tokens)))
    named(rows, before_layer=[d for d, _ in places], token=[t for _, t in places])
    a = [p.first.stream(d)[t] for d, t in places]
    apart = [(p.stream(d)[t] - one).norm() for (d, t), one in zip(places, a, strict=True)]
    norms = [one.norm() for one in a]
    agree(rows, norm_of_difference=apart, norm_of_A=norms, ratio=torch.stack(apart) / torch.stack(norms))


def head_change(p: Both, rows: Rows) -> None:
    assert p.first
    a, b = (one.weights(LAYER, HEAD)[QUERY, : QUERY + 1] for one in (p.first, p))
    agree(rows, key=range(QUERY + 1), A=a, B=b, B_minus_A=b - a)


def read_by_two(p: Both, rows: Rows) -> None:
    assert p.first
    for side, one in (("A", p.first), ("B", p)):
        mine = {
            what: [row for row in rows if (row["what"], row["side"]) == (what, side)] for what in ("attention", "next")
        }
        agree(mine["attention"], index=range(QUERY + 1), value=one.weights(LAYER, HEAD)[QUERY, : QUERY + 1])
        chances = one.run.logits[0, -1].double().softmax(-1).sort(descending=True)
        agree(mine["next"], index=chances.indices[:5], value=chances.values[:5])
        cost = {row["place"]: int(row["value"]) for row in rows if (row["what"], row["side"]) == ("cost", side)}
        config = p.config
        assert cost["parameters"] == sum(weight.numel() for weight in p.net.parameters())
        assert cost["kept"] == p.layers * config.num_key_value_heads * 2 * config.head_dim * 4


def why(p: Both, rows: Rows) -> None:
    """A look at each token forbidden, and each head taken out, in transformers' own runs."""
    own = p.run.logits[0, -1].log_softmax(-1)
    target, last = int(own.argmax()), len(p.ids) - 1
    tokens = [row for row in rows if row["part"] in ("token", "sink")]
    heads = [row for row in rows if row["part"] == "head"]
    assert len(heads) == p.config.num_hidden_layers * p.config.num_attention_heads
    named(tokens, position=range(last + 1))
    net, left = reference(p.directory), []
    for token in range(last):  # the last token's number is of its look at itself
        mask = torch.full((1, 1, last + 1, last + 1), -torch.inf).triu(1)
        mask[..., last, token] = -torch.inf
        with torch.no_grad():
            logits = net(torch.tensor([p.ids]), attention_mask=mask).logits
        left.append(logits[0, -1].log_softmax(-1)[target])
    agree(tokens[:-1], lost_nats=own[target] - torch.stack(left), probability_without=torch.stack(left).exp())
    assert {row["measured"] for row in rows} == {"1"}


def qkv(p: Both, rows: Rows) -> None:
    """q of the selected head and token: its largest channel, product by product."""
    made = p.head(LAYER, "q", HEAD, QUERY)
    channel = int(made.abs().argmax())
    named(rows, layer=[LAYER] * len(rows), head=[HEAD] * len(rows), token=[QUERY] * len(rows))
    named(rows, vector=["q"] * len(rows), channel=[channel] * len(rows), input=range(p.config.hidden_size))
    n = p.outputs[f"model.layers.{LAYER}.input_layernorm"][QUERY]
    weight = p.net.model.layers[LAYER].self_attn.q_proj.weight[HEAD * p.config.head_dim + channel]
    agree(rows, x=p.stream(LAYER)[QUERY], normed=n, weight=weight, product=n * weight)
    assert sum(float(row["product"]) for row in rows) == pytest.approx(float(made[channel]), rel=1e-4)


def score_terms(p: Both, rows: Rows) -> None:
    score = p.turned(HEAD, "q", QUERY) @ p.turned(HEAD, "k", KEY) / p.config.head_dim**0.5
    assert sum(float(row["term"]) for row in rows) == pytest.approx(float(score.real), rel=1e-4)
    assert len(rows) == (1 + LAYER * (p.config.num_attention_heads + 1)) ** 2


def sinks(p: Both, rows: Rows) -> None:
    streams = torch.stack([p.stream(depth) for depth in range(p.layers + 1)])
    named(rows, depth=[depth for depth in range(p.layers + 1) for _ in range(p.tokens)])
    agree(rows, rms=streams.square().mean(-1).sqrt().flatten(), largest=streams.abs().amax(-1).flatten())


def logit_terms(p: Both, rows: Rows) -> None:
    target = int(p.run.logits[0, -1].argmax())
    agree(rows[:1], value=p.stream(0)[-1] @ p.read(p.tokens - 1, target))
    assert sum(float(row["value"]) for row in rows) == pytest.approx(float(p.run.logits[0, -1, target]), rel=1e-4)


def causal_map(p: Both, rows: Rows) -> None:
    """The stream of run A's text put into run B's, one place after another, by transformers' own hooks."""
    assert p.first
    one, two = (side.run.logits[0, -1].double() for side in (p, p.first))
    answer, other = int(one.argmax()), int(two.argmax())
    assert answer != other
    left = []
    for depth, token in product(range(p.layers), range(p.tokens)):

        def place(_: Any, given: Any, depth: int = depth, token: int = token) -> Any:
            stream = given[0].clone()
            stream[0, token] = p.first.run.hidden_states[depth][0, token]
            return (stream, *given[1:])

        handle = p.net.model.layers[depth].register_forward_pre_hook(place)
        with torch.no_grad():
            logits = p.net(torch.tensor([p.ids])).logits[0, -1].double()
        handle.remove()
        first, second = (row[answer] - row[other] for row in (one, two))
        left.append((logits[answer] - logits[other] - second) / (first - second))
    named(rows, depth=[d for d in range(p.layers + 1) for _ in range(p.tokens)])
    agree(rows[: len(left)], share_left=left)


def products(p: Both, head: int = HEAD) -> torch.Tensor:
    """q·k of the selected query and a head with every key that it sees."""
    q = p.turned(head, "q", QUERY)
    return torch.stack([q @ p.turned(head, "k", key) for key in range(QUERY + 1)])


def sqrt_d(p: Both, rows: Rows) -> None:
    """The network's row, and undivided, as the slider stands at first."""
    named(rows, key=range(QUERY + 1))
    agree(rows, product=products(p), weight=p.weights(LAYER, HEAD)[QUERY, : QUERY + 1])
    agree(rows, weight_at_divisor=products(p).softmax(-1))


def token_groups(p: Both, rows: Rows) -> None:
    """In four groups, as the slider stands at first: torch's softmax over those of the query's own."""
    parts = torch.arange(p.tokens).tensor_split(4)
    (own,) = (part for part in parts if QUERY in part)
    named(rows, key=range(QUERY + 1), group=[i for i, part in enumerate(parts) for t in part if t <= QUERY])
    scores = products(p) / p.config.head_dim**0.5
    scores[: own[0]] = -torch.inf
    agree(rows, weight=p.weights(LAYER, HEAD)[QUERY, : QUERY + 1], weight_in_group=scores.softmax(-1))


def sparse_attention(p: Both, rows: Rows) -> None:
    """A quarter of the text, as the slider stands at first: the keys that the heads' mean weight is largest at, those
    that the sum of torch's relu is largest at, and the last ones; torch's softmax over those."""
    k, heads = -(-p.tokens // 4), range(p.config.num_attention_heads)
    named(rows, key=range(QUERY + 1))
    mean = torch.stack([p.weights(LAYER, head)[QUERY, : QUERY + 1] for head in heads]).mean(0)
    each = torch.stack([products(p, head) for head in heads])
    scores = products(p) / p.config.head_dim**0.5
    chosen = {"top_k": mean.topk(k), "formula": torch.relu(each).sum(0).topk(k)}
    keys = {name: found.indices for name, found in chosen.items()} | {"window": torch.arange(QUERY + 1)[-k:]}
    agree(rows, weight=scores.softmax(-1), index=mean)
    for name, at in keys.items():
        left = torch.full_like(scores, -torch.inf).scatter(0, at, scores[at])
        agree(rows, **{f"weight_{name}": left.softmax(-1)})


def mask_kinds(p: Both, rows: Rows) -> None:
    """Under a sliding window of a quarter of the text, as the slider stands at first."""
    scores = products(p) / p.config.head_dim**0.5
    scores[: QUERY + 1 - -(-p.tokens // 4)] = -torch.inf
    named(rows, key=range(QUERY + 1))
    agree(rows, weight=p.weights(LAYER, HEAD)[QUERY, : QUERY + 1], weight_sliding=scores.softmax(-1))


def norm_kinds(p: Both, rows: Rows) -> None:
    """The vector before attention, through torch's own norms; α = (2N)^¼ on the stream."""
    x, eps = p.stream(LAYER), p.config.rms_norm_eps
    batch = torch.nn.BatchNorm1d(x.shape[1], eps=eps, affine=False, dtype=x.dtype).train()(x)[QUERY]
    named(rows, channel=range(x.shape[1]))
    own, size = x[QUERY], x.shape[1:]
    agree(rows, x=own, batch_norm=batch)
    agree(rows, layer_norm=torch.nn.functional.layer_norm(own, size, eps=eps))
    agree(rows, rms_norm=torch.nn.functional.rms_norm(own, size, eps=eps))
    larger = (2 * p.layers) ** 0.25 * own + p.wrote("attn", LAYER)[QUERY]
    agree(rows, deep_norm=torch.nn.functional.layer_norm(larger, size, eps=eps))


def norm_placement(p: Both, rows: Rows) -> None:
    """transformers' own branches, added with torch's LayerNorm where each placement has it; α = (2N)^¼."""
    places = [(layer, part) for layer in range(p.layers) for part in ("attn", "ffn")]
    named(rows, layer=["", *(layer for layer, _ in places)], part=["start", *(part for _, part in places)])
    alpha, eps = (2 * p.layers) ** 0.25, p.config.rms_norm_eps

    def norm(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(x, x.shape, eps=eps)

    scales = {"post": (1, 1), "deep": (alpha, 1), "branch": (1, alpha)}
    streams = {name: [p.stream(0)[QUERY]] for name in ("pre", "sandwich", *scales)}
    kept = {name: [1.0] for name in scales}
    for layer, part in places:
        branch = p.wrote(part, layer)[QUERY]
        streams["pre"].append(streams["pre"][-1] + branch)
        streams["sandwich"].append(streams["sandwich"][-1] + norm(branch))
        for name, (residual, added) in scales.items():
            total = residual * streams[name][-1] + added * branch
            kept[name].append(kept[name][-1] * residual / float((total.var(correction=0) + eps).sqrt()))
            streams[name].append(norm(total))
    agree(rows, **{name: torch.stack(stream).norm(dim=-1) for name, stream in streams.items()})
    agree(rows, **{f"{name}_kept": factors for name, factors in kept.items()})


def attention_kinds(p: Both, rows: Rows) -> None:
    """transformers' networks with the rows of W_K and W_V pooled, for every divisor of the query heads, and brought to
    every rank that is a power of two, or as much as there are tokens."""
    counts = [count for count in range(1, 7) if 6 % count == 0]
    ranks = [rank for rank in (1, 2, 4, 8, 16) if rank < p.tokens] + [p.tokens]
    own = p.run.logits[0, -1].double().log_softmax(-1)
    with torch.no_grad():
        fitted = [of_low_rank(p.directory, p.ids, rank)(torch.tensor([p.ids])).logits[0, -1] for rank in ranks]
    logs = [logits.double().log_softmax(-1) for logits in fitted]
    latents = rows[len(counts) :]
    named(latents, rank=ranks, kind=["LATENT"] * len(ranks))
    agree(latents, kl=[(own.exp() * (own - one)).sum() for one in logs])
    agree(latents, bytes_a_token=[p.layers * rank * 4 for rank in ranks])
    rows = rows[: len(counts)]
    named(rows, n_kv_heads=counts, kind=["MQA", "GQA", "GQA", "MHA"])
    with torch.no_grad():
        nets = [of_transformers(p.directory, count) for count in counts]
        logs = [net(torch.tensor([p.ids])).logits[0, -1].double().log_softmax(-1) for net in nets]
    agree(
        rows, kl=[(own.exp() * (own - one)).sum() for one in logs], p_answer=[one[own.argmax()].exp() for one in logs]
    )
    shape, pairs = p.config, p.tokens * p.tokens
    agree(rows, bytes_a_token=[2 * p.layers * count * shape.head_dim * 4 for count in counts])
    for name in ("qk", "av"):
        agree(rows, **{f"multiply_adds_{name}": [pairs * 6 * shape.head_dim] * len(counts)})
    for name in ("w_k", "w_v"):
        sizes = [net.model.layers[0].self_attn.k_proj.weight.numel() for net in nets]
        agree(rows, **{f"multiply_adds_{name}": [p.tokens * size for size in sizes]})


def gqa_example(_p: Both, rows: Rows) -> None:
    """transformers' own shapes of an attention with 8 heads of 64 channels in 2 groups, for 100 tokens."""
    shape = LlamaConfig(hidden_size=512, num_attention_heads=8, num_key_value_heads=2, num_hidden_layers=1, head_dim=64)
    attn = LlamaAttention(shape, 0)
    told = {row["matrix"]: (int(row["rows"]), int(row["columns"])) for row in rows}
    for name in "qkvo":
        weight = attn.get_submodule(f"{name}_proj").weight
        assert told[f"W_{name.upper()}"] == tuple(weight.T.shape)
    assert [told[name] for name in ("X", "Y", "O", "Q_i", "K_g", "V_g", "O_i", "A_i")] == [
        (100, 512), (100, 512), (100, 512), (100, 64), (100, 64), (100, 64), (100, 64), (100, 100)
    ]  # fmt: skip


CHECKS: dict[str, Callable[[Both, Rows], None]] = {
    "tokens": tokens, "next": next_token, "attention": attention, "rmsnorm": rmsnorm, "rope": rope, "swiglu": swiglu,
    "overview": overview, "residual": residual, "merges": merges, "norm-vector": norm_vector, "norm-scale": norm_scale,
    "norm-kinds": norm_kinds, "norm-placement": norm_placement,
    "rope-score": rope_score, "rope-scaling": rope_scaling, "rope-layout": rope_layout, "heads": heads, "cell": cell,
    "position-kinds": position_kinds, "rope-derivation": rope_derivation,
    "qkv": qkv,
    "arcs": arcs, "difference": difference, "ffn-token": ffn_token, "ffn-tokens": ffn_tokens, "sampling": sampling,
    "activation-kinds": activation_kinds, "ffn-width": ffn_width,
    "lens": lens, "contributions": contributions, "compare": compare, "stream-change": stream_change,
    "head-change": head_change, "why": why, "score-terms": score_terms, "sinks": sinks, "logit-terms": logit_terms,
    "causal-map": causal_map, "read-by-two": read_by_two,
    "sqrt-d": sqrt_d, "token-groups": token_groups, "mask-kinds": mask_kinds,
    "sparse-attention": sparse_attention,
    "attention-kinds": attention_kinds, "gqa-example": gqa_example,
}  # fmt: skip
HOMES = {kind: chapter for chapter, kinds in of_a_llama().items() for kind in kinds} | {"tokens": FIRST}


def test_every_panel_that_shows_a_run_is_checked() -> None:
    """What is left out holds no value of a forward pass: the record of a training, the arithmetic, the families."""
    assert {kind for kind in HOMES if not kind.startswith(("kv-", "famil")) and kind != "training"} == set(CHECKS)


@pytest.fixture(scope="module")
def both(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """Run A kept, run B shown, one place of it selected."""
    page = open_page(browser, f"{panels_alone}#lang=en")
    run(page, FIRST_PROMPT)
    page.evaluate("glass.keep(glass.state.trace)")
    run(page, PROMPT)
    page.evaluate("([at, filters]) => { glass.select(at); glass.settings.set('sampling', filters); }", [AT, FILTERS])
    chosen = "(text) => glass.settings.set('why', { open: '1', text, at: glass.state.trace.T - 1 })"
    page.evaluate(chosen, FIRST_PROMPT)
    page.mouse.move(1, 1)
    yield page
    leave(page)


@pytest.fixture(scope="module")
def peer(both: Page, roomy_checkpoint: Path) -> Both:
    sides = both.evaluate(
        "Object.fromEntries(Object.entries(glass.sides()).map(([side, run]) => [side, run.tokens.ids]))"
    )
    return Both(roomy_checkpoint, sides["B"], sides["A"])


@pytest.mark.parametrize("kind", CHECKS)
def test_a_saved_table_holds_what_transformers_computes(both: Page, peer: Both, kind: str) -> None:
    both.evaluate("(chapter) => glass.open(chapter)", HOMES[kind])
    panel = both.locator(f"section[data-kind={kind}]")
    panel.scroll_into_view_if_needed()
    shown(both, kind)
    if kind == "heads":  # measured while the browser is idle
        both.wait_for_function("!/=-/.test(document.querySelector('[data-kind=heads]').dataset.value)")
    settled(both)
    text = save(both, panel, kind, "csv").decode("utf-8-sig")
    CHECKS[kind](peer, list(csv.DictReader(io.StringIO(text, newline=""))))
