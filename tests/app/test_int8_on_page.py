"""What the page says of weights of 8 bits is what they change, measured here against the same weights in float32."""

import re

import torch
from playwright.sync_api import Browser

import model
from app.engine import LocalEngine
from app.session import Runs
from app.texts import text
from model.weight_error import TEXT
from tests.page import leave, open_page
from tests.plain import plain_site

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
NAMES = ("count", "rms", "max", "kl", "same")


def written(number: str) -> float:
    """A number as the page writes it: 0.0012, 1.2×10⁻⁵ or 98%."""
    plain = number.translate(SUPERSCRIPTS).replace("×10", "e")
    return float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)


def told(line: str, key: str, language: str, **known: str) -> dict[str, float]:
    """The numbers of a line that is written by a text of the page, by their names there."""
    given = {name: f"NUMBER{name}" for name in NAMES} | {"parameters": "SIZE"} | known
    pattern = re.escape(text(key, language, **given)).replace("SIZE", ".+")
    for name in NAMES:
        pattern = pattern.replace(f"NUMBER{name}", rf"(?P<{name}>[\d.×⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+%?)")
    found = re.fullmatch(pattern, line)
    assert found, (pattern, line)
    return {name: written(number) for name, number in found.groupdict().items()}


def test_the_line_names_what_was_measured(browser: Browser) -> None:
    exact, stored = (model.load(device="cpu", dtype=dtype) for dtype in ("float32", "int8"))
    ids = torch.tensor([exact.tokenizer.encode(TEXT)])
    with torch.inference_mode():
        one, other = (lm.net(ids)[0].double() for lm in (exact, stored))
    logs = [logits.log_softmax(-1) for logits in (one, other)]
    measured = {
        "count": ids.shape[1],
        "rms": float((one - other).pow(2).mean() ** 0.5),
        "max": float((one - other).abs().max()),
        "kl": float(torch.nn.functional.kl_div(logs[1], logs[0], reduction="batchmean", log_target=True)),
        "same": float((one.argmax(-1) == other.argmax(-1)).double().mean()),
    }
    assert measured["kl"] > 0
    with plain_site(LocalEngine([stored]), Runs()) as address:
        page = open_page(browser, f"{address}#lang=en")
        device = page.locator(".page-device")
        for language in ("en", "zh"):
            page.evaluate("(language) => glass.setLanguage(language)", language)
            page.wait_for_function("(language) => glass.state.language === language", arg=language)
            machine = (device.locator(":scope > *").first.text_content() or "").strip().removesuffix("·").strip()
            shown = told(machine, "page.device_int8", language, device="CPU", dtype="float32")
            title = told(device.get_attribute("title") or "", "page.int8_error", language, dtype="float32")
            assert shown.keys() == {"rms", "kl"}
            assert title.keys() == measured.keys()
            for name, number in (*shown.items(), *title.items()):
                assert abs(number - measured[name]) <= 0.051 * measured[name], (name, number)  # two digits
        leave(page)
