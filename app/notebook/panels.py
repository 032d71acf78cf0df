"""A run's panels as a widget: the page of a file of runs (app/one_file) in a frame of a notebook's cell.

So a cell has the page's own panels, both languages and its links, without a server and without a network, and a saved
notebook shows them without a kernel.
"""

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import anywidget
import traitlets

from model import Trace
from model.view import View

from ..chapters import CHAPTERS, all_panels
from ..comparing import changes_of_run
from ..engine import LocalEngine
from ..one_file.document import document
from ..one_file.questions import Place
from ..one_file.recording import View as Looked
from ..operations import OPENING
from ..session import HeldRun
from ..texts import LANGUAGES

STORIES = ("story", "story-cache", "story-learned")  # visuals/static/level.js
TRAITS = ("layer", "head", "query", "key")


class Panels(anywidget.AnyWidget):
    """The panels of a run. Where its reader looks is in its traits, which can be read, observed and set.

    - `layer`, `head`, `query`, `key`: the selection, from 0; by default the head to look at first. A key is never after
      its query in a network that masks: then it follows.
    - `chapter`: one of the page's chapters or stories. `panel`: one panel alone, "" for the whole chapter.
    - `language`: "en" or "zh". `height`: of the cell's frame, in pixels.

    Every layer is inside, and what each panel shows as it opens; what is not is said at its place.
    """

    _esm = Path(__file__).with_name("cell.js")
    _html = traitlets.Unicode().tag(sync=True)
    _title = traitlets.Unicode("Glass Llama").tag(sync=True)
    layer = traitlets.Int().tag(sync=True)
    head = traitlets.Int().tag(sync=True)
    query = traitlets.Int().tag(sync=True)
    key = traitlets.Int().tag(sync=True)
    chapter = traitlets.Enum([*CHAPTERS, *STORIES], "attend").tag(sync=True)
    panel = traitlets.Enum(["", *all_panels()], "").tag(sync=True)
    language = traitlets.Enum(list(LANGUAGES), "en").tag(sync=True)
    height = traitlets.Int(720, min=200, max=4000).tag(sync=True)

    def __init__(self, trace: Trace, **traits: Any):
        """Works out what the panels show, for `traits` as above; of a network with an encoder `trace` is the decoder's.

        Raises GlassLlamaError for a run with a value that is not finite, one that takes its stream from another, and
        one that is too long; TraitError for a place that the run does not have.
        """
        trace.check_finite()
        self.trace = trace
        engine, held = held_run(trace)
        last = len(trace.token_ids) - 1
        start = {"query": last, "key": 0, **held.study(engine, OPENING)}
        self._counts = dict(
            zip(TRAITS, (trace.n_layers, trace.network.config.n_heads, last + 1, last + 1), strict=True)
        )
        super().__init__(**{name: start[name] for name in TRAITS} | traits)
        at = Place(*(getattr(self, name) for name in TRAITS))
        self._html = document(engine, [Looked(held, at)], self._address())

    def _address(self) -> str:
        """The view's part of an address (visuals/static/link.js)."""
        place = {"layer": self.layer, "head": self.head, "token": self.query, "key": self.key}
        return f"#{urlencode({'lang': self.language, 'chapter': self.chapter, **place})}"

    @traitlets.validate(*TRAITS)
    def _within_the_run(self, proposal: Any) -> int:
        name, value, count = proposal.trait.name, proposal.value, self._counts[proposal.trait.name]
        if not 0 <= value < count:
            raise traitlets.TraitError(f"{name} is {value}; expected 0 to {count - 1}.")
        return value


def held_run(trace: Trace) -> tuple[LocalEngine, HeldRun]:
    """An engine with the network of a run, and the run as a page holds it: run once more, since a page says how long
    that took."""
    lm: Any = trace.lm
    while isinstance(lm, View):
        lm = lm.model
    changes = changes_of_run(trace.intervention)
    engine = LocalEngine([lm])
    (name,) = engine.names
    read = trace if trace.source is None else trace.source
    written = [] if trace.source is None else trace.token_ids[1:]  # after the token that begins it
    start = time.perf_counter()
    again = engine.trace(name, read.token_ids, trace.intervention, written)
    seconds = time.perf_counter() - start
    n_prompt = len(again.token_ids) - len(written)
    return engine, HeldRun(name, lm.tokenizer.decode(read.token_ids), n_prompt, again, seconds=seconds, changes=changes)
