"""QR codes: an independent decoder reads back what was written, from the picture that the page shows."""

import io
import random

import numpy as np
import pytest
import resvg_py
import zxingcpp
from PIL import Image

from app.qr import MOST_BYTES, QUIET, qr_code
from app.service import Service
from model import GlassLlamaError

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~%&=#/:?+"


def picture(code: dict) -> np.ndarray:
    """The code as a browser draws it, four pixels a module, in shades of grey."""
    size, side = code["size"], 4 * code["size"]
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{side}" height="{side}">'
    svg += f'<rect width="{size}" height="{size}" fill="#fff"/><path d="{code["path"]}" fill="#000"/></svg>'
    drawn = bytes(resvg_py.svg_to_bytes(svg_string=svg))
    return np.array(Image.open(io.BytesIO(drawn)).convert("L"))


def test_what_is_written_is_read_back() -> None:
    chance = random.Random(0)
    for length in (1, 17, 300, 1000, MOST_BYTES):
        text = "".join(chance.choices(LETTERS, k=length))
        code = qr_code(text)
        assert code["size"] == 17 + 4 * code["version"] + 2 * QUIET
        (found,) = zxingcpp.read_barcodes(picture(code))
        assert found.text == text
    (found,) = zxingcpp.read_barcodes(picture(qr_code("https://例子/#prompt=猫在沙发上 🦙")))
    assert found.text == "https://例子/#prompt=猫在沙发上 🦙"


def test_what_no_code_holds_is_refused_by_its_length() -> None:
    with pytest.raises(GlassLlamaError, match="2,954 bytes; a QR code holds up to 2,953"):
        qr_code("x" * (MOST_BYTES + 1))
    with pytest.raises(GlassLlamaError, match="bytes"):
        qr_code("猫" * 1000)
    for value in (None, "", 5, ["x"], {"text": 1}):
        with pytest.raises(GlassLlamaError, match="text is"):
            qr_code(value)


def test_the_page_asks_for_it_as_for_other_sums(service: Service) -> None:
    answer = service.calculate({"what": "qr", "text": "https://example.org/#layer=1"})
    assert answer["kind"] == "calculation"
    assert zxingcpp.read_barcodes(picture(answer["data"]))[0].text == "https://example.org/#layer=1"
    assert service.calculate({"what": "qr", "text": "x" * 3000})["code"] == "qr_long"
