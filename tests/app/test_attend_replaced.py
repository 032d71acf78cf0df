"""The panels that show what attention is told of beside GQA, against transformers' own pass over the same tokens."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from model.masks import causal_mask, prefix_mask
from model.replaced.scaled_scores import entropy, gradient_size, spread_expected
from model.replaced.sparse_attention import KEY_BYTES, index_target, pairs_read, top_k_mask
from model.replaced.token_masks import (
    CPU,
    bidirectional_mask,
    blank_infilling,
    encoder_decoder_masks,
    group_mask,
    sliding_mask,
)
from tests.app.looking import faults, in_each_language, number, questions, run, settled, shown
from tests.app.test_saved_tables import Both
from tests.model.replaced.test_low_rank import of_low_rank
from tests.model.replaced.test_pooled_heads import of_transformers
from tests.page import leave, open_page, watched

PROMPT = "The cat plays in the yard. 猫在沙发上"
AT = {"layer": 1, "head": 3, "query": 9, "key": 4}
LAYER, HEAD, QUERY, KEY = AT.values()
START = f"layer {LAYER} head {HEAD} query {QUERY} key {KEY} "
CLOSE: dict[str, Any] = {"rel": 2e-4, "abs": 2e-5}


@pytest.fixture(scope="module")
def page(browser: Browser, panels_alone: str) -> Iterator[Page]:
    """The chapter, with one cell locked."""
    page = open_page(browser, f"{panels_alone}#lang=en")
    with watched(page):
        run(page, PROMPT)
        page.evaluate("(at) => { glass.open('attend'); glass.select(at); }", AT)
        page.mouse.move(1, 1)
        yield page
    leave(page)


@pytest.fixture(scope="module")
def peer(page: Page, roomy_checkpoint: Path) -> Both:
    return Both(roomy_checkpoint, page.evaluate("glass.state.trace.tokens.ids"))


def panel(page: Page, kind: str) -> None:
    """Bring a panel into view."""
    page.locator(f"section[data-kind={kind}]").scroll_into_view_if_needed()
    settled(page)


def told(page: Page, kind: str, start: str, wanted: dict[str, float]) -> None:
    """Whether a panel's value has these numbers."""
    value = shown(page, kind, start)
    for name, truth in wanted.items():
        assert number(value, rf"(?<![.\w]){name}") == pytest.approx(float(truth), **CLOSE), (name, value)


def set_slider(page: Page, kind: str, name: str, to: float) -> None:
    """Move a panel's slider as a reader would, by its name among the settings."""
    page.locator(f"section[data-kind={kind}] .gp-body [data-setting={name}] input").fill(str(to))


def nothing_asked(page: Page, act: Callable[[], None]) -> None:
    """Whether something is done without a word to the server."""
    asked = questions(page)
    act()
    settled(page)
    assert asked == []


def products(p: Both) -> torch.Tensor:
    """q·k of every head of the layer, query by key."""
    tokens, heads = range(p.tokens), range(p.config.num_attention_heads)
    q, k = (torch.stack([torch.stack([p.turned(h, n, t) for t in tokens]) for h in heads]) for n in "qk")
    return q @ k.transpose(1, 2)


def test_another_divisor(page: Page, peer: Both) -> None:
    """Weights, entropy and gradient of the row by any divisor; the spread of q·k over all heads and seen pairs."""
    panel(page, "sqrt-d")
    scores, width = products(peer), peer.config.head_dim
    row, seen = scores[HEAD, QUERY, : QUERY + 1], torch.ones(peer.tokens, peer.tokens).tril().bool()
    tokens, heads = range(peer.tokens), peer.config.num_attention_heads
    q, k = (torch.stack([peer.turned(h, n, t) for h in range(heads) for t in tokens]) for n in "qk")
    spread = {"spread": scores[:, seen].std(correction=0), "expected": spread_expected(q, k)}

    def of(divisor: float, before: str = "") -> dict[str, float]:
        a = (row / divisor).softmax(-1)
        found = {"top_weight": a.max(), "entropy": entropy(a), "gradient": gradient_size(a)}
        return {before + name: float(value) for name, value in found.items()}

    told(page, "sqrt-d", START, {"divisor": 1.0, **of(1), **of(width**0.5, "own_"), **spread})
    nothing_asked(page, lambda: set_slider(page, "sqrt-d", "divisor", 0.75))
    told(page, "sqrt-d", START, {"divisor": width**0.75, **of(width**0.75), **spread})


def test_groups_of_tokens(page: Page, peer: Both) -> None:
    """What the row and the whole head lose to groups, against block masks on transformers' own weights."""
    panel(page, "token-groups")
    weights = peer.weights(LAYER, HEAD)
    for groups in (4, 3, 1):
        set_slider(page, "token-groups", "groups", groups)
        mask, square = (group_mask(peer.tokens, groups, causal=causal) for causal in (True, False))
        lost = (weights * ~mask).sum(-1)
        wanted = {
            "lost": lost[QUERY],
            "head_lost": lost.mean(),
            "scores": peer.tokens**2,
            "scores_in_groups": square.sum(),
        }
        counts = {"seen": peer.tokens * (peer.tokens + 1) / 2, "seen_in_groups": mask.sum()}
        told(
            page, "token-groups", f"{START}groups {groups} ", {name: float(x) for name, x in (wanted | counts).items()}
        )
    page.evaluate("glass.settings.set('token-groups', { groups: 'seven' })")  # an address may say anything
    assert shown(page, "token-groups", f"{START}groups 4 ")


def test_the_keys_that_heads_look_at_most(page: Page, peer: Both) -> None:
    """What is lost to a choice of keys, and how far outputs move, from transformers' weights and values."""
    panel(page, "sparse-attention")
    heads = range(peer.config.num_attention_heads)
    weights = torch.stack([peer.weights(LAYER, head) for head in heads])
    values = torch.stack(
        [torch.stack([peer.head(LAYER, "v", h // peer.group, t) for t in range(peer.tokens)]) for h in heads]
    ).double()
    seen = causal_mask(peer.tokens, peer.tokens, CPU)
    relu = products(peer).relu().sum(0)
    for k in (2, 5, peer.tokens):
        set_slider(page, "sparse-attention", "k", k)
        masks = {
            "best": top_k_mask(index_target(weights), seen, k),
            "formula": top_k_mask(relu, seen, k),
            "window": sliding_mask(peer.tokens, k),
        }
        kept = {name: (weights * mask).sum(-1) for name, mask in masks.items()}
        wanted = {
            "index": weights.mean(0)[QUERY, KEY], "pairs": seen.sum(), "pairs_read": pairs_read(peer.tokens, k),
            "run_lost": 1 - kept["best"].mean(), "window_run_lost": 1 - kept["window"].mean(),
            "bytes_added": peer.layers * KEY_BYTES,
            "bytes": 2 * peer.layers * peer.config.num_key_value_heads * peer.config.head_dim * 4,
        }  # fmt: skip
        before = (weights @ values)[:, QUERY]
        for name, mask in masks.items():
            after = (weights * mask / kept[name][..., None] @ values)[:, QUERY]
            wanted |= {
                f"{name}_lost": 1 - kept[name][HEAD, QUERY],
                f"{name}_lost_by_all": 1 - kept[name][:, QUERY].mean(),
                f"{name}_changed": (after - before)[HEAD].norm() / before[HEAD].norm(),
                f"{name}_changed_in_all": (after - before).norm() / before.norm(),
            }
        told(page, "sparse-attention", f"{START}k {k} ", {name: float(x) for name, x in wanted.items()})
    nothing_asked(page, lambda: set_slider(page, "sparse-attention", "k", 3))


def test_kinds_of_masks(page: Page, peer: Both) -> None:
    """How many pairs each mask of model/replaced lets through, and what the row loses to a window."""
    panel(page, "mask-kinds")
    n, weights = peer.tokens, peer.weights(LAYER, HEAD)[QUERY]
    for window, prefix in ((3, 5), (n, 1)):
        set_slider(page, "mask-kinds", "window", window)
        set_slider(page, "mask-kinds", "prefix", prefix)
        encoder, decoder, cross = encoder_decoder_masks(prefix, n - prefix)
        sliding = sliding_mask(n, window)
        wanted = {
            "lost_sliding": (weights * ~sliding[QUERY]).sum(), "causal": causal_mask(n, n, CPU).sum(),
            "bidirectional": bidirectional_mask(n).sum(), "prefix": prefix_mask(n, n, prefix, CPU).sum(),
            "sliding": sliding.sum(), "blank": blank_infilling(n, [(prefix, n)], [0]).mask.sum(),
            "encoder": encoder.sum(), "decoder": decoder.sum(), "cross": cross.sum(),
        }  # fmt: skip
        start = f"{START}window {window} prefix {prefix} "
        told(page, "mask-kinds", start, {name: float(x) for name, x in wanted.items()})


def test_glms_example_has_two_positions(page: Page) -> None:
    """The table against model/replaced, in either order of the spans."""
    words = ["I", "stayed", "because", "you", "asked", "me"]
    panel(page, "mask-kinds")
    box, table = (
        page.locator(f"section[data-kind=mask-kinds] {name}") for name in ("input[type=checkbox]", ".gp-list")
    )
    for order in ([0, 1], [1, 0]):
        box.set_checked(order[0] == 1)
        settled(page)
        found = blank_infilling(6, [(1, 2), (4, 6)], order)
        signs = {-1: "[MASK]", -2: "[START]", -3: "[END]", -4: "–"}
        name = [signs.get(t) or words[t] for t in found.token.tolist()]
        target = [signs.get(t) or words[t] for t in found.target.tolist()]
        part = ["AB"[i >= found.part_a] for i in range(len(name))]
        places = [(found.position[0] + 1).tolist(), found.position[1].tolist()]
        wanted = [[str(x) for x in row] for row in zip(name, part, *places, target, strict=True)]
        told_rows = table.locator("tbody tr").evaluate_all(
            "(rows) => rows.map((row) => [...row.cells].map((c) => c.textContent))"
        )
        assert told_rows == wanted


def test_other_numbers_of_kv_heads(page: Page, peer: Both) -> None:
    """KL of the prediction with pooled K/V heads, by the slider, against transformers with the same pooled weights."""
    panel(page, "attention-kinds")
    page.wait_for_function(
        "document.querySelector('[data-kind=attention-kinds]').dataset.value?.includes('measured=9')"
    )
    own = peer.run.logits[0, -1].double().log_softmax(-1)
    counts = [1, 2, 3, 6]

    def move() -> None:
        for at, count in enumerate(counts):
            set_slider(page, "attention-kinds", "heads", at)
            with torch.no_grad():
                logits = of_transformers(peer.directory, count)(torch.tensor([peer.ids])).logits[0, -1]
            logs = logits.double().log_softmax(-1)
            wanted = {
                "kl": (own.exp() * (own - logs)).sum(),
                "p_answer": logs[own.argmax()].exp(),
                "bytes": 2 * peer.layers * count * peer.config.head_dim * 4,
            }
            told(page, "attention-kinds", f"n_kv_heads {count} ", {name: float(x) for name, x in wanted.items()})

    nothing_asked(page, move)

    def fit() -> None:
        for at, rank in ((0, 1), (2, 4), (4, peer.tokens)):
            set_slider(page, "attention-kinds", "rank", at)
            with torch.no_grad():
                logits = of_low_rank(peer.directory, peer.ids, rank)(torch.tensor([peer.ids])).logits[0, -1]
            logs = logits.double().log_softmax(-1)
            wanted = {"kl": (own.exp() * (own - logs)).sum(), "bytes": peer.layers * rank * 4}
            told(page, "attention-kinds", f"rank {rank} ", {name: float(x) for name, x in wanted.items()})

    nothing_asked(page, fit)


def test_the_usual_example_in_shapes(page: Page) -> None:
    """25,600 numbers are kept of 100 tokens; what does not divide is refused, with what would."""
    panel(page, "gqa-example")
    told(
        page,
        "gqa-example",
        "T 100 d 512 h 8 g 2 ",
        {"head_dim": 64, "group_size": 4, "kept": 25600, "kept_by_all": 102400},
    )
    notice = page.locator("section[data-kind=gqa-example] .wy-notice")
    set_slider(page, "gqa-example", "g", 3)
    expect(notice).to_contain_text("h = 8 is not a multiple of g = 3")
    expect(notice).to_contain_text("g may be 1, 2, 4, 8.")
    set_slider(page, "gqa-example", "g", 1)
    set_slider(page, "gqa-example", "h", 7)
    expect(notice).to_contain_text("d = 512 is not a multiple of h = 7")
    set_slider(page, "gqa-example", "h", 16)
    told(page, "gqa-example", "T 100 d 512 h 16 g 1 ", {"head_dim": 32, "group_size": 16, "kept": 6400})


@pytest.mark.thorough
def test_axe_finds_nothing_in_either_language(page: Page) -> None:
    for _ in in_each_language(page):
        for kind in KINDS:
            panel(page, kind)
        # All at once: before axe looks at a part of a page, it goes through the whole.
        assert faults(page, context=", ".join(f"section[data-kind={kind}]" for kind in KINDS)) == []


KINDS = ("sqrt-d", "token-groups", "sparse-attention", "mask-kinds", "attention-kinds", "gqa-example")
