"""A run in a notebook: the widget's own JavaScript in Chromium, and docs/notebook.ipynb run, against transformers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
import traitlets
from nbclient import NotebookClient
from playwright.sync_api import Browser, Frame, Page, expect

import model
from app.comparing import changes_of_run, intervention
from app.notebook import Panels
from app.session import Runs
from model import GlassLlamaError, LanguageModel
from model.checkpoint import BUNDLED
from model.interventions import Intervention, Patch
from model.replaced.parts import Parts
from tests.app.looking import number, shown
from tests.page import KEPT, ROOT
from tests.peer import Peer

pytestmark = pytest.mark.thorough

PLOTLY, WIDGET = "application/vnd.plotly.v1+json", "application/vnd.jupyter.widget-view+json"
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
TEXT = "The cat sleeps <b> 猫在沙发上"
AT = {"layer": 1, "head": 3, "query": 5, "key": 2}
# What anywidget's model is to a widget: its traits, those who hear of their changes, and a way to Python.
HOST = """
<!doctype html><meta charset="utf-8"><body><main></main><script type="module">
  import widget from "/cell.js";
  const traits = TRAITS;
  const heard = new Map();
  const changed = new Set(); // since they were saved last
  const tell = (name) => { for (const act of heard.get(`change:${name}`) ?? []) act(); };
  const model = {
    get: (name) => traits[name],
    set(name, value) {
      if (traits[name] === value) return;
      traits[name] = value;
      changed.add(name);
      tell(name);
    },
    save_changes: () => {
      toPython(Object.fromEntries([...changed].map((name) => [name, traits[name]])));
      changed.clear();
    },
    on: (event, act) => heard.set(event, (heard.get(event) ?? new Set()).add(act)),
    off: (event, act) => heard.get(event).delete(act),
  };
  const end = widget.render({ model, el: document.querySelector("main") });
  const listeners = () => [...heard.values()].reduce((count, one) => count + one.size, 0);
  Object.assign(window, { model, end, listeners });
</script>
"""
OPENED = """
async () => {
  const opened = () => window.glass?.state.trace && glass.state.status === "idle";
  while (!opened()) await new Promise((done) => setTimeout(done, 20));
}
"""
UNTIL = (
    "async ([what, value]) => { while (glass.state[what] !== value) await new Promise((go) => setTimeout(go, 20)); }"
)


@pytest.fixture
def panels(lm: LanguageModel) -> Panels:
    return Panels(model.run_trace(lm, TEXT), chapter="attend", **AT)


@pytest.fixture
def cell(browser: Browser, panels: Panels) -> Iterator[Page]:
    """A page with the widget in a cell, as a notebook has it: nothing else can be fetched. What the widget saves
    reaches `panels`."""
    state = {name: value for name, value in panels.get_state().items() if not name.startswith(("_m", "_v", "_esm"))}
    host = HOST.replace("TRAITS", json.dumps(state).replace("<", r"\u003c"))
    files = {"": (host, "text/html"), "cell.js": (str(panels._esm), "text/javascript")}
    context = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900})
    context.add_init_script(f"try {{ Object.assign(localStorage, {json.dumps(KEPT)}); }} catch {{}}")
    troubles: list[str] = []

    def answer(route: Any) -> None:
        name = route.request.url.removeprefix("http://notebook.test/")
        if name not in files:
            troubles.append(route.request.url)
            return route.abort()
        body, kind = files[name]
        return route.fulfill(body=body, content_type=kind)

    context.route("**/*", answer)
    page = context.new_page()
    page.expose_function("toPython", panels.set_state)
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto("http://notebook.test/")
    page.wait_for_selector("iframe")
    yield page
    assert troubles == []
    context.close()


def frame_of(page: Page) -> Frame:
    """The widget's frame, its run there."""
    frame = page.frames[1]
    frame.evaluate(OPENED)
    return frame


def push(page: Page, panels: Panels, **traits: Any) -> None:
    """Sets traits in Python, which anywidget sends to its model."""
    for name, value in traits.items():
        setattr(panels, name, value)
        page.evaluate("([name, value]) => model.set(name, value)", [name, value])


def wait_for_trait(page: Page, panels: Panels, name: str, value: object) -> None:
    """Until what happened in the frame has reached Python."""
    page.wait_for_function("([name, value]) => model.get(name) === value", arg=[name, value])
    assert getattr(panels, name) == value


def test_the_widget_shows_the_run_and_both_sides_follow_each_other(
    cell: Page, panels: Panels, checkpoint: Path
) -> None:
    frame = frame_of(cell)
    peer = Peer(checkpoint, panels.trace.token_ids)

    def check(layer: int, head: int, query: int, key: int) -> None:
        value = shown(frame, "attention", f"layer {layer} head {head} query {query} key {key} ")
        theirs = float(peer.run.attentions[layer][0, head, query, key])
        assert number(value, "weight") == pytest.approx(theirs, rel=1e-4, abs=1e-6)

    check(**AT)
    assert frame.evaluate("origin") == "null"  # the notebook is out of its reach
    push(cell, panels, layer=2, head=5)
    check(**AT | {"layer": 2, "head": 5})
    frame.evaluate("glass.select({ query: 7, key: 6 })")
    wait_for_trait(cell, panels, "key", 6)
    check(2, 5, 7, 6)
    push(cell, panels, query=3)  # the mask hides key 6 from it
    wait_for_trait(cell, panels, "key", 3)
    frame.locator("[data-kind=tokens] [data-position='4']").click()
    wait_for_trait(cell, panels, "query", 4)

    frame.locator("#language [data-language=zh]").click()
    wait_for_trait(cell, panels, "language", "zh")
    push(cell, panels, language="en", chapter="ffn")
    frame.evaluate(UNTIL, ["chapter", "ffn"])
    frame.evaluate(UNTIL, ["language", "en"])
    frame.locator("nav [data-chapter=norm]").click()
    wait_for_trait(cell, panels, "chapter", "norm")
    assert "chapter=norm" in frame.evaluate("glass.address()")
    push(cell, panels, panel="rope")
    wait_for_trait(cell, panels, "chapter", "position")
    expect(frame.locator("section[data-kind=rope]")).to_be_visible()
    expect(frame.locator(".page-bar")).to_be_hidden()
    push(cell, panels, panel="", height=400)
    expect(frame.locator(".page-bar")).to_be_visible()
    assert cell.evaluate("document.querySelector('iframe').offsetHeight") == 400
    cell.evaluate("document.querySelector('main').append(document.querySelector('iframe'))")  # which loads it anew
    frame = frame_of(cell)
    frame.evaluate(UNTIL, ["chapter", "position"])
    frame.evaluate("glass.select({ query: 6 })")
    wait_for_trait(cell, panels, "query", 6)
    cell.evaluate("end()")
    assert cell.evaluate("listeners()") == 0


def test_a_place_that_the_run_lacks_is_refused_in_python(panels: Panels) -> None:
    for name, wrong in (("layer", 3), ("head", -1), ("query", 99), ("chapter", "nope"), ("panel", 1)):
        with pytest.raises(traitlets.TraitError, match="expected"):
            setattr(panels, name, wrong)


def test_what_is_changed_in_a_run_is_told_to_the_page_as_the_page_asks_for_it(lm: LanguageModel) -> None:
    changed = Intervention(
        heads=((0, 1), (2, 3)), neurons=((1, 7),), attention=(2,), ffn=(0,), prefix=2, parts=Parts(kv_heads=1)
    )  # fmt: skip
    assert intervention(changes_of_run(changed), Runs(), "roomy", 9) == changed
    of_encoder = Intervention(cross=((0, 1),), encoder=Intervention(heads=((1, 1),), ffn=(0,)))
    assert intervention(changes_of_run(of_encoder), Runs(), "roomy", 9) == of_encoder
    with pytest.raises(GlassLlamaError, match="patches"):
        Panels(model.run_trace(lm, [5, 6, 7], Intervention(patches=(Patch(1, 0, (0.0,) * 48),))))


ASKED = """
import json
print(json.dumps({
    "ids": trace.token_ids, "weight": float(layer.attention[6, -1, 4]), "most": most, "lost": float(losses[most]),
    "answer": int(trace.logits.argmax()), "off": off.logits.tolist()
}))
"""


def test_the_notebook_runs_and_its_numbers_are_transformers() -> None:
    """Every cell of docs/notebook.ipynb; a weight, the knocked-out token, and the answer with two heads off."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    notebook.cells.append(nbformat.v4.new_code_cell(ASKED))
    where = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources=where).execute()
    told = json.loads(notebook.cells[-1].outputs[0].text)

    peer = Peer(BUNDLED, told["ids"])
    tokens, last = len(told["ids"]), len(told["ids"]) - 1
    assert told["weight"] == pytest.approx(float(peer.run.attentions[7][0, 6, last, 4]), rel=1e-4)
    plain = peer.run.logits[0, last].double().log_softmax(-1)
    assert told["answer"] == int(plain.argmax())
    mask = torch.full((1, 1, tokens, tokens), float("-inf")).triu(1)
    mask[..., last, told["most"]] = float("-inf")
    with torch.no_grad():
        without = peer.net(torch.tensor([told["ids"]]), attention_mask=mask).logits[0, last].double().log_softmax(-1)
    assert told["lost"] == pytest.approx(float(plain[told["answer"]] - without[told["answer"]]), abs=1e-3)
    off = Peer(BUNDLED, told["ids"], off=[(7, 6), (7, 3)])
    torch.testing.assert_close(torch.tensor(told["off"]), off.run.logits[0, last], rtol=1e-3, atol=1e-3)
    figures = [one for cell in notebook.cells for one in cell.get("outputs", []) if PLOTLY in one.get("data", {})]
    assert len(figures) == 6
    (widget,) = [one for cell in notebook.cells for one in cell.get("outputs", []) if WIDGET in one.get("data", {})]
    assert widget.output_type == "execute_result"
