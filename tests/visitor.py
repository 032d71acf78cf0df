"""A visitor without a browser: the requests that the page makes, over plain HTTP."""

import json
import secrets
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import httpx


class Site:
    """A page that is up: which number gradio gives each event, and which component carries the server functions."""

    def __init__(self, address: str):
        self.http = httpx.Client(base_url=f"{address.rstrip('/')}/", timeout=120)

    @cached_property
    def config(self) -> dict[str, Any]:
        return self.http.get("config").json()

    @cached_property
    def bus(self) -> int:
        """The component whose server functions the page calls."""
        return next(c["id"] for c in self.config["components"] if "page-bus" in (c["props"].get("elem_classes") or []))

    @cached_property
    def controls(self) -> dict[str, int]:
        """Components by their id on the page."""
        return {c["props"]["elem_id"]: c["id"] for c in self.config["components"] if c["props"].get("elem_id")}

    @cached_property
    def model(self) -> str:
        """The model that a new visitor gets."""
        return next(c["props"]["value"] for c in self.config["components"] if c["props"].get("elem_id") == "model")

    def event(self, control: str) -> dict[str, Any]:
        """The event that pressing this control starts."""
        target = [self.controls[control], "click"]
        return next(d for d in self.config["dependencies"] if target in d["targets"] and not d["cancels"])

    def post(self, path: str, body: Any, **how: Any) -> httpx.Response:
        """A POST of JSON to one of gradio's paths; `body` may be bytes, sent as they are."""
        given = {"content": body} if isinstance(body, bytes) else {"json": body}
        return self.http.post(f"gradio_api/{path}", headers={"content-type": "application/json"}, **given, **how)


class Visitor:
    """One tab: a session of its own."""

    def __init__(self, site: Site):
        self.site = site
        self.session = secrets.token_hex(6)

    def press(self, control: str, *values: Any) -> list[dict[str, Any]]:
        """Press a button with the values of its inputs; the messages that come to the bus, the last of them whole."""
        event = self.site.event(control)
        body = {"data": list(values), "fn_index": event["id"], "session_hash": self.session, "trigger_id": 8}
        self.site.post("queue/join", body).raise_for_status()
        return [self._message(m) for m in self.heard() if m["msg"] in ("process_generating", "process_completed")]

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        data = (message["output"] or {}).get("data") or [None]
        # While text is written gradio sends what changed; only whole messages are read here.
        return json.loads(data[0]) if isinstance(data[0], str) else {"kind": "partial", "success": message["success"]}

    def heard(self) -> Iterator[dict[str, Any]]:
        """What the server says to this session until it has nothing left to say."""
        with self.site.http.stream("GET", "gradio_api/queue/data", params={"session_hash": self.session}) as lines:
            for line in lines.iter_lines():
                if line.startswith("data:"):
                    message = json.loads(line[5:])
                    if message["msg"] == "close_stream":
                        return
                    yield message

    def ask(self, function: str, data: Any) -> dict[str, Any]:
        """A server function's answer."""
        body = {"data": data, "component_id": self.site.bus, "fn_name": function, "session_hash": self.session}
        return self.site.post("component_server", body).json()
