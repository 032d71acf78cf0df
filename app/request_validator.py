"""Validates the body of a request before gradio reads it, so that nothing in it can break what comes after.

gradio and the JSON writers beneath it answer some requests with an internal error: half a surrogate pair, an integer of
more than 64 bits, deep nesting, an event or a component that there is not, too few values. Each is refused here, with
what is wrong in words. It also notes which page asks (app/visitors.py): a server function is told the data alone.
"""

import inspect
import json
import math
import re
from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .route_allowlist import API, MAX_BYTES, once_again, read_whole
from .serving import path_of

NOT_JSON = (f"{API}upload", f"{API}process_recording")
MAX_DEPTH = 32
# The most that a page sends are the token ids of a long text and what is changed in its run: some thousands.
MAX_VALUES = 20_000
# A text of a JSON text, to its end or to the end of all: it never begins again, so it takes time with the length alone.
TEXT = re.compile(rb'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
MAX_NAME = 64  # characters of a session's name and the like; gradio makes up some ten
# What JSON writers hold as an integer.
LEAST_INT, MOST_INT = -(2**63), 2**64 - 1


class RefusedError(Exception):
    """A request that is not handed on: `status` and a message for whoever wrote it."""

    def __init__(self, status: int, detail: str):
        super().__init__(detail)
        self.status = status
        self.detail = detail


class RequestValidator:
    """Hands on requests whose bodies are in order; answers 4xx, with a message, for any other."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        path = path_of(scope) if scope["type"] == "http" else ""
        if not path.startswith(API) or scope["method"] != "POST" or path.rstrip("/") in NOT_JSON:
            return await self.app(scope, receive, send)
        try:
            raw = await read_whole(receive)
            if raw is None:
                raise RefusedError(413, f"The request is too long: up to {MAX_BYTES:,} bytes are read.")
            body = checked(raw, page=path.startswith(f"{API}queue/"))
            blocks = getattr(scope.get("app"), "get_blocks", lambda: None)()
            if blocks is not None:
                check_request(path.removeprefix(API).strip("/").split("/"), body, blocks)
        except RefusedError as refused:
            answer = JSONResponse({"detail": refused.detail, "error": refused.detail}, refused.status)
            return await answer(scope, receive, send)
        if isinstance(body, dict):
            scope.setdefault("state", {})["session"] = body.get("session_hash")
        return await self.app(scope, once_again(raw, receive), send)


def checked(raw: bytes, page: bool = False) -> Any:
    """The value of a JSON text. Raises RefusedError for what is none, and for a value that cannot be answered with.

    Of an event of the `page` the texts in its `data` may hold half a pair: what is wrong with a prompt is said there,
    in the reader's language (app/prompts.py), and nothing of it is sent back.
    """
    plain = TEXT.sub(b"", raw)
    if sum(map(plain.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise RefusedError(413, f"The request has too many values: up to {MAX_VALUES:,} are read.")
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except RecursionError:
        raise RefusedError(422, f"The request is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError:
        raise RefusedError(400, "The request is not JSON.") from None
    waiting = [(value, 0)]
    if page and isinstance(value, dict) and isinstance(value.get("data"), list):
        kept = [part for part in value["data"] if not isinstance(part, str)]
        waiting = [({**value, "data": kept}, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise RefusedError(422, f"The request is nested deeper than {MAX_DEPTH} levels.")
        if isinstance(part, str):
            _check_text(part)
        elif isinstance(part, int | float):
            _check_number(part)
        elif isinstance(part, list):
            waiting += [(item, depth + 1) for item in part]
        elif isinstance(part, dict):
            waiting += [(item, depth + 1) for pair in part.items() for item in pair]
    return value


def _no_constant(name: str) -> float:
    raise ValueError(name)  # NaN and its like, which Python's reader takes though they are no JSON


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "A text in the request holds half of a surrogate pair. Send whole characters."
        raise RefusedError(422, message) from None


def _check_number(number: float) -> None:
    if not LEAST_INT <= number <= MOST_INT if isinstance(number, int) else not math.isfinite(number):
        raise RefusedError(422, "A number in the request is too large: send up to 64 bits.")


def check_request(steps: list[str], body: Any, blocks: Any) -> None:
    """Whether gradio has what a request asks for. `steps` is the path below API, in parts."""
    if not isinstance(body, dict):
        raise RefusedError(422, "The request is no JSON object.")
    for name in ("session_hash", "event_id"):
        value = body.get(name)
        if value is not None and not (isinstance(value, str) and len(value) <= MAX_NAME):
            raise RefusedError(422, f"{name}: expected a text of up to {MAX_NAME} characters.")
    if steps[0] == "component_server":
        _check_component(body, blocks)
    elif steps[:2] == ["call", "v2"]:
        _check_names(_named(steps[-1], blocks).fn, body)
    elif steps[0] in ("run", "api", "call", "queue"):
        index = body.get("fn_index")
        # `type`, since True would pass for 1.
        known = blocks.fns.get(index) if type(index) is int else None
        if (index is not None and known is None) or (index is None and steps[0] == "queue"):
            raise RefusedError(404, "fn_index: there is no such event here.")
        _check_count(known or _named(steps[-1], blocks), body.get("data"))


def _check_component(body: dict[str, Any], blocks: Any) -> None:
    if not isinstance(body.get("session_hash"), str):
        raise RefusedError(422, f"session_hash: expected a text of up to {MAX_NAME} characters.")
    if type(body.get("component_id")) is not int or body["component_id"] not in blocks.blocks:
        raise RefusedError(404, "component_id: there is no such component here.")


def _named(name: str, blocks: Any) -> Any:
    for function in blocks.fns.values():
        if function.api_name == name:
            return function
    raise RefusedError(404, "There is no endpoint of this name here.")


def _check_count(function: Any, data: Any) -> None:
    counts = {len(function.inputs), len([block for block in function.inputs if not block.skip_api])}
    if not isinstance(data, list) or (len(data) not in counts and not function.cancels):
        raise RefusedError(422, f"data: expected a list of {' or '.join(map(str, sorted(counts)))} values.")


def _check_names(function: Callable[..., Any], body: dict[str, Any]) -> None:
    """A call by the parameters' names."""
    parameters = inspect.signature(function).parameters
    wrong = [name for name in body if name not in parameters]
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in body]
    if wrong or missing:
        what = f"{wrong[0][:MAX_NAME]!r} is none of them" if wrong else f"{missing[0]} is missing"
        raise RefusedError(422, f"The parameters are {', '.join(parameters)}; {what}.")
