"""The buttons of the Compare chapter: what each switches off or takes over, against transformers changed alike."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from tests.app.looking import run
from tests.app.test_kv_tables import saved
from tests.page import wait_for_run
from tests.reference import reference, run_reference

A, B = "The dog plays in the yard.", "The cat sleeps on the sofa."
LAYER, TOKEN, NEURON = 1, 4, 7
Net = Any  # transformers does not say what its layers are


def attention_off(net: Net) -> None:
    net.model.layers[LAYER].self_attn.o_proj.weight.zero_()


def ffn_off(net: Net) -> None:
    net.model.layers[LAYER].mlp.down_proj.weight.zero_()


def neuron_off(net: Net) -> None:
    net.model.layers[LAYER].mlp.down_proj.weight[:, NEURON] = 0


def taken(stream: torch.Tensor) -> Callable[[Net], None]:
    """Another run's stream into the layer at the token."""

    def hook(_module: Any, given: tuple, named: dict) -> tuple[tuple, dict]:
        hidden = given[0].clone()
        hidden[:, TOKEN] = stream
        return (hidden, *given[1:]), named

    return lambda net: net.model.layers[LAYER].register_forward_pre_hook(hook, with_kwargs=True)


def chances(directory: Path, ids: list[int], change: Callable[[Net], Any] = lambda _: None) -> np.ndarray:
    net = reference(directory)
    with torch.no_grad():
        change(net)
    return run_reference(net, torch.tensor([ids])).logits[0, -1].double().softmax(-1).numpy()


@pytest.mark.thorough
def test_each_offer_changes_b_as_transformers_does(page: Page, roomy_checkpoint: Path) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    panel = page.locator("section[data-kind=compare]")
    run(page, A)
    first = page.evaluate("glass.state.trace.tokens.ids")
    panel.get_by_role("button", name="Keep this run as A").click()
    run(page, B)
    ids = page.evaluate("glass.state.trace.tokens.ids")
    page.evaluate("(at) => glass.select(at)", {"layer": LAYER, "head": 2, "query": TOKEN, "key": 0, "neuron": NEURON})
    stream = run_reference(reference(roomy_checkpoint), torch.tensor([first])).hidden_states[LAYER][0, TOKEN]
    plain = {"A": chances(roomy_checkpoint, first), "B": chances(roomy_checkpoint, ids)}
    for kind, value, offer, change in (
        ("attention", LAYER, "Attention of layer 1 off", attention_off),
        ("ffn", LAYER, "FFN of layer 1 off", ffn_off),
        ("neurons", [LAYER, NEURON], "Neuron 7 of layer 1 off", neuron_off),
        ("patches", [LAYER, TOKEN], "Take A's stream into layer 1 at token 4", taken(stream)),
    ):
        panel.get_by_role("button", name=offer, exact=True).click()
        panel.get_by_role("button", name="Run with these changes").click()
        page.wait_for_function("(kind) => glass.sides()?.B.changes[kind]?.length", arg=kind)
        wait_for_run(page)
        made = page.evaluate("glass.sides().B.changes")
        assert {name: found for name, found in made.items() if name != "source" and found} == {kind: [value]}
        expect(panel.locator("tbody tr")).to_have_count(10)
        expect(panel.locator("tbody")).not_to_contain_text("≤")
        rows = saved(page, "compare")
        changed = chances(roomy_checkpoint, ids, change)
        each = [int(row["id"]) for row in rows]
        assert len(each) > 64
        for side, wanted in (("A", plain["A"]), ("B", changed)):
            told = [float(row[side]) for row in rows]
            np.testing.assert_allclose(told, wanted[each], rtol=2e-4, atol=1e-8, err_msg=f"{side}: {kind}")
        assert abs(changed / plain["B"] - 1).max() > 0.005, kind  # far more than the tolerance
        panel.get_by_role("button", name="Clear", exact=True).click()
        expect(panel.locator(".cmp-chip")).to_have_count(0)
