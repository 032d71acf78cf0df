"""QR codes of addresses, made on this server. No other service is asked, and nothing is stored."""

from functools import lru_cache

import qrcode
from qrcode.constants import ERROR_CORRECT_L

from model import GlassLlamaError
from model.errors import shortly
from visuals.messages.page import QrAnswer

# What version 40, the largest, holds of bytes at error correction L (ISO/IEC 18004, table 7).
MOST_BYTES = 2953
QUIET = 4  # modules around a code that stay light (ISO/IEC 18004, 5.3.8)


def qr_code(text: object) -> QrAnswer:
    """A text as a QR code: {size, path, version}, modules along a side with the quiet zone, dark ones as an SVG path.

    Raises GlassLlamaError: "bad_request" for what is no text or an empty one, "qr_long" for more than MOST_BYTES bytes.
    """
    if not isinstance(text, str) or not text:
        raise GlassLlamaError("bad_request", f"text is {shortly(text)}; expected a text of up to {MOST_BYTES} bytes.")
    data = text.encode(errors="replace")
    if len(data) > MOST_BYTES:
        message = f"text has {len(data):,} bytes; a QR code holds up to {MOST_BYTES:,}."
        raise GlassLlamaError("qr_long", message, bytes=len(data), most=MOST_BYTES)
    return _drawn(data).copy()


@lru_cache(maxsize=64)
def _drawn(data: bytes) -> QrAnswer:
    code = qrcode.QRCode(error_correction=ERROR_CORRECT_L, border=QUIET)
    code.add_data(data, optimize=0)
    code.make(fit=True)
    rows = code.get_matrix()
    return {"size": len(rows), "path": "".join(_runs(y, row) for y, row in enumerate(rows)), "version": code.version}


def _runs(y: int, row: list[bool]) -> str:
    """The dark modules of a row: one rectangle for each run of them."""
    starts = [x for x, dark in enumerate(row) if dark and not (x and row[x - 1])]
    ends = [next((end for end in range(x, len(row)) if not row[end]), len(row)) for x in starts]
    return "".join(f"M{x} {y}h{end - x}v1h{x - end}z" for x, end in zip(starts, ends, strict=True))
