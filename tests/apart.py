"""What a page runs is not what its test runs.

Hooks hang on a network, and an engine has it run one piece of work at a time. A test that works out with the same
modules what the page should show would stand in no such queue: its hooks would change what the page is told, and the
page's what the test expects. So the server of a page gets networks of its own, with the same weights.
"""

from copy import copy, deepcopy
from dataclasses import replace

from app.engine import Engine, LocalEngine
from model import LanguageModel


def apart(engine: Engine) -> Engine:
    """The same engine with networks of its own; models whose weights come and go are the given ones."""
    if not isinstance(engine, LocalEngine):
        return engine
    served = copy(engine)
    served._models = {
        name: replace(lm, net=deepcopy(lm.net)) if isinstance(lm, LanguageModel) else lm
        for name, lm in engine._models.items()
    }
    if served.real is not None:
        served.real.add = served._add
    return served
