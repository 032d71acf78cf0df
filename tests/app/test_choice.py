"""The chapter Next token: sampling, logit lens and contributions show what transformers computes."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect
from safetensors import safe_open
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from app.texts import text
from model.analysis.kept_lens import FILE
from tests.app.looking import calm, exactly, faults, number, questions, settled, shown
from tests.one_of import one_of
from tests.page import leave, listen, open_page, wait_for_run
from tests.reference import reference

PROMPT = "The dog plays in the yard. 猫在沙发上"
CLOSE: dict[str, Any] = {"rel": 6e-5, "abs": 2e-5}
PICKS = 10
pytestmark = pytest.mark.prompt(PROMPT)


class Peer:
    """transformers' own pass: the stream at every depth, what each sub-layer wrote, final norm and head."""

    def __init__(self, directory: Path, ids: list[int]):
        self.net = reference(directory)
        self.wrote: dict[str, torch.Tensor] = {}
        for i, layer in enumerate(self.net.model.layers):
            layer.self_attn.register_forward_hook(self._keep(f"attention {i}"))
            layer.mlp.register_forward_hook(self._keep(f"ffn {i}"))
        self.net.model.embed_tokens.register_forward_hook(self._keep("embedding"))
        with torch.no_grad():
            self.logits = self.net(torch.tensor([ids])).logits[0]

    def _keep(self, name: str) -> Any:
        def hook(_module: Any, _given: Any, result: Any) -> None:
            self.wrote[name] = (result[0] if isinstance(result, tuple) else result)[0]

        return hook

    def stream(self, depth: int) -> torch.Tensor:
        parts = [self.wrote[f"{part} {i}"] for i in range(depth) for part in ("attention", "ffn")]
        return torch.stack([self.wrote["embedding"], *parts]).sum(0)

    def lens(self, depth: int) -> torch.Tensor:
        with torch.no_grad():
            return self.net.lm_head(self.net.model.norm(self.stream(depth))).double().softmax(-1)

    def share(self, part: str, token: int, target: int) -> float:
        final = self.stream(len(self.net.model.layers))[token].double()
        scale = (final.square().mean() + self.net.config.rms_norm_eps).sqrt()
        read = self.net.lm_head.weight[target].detach().double() * self.net.model.norm.weight.detach().double()
        return float(self.wrote[part][token].double() @ read / scale)


@pytest.fixture
def chapter(page: Page) -> Page:
    page.evaluate("glass.open('choice')")
    for kind in ("sampling", "lens", "contributions"):
        shown(page, kind)
    return page


@pytest.fixture
def peer(chapter: Page, roomy_checkpoint: Path) -> Peer:
    return Peer(roomy_checkpoint, chapter.evaluate("glass.state.trace.tokens.ids"))


def test_lens_and_contributions_show_what_transformers_computes(chapter: Page, peer: Peer) -> None:
    chance = random.Random(4)
    layers, tokens = peer.net.config.num_hidden_layers, len(peer.logits)
    for _ in range(PICKS):
        layer, token = chance.randrange(layers), chance.randrange(tokens)
        chapter.evaluate("(chosen) => glass.select(chosen)", {"layer": layer, "query": token})
        target = int(peer.logits[token].argmax())
        probabilities = peer.lens(layer + 1)[token]
        value = shown(chapter, "lens", f"layer {layer} token {token} top {int(probabilities.argmax())} ")
        assert number(value, "p") == pytest.approx(float(probabilities.max()), **CLOSE)
        assert number(value, "p_target") == pytest.approx(float(probabilities[target]), **CLOSE)
        assert f"target {target} rank {int((probabilities > probabilities[target]).sum()) + 1} " in value
        value = shown(chapter, "contributions", f"layer {layer} ffn token {token} target {target} ")
        assert number(value, "adds") == pytest.approx(peer.share(f"ffn {layer}", token, target), **CLOSE)
        assert number(value, "logit") == pytest.approx(float(peer.logits[token, target]), **CLOSE)
        assert number(value, "sum") == pytest.approx(number(value, "logit"), abs=2e-5)


SHOWN_AS = "[data-kind=sampling] [data-rank='%d'][data-stage=topP]"


def test_the_sliders_redraw_what_transformers_filters_without_a_request(chapter: Page, peer: Peer) -> None:
    asked = questions(chapter, *(chapter.locator(SHOWN_AS % rank) for rank in (0, 4)))
    sliders = {name: chapter.locator(f"[data-setting={name}] input") for name in ("temperature", "top_k", "top_p")}
    logits = peer.logits[-1].double()
    for temperature, top_k, top_p in ((1.3, 6, 0.7), (0.5, 0, 0.5), (2.0, 30, 1.0)):
        for name, value in {"temperature": temperature, "top_k": top_k, "top_p": top_p}.items():
            sliders[name].evaluate(
                "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", str(value)
            )
        chapter.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        scores = TemperatureLogitsWarper(temperature)(torch.empty(1, 0), logits[None])
        scores = TopKLogitsWarper(top_k)(torch.empty(1, 0), scores) if top_k else scores
        scores = TopPLogitsWarper(top_p)(torch.empty(1, 0), scores) if top_p < 1 else scores
        kept = scores[0].softmax(-1)
        best = kept.argsort(descending=True)
        for rank in (0, 1, 4):
            chapter.hover(SHOWN_AS % rank)
            value = shown(chapter, "sampling", "'")
            assert f" rank {rank + 1} topP " in value
            assert number(value, "p") == pytest.approx(float(kept[best[rank]]), **CLOSE), (temperature, top_k, top_p)
    panel = chapter.locator("section[data-kind=sampling]")
    expect(panel.locator(".gp-readout")).to_contain_text("which is what is drawn from")
    expect(panel).not_to_contain_text("after top-p")  # top-p is off last of all
    expect(panel.locator(".ch-sums")).to_contain_text(text("sampling.off_topP"))
    # Of this chapter only the draw asks the server, once a setting rests; never for the numbers themselves.
    assert [body for body in asked if '"what"' in body and '"draw"' not in body] == []


def test_plus_one_token_writes_what_the_draw_shows(chapter: Page) -> None:
    expect(chapter.locator(".ch-outcome")).to_contain_text("Temperature 0 takes")
    chapter.click(f"text={text('sampling.lively')}")
    chapter.fill(".ch-seed", "5")
    for _ in range(2):
        expect(chapter.locator(".ch-outcome")).to_contain_text("draws")
        settled(chapter)
        expected = chapter.evaluate("[...glass.state.trace.details].findLast(([key]) => key.startsWith('draw'))[1].id")
        before = chapter.evaluate("glass.state.trace.T")
        chapter.click("#step")
        chapter.wait_for_function("(n) => glass.state.trace.T === n + 1 && glass.state.status === 'idle'", arg=before)
        wait_for_run(chapter)
        assert chapter.evaluate("glass.state.trace.tokens.ids.at(-1)") == expected


LIKELY = {"temperature": 0.9, "top_k": 30, "top_p": 0.95}


def kept(logits: torch.Tensor) -> torch.Tensor:
    """Probabilities after LIKELY's filters, by transformers."""
    none, scores = torch.empty(1, 0), logits.detach().double()[None]
    for warper in (TemperatureLogitsWarper(0.9), TopKLogitsWarper(30), TopPLogitsWarper(0.95)):
        scores = warper(none, scores)
    return scores[0].softmax(-1)


def read(words: str) -> float:
    """A number as the page writes it: 1.234 or 1.234×10⁻⁵."""
    mantissa, _, power = words.replace("−", "-").partition("×10")
    return float(mantissa) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


def race_is(chapter: Page, p: torch.Tensor, generator: torch.Generator) -> int:
    """The token that torch.multinomial draws; the page must show its race, each p / E, and why it won."""
    state = generator.get_state()
    thrown = torch.empty_like(p).exponential_(generator=generator)
    winner = int(torch.multinomial(p, 1, generator=torch.Generator().set_state(state)))
    first, second = (p / thrown).topk(2).indices.tolist()
    assert first == winner
    panel, order = chapter.locator("section[data-kind=sampling]"), p.argsort(descending=True).tolist()
    rows = panel.locator(".ch-stages tbody tr")
    if winner in order[:12]:
        expect(rows.nth(order.index(winner))).to_have_class(re.compile("is-chosen"))
    for rank, shown_as in enumerate(exactly(rows.locator(".ch-draw"))[:12]):
        token = order[rank]
        wanted = pytest.approx(float(p[token] / thrown[token]), rel=1e-3)
        assert (read(shown_as) == wanted) if p[token] > 0 else (shown_as == ""), (rank, shown_as)
    expect(panel.locator(".ch-sums")).to_contain_text(text("sampling.race_why"))
    said = (panel.locator(".ch-sums p").last.text_content() or "").replace("\u00a0", " ")
    told = re.findall(r"p / E = (\S+)% / (\S+) = (\S+)", said)
    assert [tuple(map(read, numbers)) for numbers in told] == [
        pytest.approx([100 * float(p[token]), float(thrown[token]), float(p[token] / thrown[token])], rel=2e-4)
        for token in (first, second)
    ]
    return winner


@pytest.mark.thorough
@pytest.mark.gradio
def test_the_race_that_draws_a_token_is_torchs_own(chapter: Page, roomy_checkpoint: Path, peer: Peer) -> None:
    """p by transformers, E by the seed's own generator: for the draw to come, and for those of a written text."""
    for seed in (5, 6):
        chapter.evaluate("(how) => glass.settings.set('sampling', how)", {**LIKELY, "seed": seed})
        expect(chapter.locator(".ch-outcome")).to_contain_text(f"Seed {seed} draws")
        race_is(chapter, kept(peer.logits[-1]), torch.Generator().manual_seed(seed))
    chapter.click("#generate")
    chapter.wait_for_function("glass.state.status === 'idle' && glass.state.trace.T > glass.state.trace.nPrompt + 4")
    ids, n_prompt = chapter.evaluate("[glass.state.trace.tokens.ids, glass.state.trace.nPrompt]")
    logits, generator = Peer(roomy_checkpoint, ids).logits, torch.Generator().manual_seed(6)
    for position in range(n_prompt, n_prompt + 4):
        chapter.click(f".gp-chip[data-position='{position}']")
        chapter.mouse.move(1, 1)
        expect(chapter.locator(".ch-outcome")).to_contain_text(f"draw {position - n_prompt + 1} with seed 6")
        assert race_is(chapter, kept(logits[position - 1]), generator) == ids[position]


def bar(page: Page) -> dict[str, float]:
    """What the bar's fields show."""
    names = ("temperature", "top_k", "top_p", "seed")
    return {name: float(page.locator(f"#{name} input[type=number]").input_value()) for name in names}


def sliders(page: Page) -> dict[str, float]:
    """What the chapter's controls show."""
    names = ("temperature", "top_k", "top_p", "seed")
    return {name: float(page.locator(f"[data-setting={name}] input").input_value()) for name in names}


@pytest.mark.gradio
def test_the_bar_and_the_chapter_are_one_set_of_settings(chapter: Page) -> None:
    greedy = {"temperature": 0, "top_k": 0, "top_p": 1, "seed": 0}
    assert sliders(chapter) == greedy
    chapter.click(f"text={text('sampling.lively')}")
    chapter.click("#settings .label-wrap")  # set before the bar's fields were ever there
    expect(chapter.locator("#temperature input[type=number]")).to_have_value("0.8")
    calm(chapter)  # gradio sets them more than once
    assert bar(chapter) == sliders(chapter) == greedy | {"temperature": 0.8, "top_k": 40, "top_p": 0.9}
    chapter.fill("#temperature input[type=number]", "1.3")
    chapter.locator("#top_p input[type=range]").fill("0.5")
    chapter.fill("#seed input", "7")
    expect(chapter.locator("[data-setting=seed] input")).to_have_value("7")
    assert sliders(chapter) == bar(chapter) == {"temperature": 1.3, "top_k": 40, "top_p": 0.5, "seed": 7}
    chapter.locator("[data-setting=top_k] input").fill("3")
    expect(chapter.locator("#top_k input[type=number]")).to_have_value("3")
    chapter.wait_for_function("location.hash.includes('sampling.top_k=3')")
    asked: list[str] = []
    listen(chapter, "request", lambda request: asked.append(request.post_data or ""))
    chapter.click("#step")
    chapter.wait_for_function("glass.state.trace.steps.length === 1")
    sent = [json.loads(body)["data"] for body in asked if '"fn_index"' in body]
    assert [data[4:] for data in sent if len(data) == 8] == [[1.3, 3, 0.5, 7]]  # prompt, model, view, count come first


def test_hovering_the_lens_previews_and_a_click_stays(chapter: Page) -> None:
    map_ = chapter.locator("[data-kind=lens] .gp-scroll canvas")
    map_.scroll_into_view_if_needed()
    map_.hover(position={"x": 200, "y": 30})
    previewed = chapter.evaluate("[glass.state.layer, glass.state.query]")
    assert previewed != chapter.evaluate("[glass.state.locked.layer, glass.state.locked.query]")
    assert shown(chapter, "lens", f"layer {previewed[0]} token {previewed[1]} ")
    map_.click(position={"x": 200, "y": 30})
    assert chapter.evaluate("[glass.state.locked.layer, glass.state.locked.query]") == previewed


# The words that canvases are given from now on, by the font that they are written in.
WRITTEN = """() => {
  const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
  window.written = {};
  prototype.fillText = function (words, ...place) {
    window.written[words] = this.font;
    return fillText.call(this, words, ...place);
  };
}"""


@pytest.mark.parametrize("language", one_of(["en", "zh"]))
def test_the_selected_layer_is_named_in_full_and_as_large_as_the_others(page: Page, language: str) -> None:
    page.evaluate("(language) => glass.setLanguage(language)", language)
    page.evaluate("glass.open('choice')")
    page.locator("section[data-kind=lens]").scroll_into_view_if_needed()
    shown(page, "lens")
    page.evaluate(WRITTEN)
    page.evaluate("glass.select({ layer: 1, query: 2 })")
    shown(page, "lens", "layer 1 token 2 ")
    name = text("lens.layer", language, layer=1)
    page.wait_for_function("(name) => name in window.written", arg=name)
    assert "14px" in page.evaluate("(name) => window.written[name]", name)


def test_choices_are_kept_in_the_link(chapter: Page, browser: Browser) -> None:
    chapter.click("[data-kind=contributions] [data-choice=second]")
    title = text("contributions.title_second", target="", other="", piece="").split("“")[0]
    expect(chapter.locator("[data-kind=contributions] .gp-title")).to_contain_text(title)
    chapter.wait_for_function("location.hash.includes('versus')")
    again = open_page(browser, chapter.url)
    expect(again.locator("[data-kind=contributions] .gp-title")).to_contain_text(title)
    leave(again)


@pytest.mark.parametrize(("scheme", "width"), one_of([("light", 1280), ("dark", 360)]))
def test_accessible_and_nothing_cut(browser: Browser, panels_alone: str, scheme: Any, width: int) -> None:
    page = open_page(browser, f"{panels_alone}#chapter=choice", width, color_scheme=scheme)
    for kind in ("sampling", "lens", "contributions"):
        shown(page, kind)
    assert faults(page, scheme) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    leave(page)


# How far each power of a power stands over the words of a line above its own; px, 0 and less where it has room.
OVER = """() => [...document.querySelectorAll("sup sup")].filter((one) => one.checkVisibility()).map((power) => {
  const words = document.createTreeWalker(power.closest("p"), NodeFilter.SHOW_TEXT);
  const box = power.getBoundingClientRect();
  let [range, most] = [document.createRange(), -Infinity];
  while (words.nextNode()) {
    if (words.currentNode.parentElement.closest("sup, .gp-hidden")) continue;
    range.selectNodeContents(words.currentNode);
    for (const line of range.getClientRects())
      if (line.bottom < box.bottom + 1) most = Math.max(most, line.bottom - box.top);
  }
  return most;
})"""


@pytest.mark.gradio  # whose own styles move what is raised
def test_a_power_of_a_power_has_its_room_on_a_telephone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("sup sup").first).to_be_visible()
    over = page.evaluate(OVER)
    assert over
    assert max(over) <= 3  # a line's box is taller than its letters


def test_at_temperature_0_nothing_is_said_to_be_drawn(chapter: Page) -> None:
    panel = chapter.locator("section[data-kind=sampling]")
    page_says = "glass.settings.set('sampling', { temperature: %s, top_k: 0, top_p: 1 })"
    heads = panel.locator(".ch-kept")
    chapter.evaluate(page_says % "0")
    expect(heads.nth(1)).to_have_text(text("sampling.kept_greedy"))
    for filtered in (2, 3):
        expect(heads.nth(filtered)).to_have_text(text("sampling.kept_unused"))
    first, second = (panel.locator(f"[data-rank='{rank}'][data-stage=topP]") for rank in (0, 1))
    first.click()
    expect(panel).to_contain_text(re.compile(r"logit [−\d.]+, the highest"))
    expect(panel.locator(".ch-outcome")).to_contain_text("Nothing is drawn")  # once the sliders rest
    expect(panel.locator(".ch-stages")).to_have_class(re.compile("is-greedy"))  # a narrow table leaves columns out
    assert (panel.text_content() or "").lower().count("nothing is drawn") == 1
    second.click()
    expect(panel).to_contain_text(re.compile(r"logit [−\d.]+, not the highest"))
    expect(panel).not_to_contain_text("which is what is drawn from")
    chapter.evaluate(page_says % "1")
    vocabulary = chapter.evaluate("glass.state.trace.model.vocab_size")
    for filtered in (2, 3):
        expect(heads.nth(filtered)).to_have_text(f"off: all {vocabulary:,}")


def test_b_minus_a_of_the_parts_names_the_rms_of_both_runs(chapter: Page, peer: Peer) -> None:
    token = len(peer.logits) - 1
    final = peer.stream(len(peer.net.model.layers))[token].double()
    scale = float((final.square().mean() + peer.net.config.rms_norm_eps).sqrt())
    chapter.evaluate("glass.keep(glass.state.trace)")
    chapter.evaluate("glass.change({ ffn: [0] })")
    chapter.wait_for_function("glass.state.trace.changes.ffn")
    wait_for_run(chapter)
    chapter.evaluate("glass.showSide('B-A')")
    chapter.evaluate("(query) => glass.select({ query })", token)
    line = chapter.locator("section[data-kind=contributions] .mn-body").get_by_text("final RMS")
    expect(line).to_be_visible()
    words = line.inner_text()
    found = re.search(r"here ([\d.]+) in A and ([\d.]+) in B", words)
    assert found, words
    assert float(found[1]) == pytest.approx(scale, rel=5e-3)  # three digits
    assert found[2] != found[1]


@pytest.mark.gradio
def test_a_click_on_a_written_token_shows_what_it_was_chosen_from(chapter: Page, roomy_checkpoint: Path) -> None:
    """Every panel goes to the moment; there is a way back; and writing on lets go of it."""
    chapter.evaluate("glass.settings.set('sampling', { temperature: '0.9', top_k: '30', seed: '5' })")
    chapter.click("#generate")
    chapter.wait_for_function("glass.state.status === 'idle' && glass.state.trace.T > glass.state.trace.nPrompt + 8")
    ids, n_prompt = chapter.evaluate("[glass.state.trace.tokens.ids, glass.state.trace.nPrompt]")
    truth = Peer(roomy_checkpoint, ids).logits.double()
    line = chapter.locator("section[data-kind=tokens] .gp-moment")
    for position in (n_prompt, n_prompt + 4, len(ids) - 1):
        chapter.click(f".gp-chip[data-position='{position}']")
        chapter.mouse.move(1, 1)
        shown(chapter, "sampling")
        assert chapter.evaluate("glass.state.query") == position - 1
        expect(line).to_contain_text(f"token {position} ")
        rows = chapter.locator("section[data-kind=sampling] .ch-stages tbody tr:not([hidden])")
        chosen = rows.and_(chapter.locator(".is-chosen"))
        expect(chosen).to_have_count(1)
        expect(chapter.locator(f".gp-chip[data-position='{position}']")).to_have_class(re.compile("is-chosen"))
        step = chapter.evaluate(f"glass.state.trace.steps[{position - n_prompt}]")
        cells = exactly(chosen.locator("td"))
        assert float(cells[0].replace("\u2212", "-")) == pytest.approx(
            float(truth[position - 1, ids[position]]), rel=1e-4
        )
        assert float(cells[4]) == pytest.approx(step["drawnProbability"], abs=6e-5)
        value = shown(chapter, "sampling")
        assert number(value, "logit") == pytest.approx(float(truth[position - 1].max()), **CLOSE)
        where = shown(chapter, "lens", f"layer {chapter.evaluate('glass.state.layer')} token {position - 1} ")
        assert where
    line.get_by_role("button").click()
    assert chapter.evaluate("glass.state.query") == len(ids) - 1
    chapter.click(".gp-chip[data-position='1']")
    expect(line).to_contain_text("Kept: token 1 ")
    chapter.click("#step")
    chapter.wait_for_function("(n) => glass.state.trace.T > n && glass.state.status === 'idle'", arg=len(ids))
    assert chapter.evaluate("glass.state.query") == len(ids)


@pytest.mark.thorough
def test_the_jacobian_lens_is_worked_out_once_and_reads_the_carried_stream(
    chapter: Page, peer: Peer, roomy_checkpoint: Path
) -> None:
    """Until it is there the logit lens is shown; then J · x goes through transformers' final norm and head."""
    panel = chapter.locator("[data-kind=lens]")
    panel.locator("[data-choice=jacobian]").click()
    panel.get_by_role("button", name=text("lens.fit_start")).click()
    panel.get_by_text(text("lens.texts_any")).wait_for()
    with safe_open(roomy_checkpoint / FILE, framework="pt") as opened:
        jacobians = opened.get_tensor("jacobians").float()
    layers = peer.net.config.num_hidden_layers
    assert len(jacobians) == layers
    for layer, token in ((0, 1), (layers - 2, 3), (layers - 1, 2)):
        chapter.evaluate("(chosen) => glass.select(chosen)", {"layer": layer, "query": token})
        x = peer.stream(layer + 1)[token]
        carried = x if layer == layers - 1 else jacobians[layer + 1] @ x
        with torch.no_grad():
            read = peer.net.lm_head(peer.net.model.norm(carried)).double().softmax(-1)
        value = shown(chapter, "lens", f"layer {layer} token {token} top {int(read.argmax())} ")
        assert number(value, "p") == pytest.approx(float(read.max()), **CLOSE)


@pytest.mark.parametrize("width", [320, 360, 390])
def test_on_a_telephone_no_number_of_the_stages_touches_another(chapter: Page, width: int) -> None:
    chapter.set_viewport_size({"width": width, "height": 740})
    panel = chapter.locator("section[data-kind=sampling]")
    panel.get_by_text(text("sampling.lively")).click()
    expect(panel.locator(".ch-stages")).not_to_have_class(re.compile("is-greedy"))
    settled(chapter)
    # written and measured at once, before anything is drawn again
    touching = """(table) => {
      for (const one of table.querySelectorAll(".ch-number")) one.textContent = "0.00977%";
      for (const one of table.querySelectorAll(".ch-draw")) one.textContent = "1.234×10⁻⁵";
      const edge = table.closest("section").getBoundingClientRect().right;
      return [...table.querySelectorAll("tbody tr:not([hidden])")].flatMap((row) => {
        const boxes = [...row.querySelectorAll(".ch-number, .ch-draw")].map((one) => {
          const words = document.createRange();
          words.selectNodeContents(one);
          return words.getBoundingClientRect();
        });
        const isBeside = (a, b) => a.right + 2 <= b.left || b.right + 2 <= a.left;
        const isApart = (a, b) => isBeside(a, b) || a.bottom <= b.top || b.bottom <= a.top;
        return boxes.filter((a, i) => a.right > edge || boxes.some((b, j) => j > i && !isApart(a, b)));
      }).length;
    }"""
    assert panel.locator(".ch-stages").evaluate(touching) == 0
    panel.locator(".ch-stages tbody th").first.evaluate("(one) => one.textContent = 'responsibilities'")
    assert panel.locator(".ch-wide").evaluate("(one) => one.scrollWidth <= one.clientWidth")
