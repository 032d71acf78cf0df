"""What the page is divided into. A chapter is one module: its panels, in the order shown, and what they ask.

A panel is drawn by `visuals/static/panels/<chapter>/<kind>.js` of the chapter that it belongs to. The browser fetches
it when a chapter that shows it is opened, with that chapter's style.css where there is one. A chapter may show panels
of the first one again, above its own. Of its PANELS those ON_DEMAND lie folded under one sentence, the text
`fold.<chapter>`, until a reader opens them: what is for a second look.

DETAILS is what panels ask about a run beyond its first message, by `glass.detail(name, params)`. An entry takes the
engine, the held run and what the page sent (`about_run()` reads it into a model; where that names an `other` run, the
held run itself stands there) and gives a dict that JSON can hold, arrays packed by `visuals.payload.pack`. CALCULATORS
is what they ask without a run, by `glass.calculate(name, settings)`; a bad setting is a GlassLlamaError that names it.
"""

from collections.abc import Callable, Mapping

from visuals import STATIC
from visuals.messages.code import CodeDetail
from visuals.messages.page import QrAnswer, TensorPlace

from ..engine import Engine
from ..operations import CODE, TENSORS
from ..qr import qr_code
from ..requests import OfPanel, Sent, about_run, layer_of
from ..session import HeldRun
from . import attend, choice, compare, families, ffn, glance, kv, norm, overview, position, token

Detail = Callable[[Engine, HeldRun, Sent], Mapping[str, object]]
Calculator = Callable[[Engine, Sent], Mapping[str, object]]


def tensors(engine: Engine, held: HeldRun, asked: Sent) -> dict[str, TensorPlace]:
    """{layer}: the captured tensors of a layer: their dimensions, and the lines of `model/` that make them."""
    return held.study(engine, TENSORS, layer_of(engine, held, asked))


def code(engine: Engine, held: HeldRun, asked: Sent) -> CodeDetail:
    """{layer, panel, tensors}: the lines of `model/` behind a panel; of its tensors those that the network has."""
    of = about_run(OfPanel, engine, held, asked)
    return held.study(engine, CODE, of.layer, of.panel, of.tensors)


def qr(_engine: Engine, data: Sent) -> QrAnswer:
    """{text}: the QR code of an address, as `qr_code` gives it."""
    return qr_code(data.get("text"))


# What an encoder has no answer to: it gives no logits, or knows one text of two.
NEEDS_LOGITS = frozenset(
    ("heads", "why", "matching", "told_apart", "outside", "words", "circuit", "circuit_controls", "edges",
     "ffn_written", "kv_live", "lens", "next", "contributions", "logits", "draw", "logit_terms", "causal_map",
     "attention_kinds")
)  # fmt: skip
# What asks a network for long work (Operation.cost).
LONG = frozenset(
    ("knocked", "rests", "windows", "heads", "looks_back", "recalled", "why", "matching", "told_apart", "outside",
     "words", "circuit", "circuit_controls", "edges", "stream", "norm_placement", "head_jobs", "score_terms", "sinks",
     "attention_kinds", "ffn_firing", "kv_live", "kv_race", "lens", "lens_fit", "contributions", "logit_terms",
     "causal_map", "loss")
)  # fmt: skip
MODULES = (glance, overview, token, norm, position, attend, ffn, kv, choice, families, compare)
CHAPTERS: dict[str, tuple[str, ...]] = {module.__name__.rpartition(".")[2]: module.PANELS for module in MODULES}
ON_DEMAND: dict[str, tuple[str, ...]] = {
    module.__name__.rpartition(".")[2]: getattr(module, "ON_DEMAND", ()) for module in MODULES
}
FIRST = next(iter(CHAPTERS))
ABOVE = CHAPTERS[FIRST][0]  # stands above the token strip, all others below the row of chapters
DETAILS: dict[str, Detail] = {"tensors": tensors, "code": code}
CALCULATORS: dict[str, Calculator] = {"qr": qr}
for module in MODULES:
    DETAILS.update(getattr(module, "DETAILS", {}))
    CALCULATORS.update(getattr(module, "CALCULATORS", {}))


def all_panels() -> list[str]:
    """Every panel that a chapter shows, in the order in which they first come."""
    return list(dict.fromkeys(kind for kinds in CHAPTERS.values() for kind in kinds))


def homes() -> dict[str, str]:
    """The chapter that each panel, and the token strip, belongs to: its module is in that folder."""
    return {kind: next(STATIC.glob(f"panels/*/{kind}.js")).parent.name for kind in ("tokens", *all_panels())}
