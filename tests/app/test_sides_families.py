"""B − A of two runs of every decoder family: every panel draws it, and it is the difference of transformers' runs."""

import pytest
from playwright.sync_api import Page

from app.chapters import CHAPTERS
from tests.app.family_page import PROMPT, families, read
from tests.app.looking import number, walk
from tests.app.test_families_on_page import CONFIGS as OTHERS
from tests.app.test_families_on_page import hooked
from tests.app.test_story_families import CONFIGS as EVERY
from tests.families import Pair

pytestmark = pytest.mark.thorough

AT = {"layer": 1, "head": 4, "query": 9, "key": 3, "neuron": 5}
USUAL = ("input_layernorm", "post_attention_layernorm")
CONFIGS = {name: config for name, config in EVERY.items() if name != "llama"}  # its are in test_sides.py
OF_RUNS = tuple(chapter for chapter in CHAPTERS if chapter != "families")


pairs, page = families(CONFIGS)


def differs(value: str, name: str, first: float, second: float) -> None:
    told = [number(value, rf"(?<![.\w]){side}{name}") for side in ("", r"A\.", r"B\.")]
    assert told == pytest.approx([second - first, first, second], rel=1e-4, abs=1e-4), value


@pytest.mark.parametrize("name", CONFIGS)
def test_two_runs_of_a_family_are_subtracted_in_every_panel(name: str, page: Page, pairs: dict[str, Pair]) -> None:
    pair, norms = pairs[name], OTHERS[name][1] if name in OTHERS else USUAL
    page.evaluate("glass.showSide('B'); void glass.keep(null)")
    runs = [hooked(pair, norms, read(page, name, PROMPT.replace("dog", "cat")))]
    page.evaluate("void glass.keep(glass.state.trace)")
    runs.append(hooked(pair, norms, read(page, name, PROMPT)))
    page.evaluate("(at) => { glass.settings.set('norm', { which: 'attn' }); glass.select(at); }", AT)
    page.evaluate("glass.showSide('B-A')")
    found = walk(page, OF_RUNS)
    wrong = [place for place, one in found.items() if "NaN" in one["value"] or "undefined" in one["value"]]
    assert wrong == []
    sides = {place.split()[1]: one["side"] for place, one in found.items()}
    assert {"attention", "swiglu", "rmsnorm", "cell", "residual", "lens"} <= {k for k, v in sides.items() if v == "B-A"}
    layer, head, query, key = (AT[part] for part in ("layer", "head", "query", "key"))
    weights = [float(run.attentions[layer][0, head, query, key]) for run, _ in runs]
    for place in ("attend attention", "attend cell", "attend arcs"):
        value = found[place]["value"]
        assert value.startswith(f"B-A layer {layer} head {head} query {query} key {key} "), value
        differs(value, "weight", *weights)
    centred = hasattr(pair.lm.net.norm, "bias")
    divisors = []
    for _, seen in runs:
        before = seen[layer, "attn"][0][query].double()
        before = before - (before.mean() if centred else 0)
        divisors.append(float((before.square().mean() + pair.lm.config.norm_eps).sqrt()))
    value = found["norm rmsnorm"]["value"]
    assert value.startswith(f"B-A layer {layer} attn token {query} "), value
    differs(value, "deviation" if centred else "rms", *divisors)
    value = found["norm norm-vector"]["value"]
    channel = int(value.split("channel ")[1].split()[0])
    differs(value, "normed", *(float(seen[layer, "attn"][1][query, channel]) for _, seen in runs))
    differs(value, "x", *(float(seen[layer, "attn"][0][query, channel]) for _, seen in runs))
    logits = [run.logits[0, -1].double() for run, _ in runs]
    value = found["glance next"]["value"]
    token = int(value.split("id ")[1].split()[0])
    differs(value, "logit", *(float(of_run[token]) for of_run in logits))
    differs(value, "p", *(float(of_run.softmax(-1)[token]) for of_run in logits))
