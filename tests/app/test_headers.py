"""What a browser may do with the page, what the server repeats of a request, and who may ask in a visitor's name."""

import re

import pytest

from app.headers import content_policy
from tests import patient
from tests.visitor import Site

pytestmark = pytest.mark.gradio
PATHS = (
    "",
    "config",
    "glass/glass.js",
    "healthz",
    "nowhere",
    "gradio_api/info",
    "gradio_api/queue/data?session_hash=x",
)


def test_every_answer_says_what_a_browser_may_do(site: str) -> None:
    for path in PATHS:
        headers = patient.get(site + path).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "no-referrer", path
    policy = patient.get(site).headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


def test_only_scripts_of_the_page_run_in_it(site: str) -> None:
    answers = [patient.get(site) for _ in range(2)]
    numbers = [re.findall(r"'nonce-([^']+)'", answer.headers["content-security-policy"]) for answer in answers]
    assert numbers[0] != numbers[1]  # nobody can know the next one
    for answer, (number,) in zip(answers, numbers, strict=True):
        assert answer.text.count("<script") == answer.text.count(f"<script nonce='{number}'") > 3


def test_a_site_may_be_named_that_frames_the_page() -> None:
    assert content_policy("n", ["https://school.example"]).endswith("frame-ancestors 'self' https://school.example")


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}],
    ids=str,
)
def test_a_page_of_another_site_asks_nothing(site: str, headers: dict[str, str]) -> None:
    asked = Site(site)
    body = {"data": {"what": "kv_catalogue"}, "component_id": asked.bus, "fn_name": "calculate", "session_hash": "s"}
    for path in ("component_server", "component_server/"):
        assert patient.post(f"{site}gradio_api/{path}", json=body, headers=headers).status_code == 403
    own = {"origin": site.rstrip("/"), "sec-fetch-site": "same-origin"}
    assert patient.post(f"{site}gradio_api/component_server", json=body, headers=own).status_code == 200
    assert patient.post(f"{site}gradio_api/component_server", json=body).status_code == 200  # a program


def test_no_header_of_a_request_is_repeated(site: str) -> None:
    given = {"x-gradio-server": "http://elsewhere.example", "x-forwarded-host": "elsewhere.example"}
    for path in PATHS:
        answer = patient.get(site + path, headers=given)
        assert "elsewhere" not in answer.text + str(answer.headers), path
