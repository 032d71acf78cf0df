"""The first load as it is served: files packed once, and the page's head in gradio's page."""

import os
import re
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from app.packed_answers import PackedAnswers
from app.serving import GRADIO_ASSETS, VENDOR, PackedFiles, PageHead, without_comments
from app.visitors import FROM_HERE
from visuals import STATIC

PACKED = {"Accept-Encoding": "gzip"}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "one.js"
    path.write_text("export const one = 1;\n" * 50)
    return path


@pytest.fixture
def client(script: Path) -> TestClient:
    """Over a server that answers everything else with "else"."""
    return TestClient(PackedFiles(PlainTextResponse("else"), {"/glass/one.js": script}))


def test_a_file_comes_packed_and_whole(client: TestClient, script: Path) -> None:
    answer = client.get("/glass/one.js", headers=PACKED)
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < script.stat().st_size / 5
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.text == script.read_text()


def test_who_takes_brotli_has_it_smaller(client: TestClient, script: Path) -> None:
    offered = {"Accept-Encoding": "gzip, deflate, br, zstd"}
    answer = client.get("/glass/one.js", headers=offered)
    assert answer.headers["content-encoding"] == "br"
    assert answer.text == script.read_text()
    assert answer.headers["etag"] != client.get("/glass/one.js", headers=PACKED).headers["etag"]


def test_our_scripts_come_without_their_comments_and_line_for_line() -> None:
    for path in STATIC.rglob("*.js"):
        held = path.read_text(encoding="utf-8").splitlines()
        served = without_comments(path).decode().splitlines()
        pairs = list(zip(served, held, strict=True))
        left_out = [whole for line, whole in pairs if line != whole]
        assert all(line in ("", whole) for line, whole in pairs)
        assert all(re.match(r"\s*(/\*|\*|//)", whole) for whole in left_out), path
        for i, (line, whole) in enumerate(pairs):  # none of them is a line of a text in backticks
            inside = line != whole and whole.lstrip().startswith("//") and "\n".join(served[:i]).count("`") % 2
            assert not inside, (path, whole)
        assert not (left_out and VENDOR in path.parents)
    assert b"@license" in without_comments(VENDOR / "lit-html.js")


def test_our_styles_come_without_their_comments_and_with_all_of_their_rules() -> None:
    for path in STATIC.rglob("*.css"):
        served = without_comments(path).decode()
        assert not re.search(r"^\s*/\*", served, re.MULTILINE), path
        bare = [re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL).split() for css in (served, path.read_text("utf-8"))]
        assert bare[0] == bare[1], path


def test_a_changed_file_is_packed_again(client: TestClient, script: Path) -> None:
    tag = client.get("/glass/one.js", headers=PACKED).headers["etag"]
    assert client.get("/glass/one.js", headers=PACKED | {"If-None-Match": tag}).status_code == 304
    script.write_text("export const two = 2;\n")
    os.utime(script, ns=(1, 1))
    answer = client.get("/glass/one.js", headers=PACKED | {"If-None-Match": tag})
    assert (answer.status_code, answer.text) == (200, "export const two = 2;\n")


def test_gradios_scripts_come_packed_too(client: TestClient) -> None:
    path = max(GRADIO_ASSETS.glob("index-*.js"), key=lambda path: path.stat().st_size)
    assert client.get(f"/assets/{path.name}", headers=PACKED).content == path.read_bytes()


@pytest.mark.parametrize("path", ["/glass/two.js", "/glass/../one.js", "/assets/../../routes.py", "/"])
def test_nothing_but_the_files_that_are_named(client: TestClient, path: str) -> None:
    assert client.get(path, headers=PACKED).text == "else"


def test_who_reads_no_gzip_has_it_plain_and_who_posts_goes_to_the_server(client: TestClient, script: Path) -> None:
    plain = client.get("/glass/one.js", headers={"Accept-Encoding": "identity"})
    assert (plain.text, "content-encoding" in plain.headers) == (script.read_text(), False)
    asset = next(path.name for path in GRADIO_ASSETS.glob("*.css"))
    assert client.get(f"/assets/{asset}", headers={"Accept-Encoding": "identity"}).text == "else"
    assert client.post("/glass/one.js", headers=PACKED).text == "else"


def test_the_head_is_put_into_the_page_and_into_nothing_else() -> None:
    page = "<html><head><title>x</title></head><body></head></body></html>"
    client = TestClient(PageHead(PlainTextResponse(page), "<script>猫</script>"))
    assert client.get("/").text == page.replace("</head>", "<script>猫</script></head>", 1)
    assert client.get("/else").text == page


def test_it_knows_the_path_under_a_prefix(script: Path) -> None:
    files = {"/glass/one.js": script}
    client = TestClient(PackedFiles(PlainTextResponse("else"), files), root_path="/some/where")
    answer = client.get("/some/where/glass/one.js", headers=PACKED)
    assert answer.text == script.read_text()


@pytest.mark.parametrize(("offered", "packing"), [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("", None)])
@pytest.mark.parametrize("parts", [1, 3])
def test_large_answers_of_the_server_come_packed_and_whole(offered: str, packing: str | None, parts: int) -> None:
    said = "0.25, 0.75, " * 100_000

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        pieces = [said[i::parts].encode() for i in range(parts)] if scope["path"] == "/large" else [b"small"]
        if len(pieces) > 1:
            await StreamingResponse(iter(pieces))(scope, receive, send)
        else:
            await Response(pieces[0])(scope, receive, send)

    client = TestClient(PackedAnswers(answer))
    large = client.post("/large", headers={"Accept-Encoding": offered})
    assert large.headers.get("content-encoding") == packing
    assert large.text == "".join(said[i::parts] for i in range(parts))
    assert "content-encoding" not in client.post("/small", headers={"Accept-Encoding": offered}).headers
    assert client.get("/large", headers=PACKED).headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("from_here", [True, False])
def test_answers_that_cross_no_network_are_not_packed(from_here: bool) -> None:
    packed = PackedAnswers(PlainTextResponse("0.25, 0.75, " * 1000))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await packed({**scope, FROM_HERE: from_here}, receive, send)

    answer = TestClient(app).post("/large", headers=PACKED)
    assert ("content-encoding" in answer.headers) is not from_here
