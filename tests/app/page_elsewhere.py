"""The page of an `app.py` of its own, whose models run there, in another process or on a cluster, in a browser."""

from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

import model
from tests.page import leave, open_page, running_app, wait_for_run


def check_page(browser: Browser, where: Path, *arguments: str) -> None:
    """`app.py` with these arguments runs the model of this place and writes on, and its values are those of the
    model here."""
    with running_app(*arguments) as address:
        page = open_page(browser, f"{address}#lang=en&chapter=glance")
        wait_for_run(page)
        before = page.evaluate("glass.state.trace.T")
        page.click("#generate")
        page.wait_for_function("(T) => glass.state.trace.T > T && glass.state.status === 'idle'", arg=before)
        assert page.locator(".glass-panel[data-failed]").count() == 0
        ids = page.evaluate("glass.state.trace.tokens.ids")
        page.evaluate("glass.select({ layer: 1 })")
        page.wait_for_function("glass.layer()")
        weights = page.evaluate("[...glass.layer().k.data].slice(0, 8)")
        leave(page)
    trace: model.Trace = model.run_trace(model.load(where, device="cpu"), ids)
    assert np.allclose(weights, trace.layer(1).k.ravel()[:8], atol=1e-5)
