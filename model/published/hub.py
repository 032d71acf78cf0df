"""The config.json of a model on the Hub, and no other file: read within limits of size and time, kept nowhere.

Whoever asks need not be trusted, and neither need the repository: nothing is written to the disk, and a file that is
too large or too slow to come is refused by its name. Checkpoints are downloaded by model/checkpoint.py.
"""

import time
from pathlib import Path
from typing import Any

from ..errors import GlassLlamaError

FILE = "config.json"
MAX_BYTES = 1_000_000
SECONDS = 8.0
REASONS = (
    "no_id", "gated", "malformed", "unknown", "unreachable", "no_config", "no_text", "too_large", "slow", "busy", "off"
)  # fmt: skip
# What the Hub says in a header of its answer; without a token it answers 401 for a model that there is not.
ANSWERS = {"GatedRepo": "gated", "RepoNotFound": "unknown", "EntryNotFound": "no_config", "401": "unknown"}
HINTS = {
    "gated": "it is gated: accept its terms on its page, then run `hf auth login`, or paste its config.json",
    "malformed": "this is no model id; expected OWNER/NAME, of letters, digits, “-”, “_” and “.”",
    "unknown": "there is no such model on the Hub; check the spelling (OWNER/NAME)",
    "no_config": "it has no config.json, or not in the local cache while offline",
    "no_text": "its config.json is no UTF-8 text",
    "too_large": f"its config.json has more than {MAX_BYTES:,} bytes, which no model's shape takes; paste the part "
    "that tells the shape instead",
    "slow": "the Hub did not send its config.json in time; try again later, or paste it instead",
    "busy": "many models are being looked up on the Hub just now; try again in a few seconds, or paste its config.json",
    "off": "this server looks up no models on the Hub; paste its config.json instead",
}


def hub_refusal(model_id: str, reason: str, hint: str = "") -> GlassLlamaError:
    """Why a model of the Hub gives no shape; `reason` is one of REASONS."""
    message = f"{model_id:.100}: {hint or HINTS[reason]}."
    return GlassLlamaError("hub", message, field="model_id", value=model_id[:100], reason=reason)


def checked_id(model_id: object) -> str:
    """The id without spaces around it. Raises GlassLlamaError for what cannot be one."""
    from huggingface_hub.errors import HFValidationError  # here and below, since it takes a second and few need it
    from huggingface_hub.utils import validate_repo_id

    if not isinstance(model_id, str) or not 0 < len(model_id.strip()) <= 200:
        message = "the model id is empty or too long; expected OWNER/NAME."
        raise GlassLlamaError("hub", message, field="model_id", reason="no_id")
    try:
        validate_repo_id(model_id.strip())
    except HFValidationError as error:
        raise hub_refusal(model_id.strip(), "malformed") from error
    return model_id.strip()


def config_text(model_id: str, seconds: float = SECONDS) -> str:
    """The text of a model's config.json, from the Hub, else where that cannot be reached from the client's local cache.

    `model_id` is OWNER/NAME. Ends after about `seconds`, however slowly the Hub answers. Raises GlassLlamaError (code
    "hub") where there is none; its params say the `reason`, one of REASONS.
    """
    model_id = checked_id(model_id)
    try:
        content = _fetched(model_id, time.monotonic() + seconds)
    except GlassLlamaError:
        raise
    except Exception as error:  # the client's HTTP library has classes of errors of its own
        kept = _kept(model_id)
        if kept is None:
            raise _unanswered(model_id, error) from error
        content = kept.read_bytes()
        if len(content) > MAX_BYTES:
            raise hub_refusal(model_id, "too_large") from error
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise hub_refusal(model_id, "no_text") from error


def _fetched(model_id: str, end: float) -> bytes:
    """The file as the Hub sends it, never more than a chunk over MAX_BYTES of it."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import build_hf_headers, get_session

    # Unpacked, a small answer could become a large one at once.
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    with get_session().stream("GET", hf_hub_url(model_id, FILE), headers=headers, timeout=_left(end)) as answer:
        if answer.status_code >= 400:
            reason = ANSWERS.get(answer.headers.get("X-Error-Code", str(answer.status_code)))
            raise hub_refusal(model_id, reason) if reason else ConnectionError(f"status {answer.status_code}")
        _check_size(model_id, int(answer.headers.get("Content-Length") or 0))
        content = bytearray()
        for part in answer.iter_raw():  # as it comes: a chunk of a size of one's own could take for ever to fill
            content += part
            _check_size(model_id, len(content))
            _left(end)
        return bytes(content)


def _check_size(model_id: str, size: int) -> None:
    if size > MAX_BYTES:
        raise hub_refusal(model_id, "too_large")


def _left(end: float) -> float:
    """Seconds until `end`. Raises TimeoutError where there are none."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _kept(model_id: str) -> Path | None:
    """Where the client's local cache has the file, if a checkpoint of that id was downloaded once."""
    from huggingface_hub import try_to_load_from_cache

    path: Any = try_to_load_from_cache(model_id, FILE)
    return Path(path) if isinstance(path, str) else None


def _unanswered(model_id: str, error: Exception) -> GlassLlamaError:
    """Of an error, its class alone: its text may say where the client's cache is."""
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return hub_refusal(model_id, "slow")
    why = f"the Hub cannot be reached and its config.json is not in the local cache ({type(error).__name__})"
    return hub_refusal(model_id, "unreachable", f"{why}; paste it instead")
