"""How the first load is served: files packed once and kept in memory, and the page's own head in gradio's page.

Why: docs/decisions/first-load.md.
"""

import gzip
import re
from collections.abc import Callable
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

import brotli
import gradio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from visuals import STATIC

VENDOR = STATIC / "vendor"
GRADIO_ASSETS = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
# What browsers take, the smaller one first: brotli's fifth step is a twentieth smaller than gzip in the same time.
PACKING: dict[str, Callable[[bytes], bytes]] = {
    "br": partial(brotli.compress, quality=5),
    "gzip": partial(gzip.compress, mtime=0),
}
# Comments that stand alone on their lines are for those who read the code: a third of what a page would load of it.
BLOCK = rb"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*$"
LINE = rb"^[ \t]*//[^\n]*$"
SPARED = {
    ".js": re.compile(BLOCK + rb"|" + LINE, re.MULTILINE | re.DOTALL),
    ".css": re.compile(BLOCK, re.MULTILINE | re.DOTALL),
}
TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json"}


def path_of(scope: Scope) -> str:
    """The path that is asked for, without the prefix that the page is mounted under."""
    return scope["path"].removeprefix(scope.get("root_path", ""))


class PackedFiles:
    """Answers for `files`, an address to a file each, and packed for gradio's own scripts and styles.

    gradio opens and packs a file anew for every request, four milliseconds each, and a first load is a hundred files;
    and it would have the page name each by its path on the server.
    """

    def __init__(self, app: ASGIApp, files: dict[str, Path]):
        self.app = app
        assets = (path for path in GRADIO_ASSETS.iterdir() if path.suffix in TYPES)
        self.own = files
        self.files = {f"/assets/{path.name}": path for path in assets} | files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        asked = scope["type"] == "http" and scope["method"] == "GET"
        address = path_of(scope) if asked else ""
        file = self.files.get(address)
        given = Headers(raw=scope.get("headers", []))
        offered = [one.partition(";")[0].strip() for one in given.get("accept-encoding", "").split(",")]
        encoding = next((one for one in PACKING if one in offered), None)
        if file is not None and encoding is None and address in self.own:
            return await Response(without_comments(file), media_type=TYPES[file.suffix])(scope, receive, send)
        if file is None or encoding is None:
            return await self.app(scope, receive, send)
        body, tag = packed(file, encoding, file.stat().st_mtime_ns)
        headers = {"content-encoding": encoding, "etag": tag, "vary": "Accept-Encoding", "cache-control": "no-cache"}
        if given.get("if-none-match") == tag:
            return await Response(status_code=304, headers=headers)(scope, receive, send)
        await Response(body, headers=headers, media_type=TYPES[file.suffix])(scope, receive, send)
        return None


def without_comments(file: Path) -> bytes:
    """A file's content; of a script or style of ours without comments on lines of their own, and every other line where
    it was.

    Others' scripts keep their comments, in which their licences stand.
    """
    content = file.read_bytes()
    spared = SPARED.get(file.suffix) if STATIC in file.parents and VENDOR not in file.parents else None
    return spared.sub(lambda found: b"\n" * found[0].count(b"\n"), content) if spared else content


@lru_cache(maxsize=2048)
def packed(file: Path, encoding: str, _changed: int) -> tuple[bytes, str]:
    """A file's content, packed, and its tag; packed again when the file was changed."""
    body = PACKING[encoding](without_comments(file))
    return body, f'"{sha256(body).hexdigest()[:32]}"'


class PageHead:
    """Puts `head` into the page that gradio sends. By itself gradio adds it in the browser, after its own scripts."""

    def __init__(self, app: ASGIApp, head: str):
        self.app = app
        self.head = head.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or path_of(scope) != "/":
            return await self.app(scope, receive, send)
        start: Message = {}

        async def with_head(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start:
                body = message["body"].replace(b"</head>", self.head + b"</head>", 1)
                if nonce := scope.get("state", {}).get("nonce"):  # which says that a script is the page's own
                    body = body.replace(b"<script", f"<script nonce='{nonce}'".encode())
                message = {**message, "body": body}
                MutableHeaders(scope=start)["content-length"] = str(len(body))
                await send(start)
                start = {}
            await send(message)

        return await self.app(scope, receive, with_head)
