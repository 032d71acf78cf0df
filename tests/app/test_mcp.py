"""The endpoints as tools of the Model Context Protocol, called by its own client."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import jsonschema
import pytest
from gradio_client import Client
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

CALLS: dict[str, dict[str, Any]] = {
    "trace": {"prompt": "The cat"},
    "generate": {"prompt": "The cat", "max_new_tokens": 6, "temperature": 0.7, "top_k": 10, "seed": 5},
    "kv_cache": {"model": "DeepSeek-V3", "tokens": 4096, "gpu": "H200", "weights": "fp8", "options": {"tp": 8}},
}


def in_session(site: str, asks: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    async def told() -> Any:
        async with (
            streamable_http_client(f"{site.rstrip('/')}/gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await asks(session)

    with ThreadPoolExecutor(1) as other:  # the browser's own loop runs in this thread
        return other.submit(asyncio.run, told()).result()


def without_seconds(answer: Any) -> Any:
    """An answer without what differs from time to time."""
    if isinstance(answer, dict):
        return {name: without_seconds(value) for name, value in answer.items() if name != "seconds"}
    return [without_seconds(value) for value in answer] if isinstance(answer, list) else answer


def test_each_tool_answers_as_its_endpoint_and_as_its_schema_says(site: str) -> None:
    client = Client(site, verbose=False)

    async def asks(session: ClientSession) -> Any:
        listed = await session.list_tools()
        return listed.tools, {name: await session.call_tool(name, given) for name, given in CALLS.items()}

    tools, answers = in_session(site, asks)
    assert [tool.name for tool in tools] == [*CALLS]
    for tool in tools:
        answer = answers[tool.name]
        assert not answer.isError
        jsonschema.validate(answer.structuredContent, tool.outputSchema)
        assert json.loads(answer.content[0].text) == answer.structuredContent
        assert without_seconds(answer.structuredContent) == without_seconds(
            client.predict(**CALLS[tool.name], api_name=f"/{tool.name}")
        )
        assert "Returns:" in tool.description
        assert set(tool.inputSchema["properties"]) >= set(CALLS[tool.name])
        # What an answer may hold is named, all of it, and so is what it is made of.
        assert set(answer.structuredContent) <= set(tool.outputSchema["properties"])
        assert {"Candidate", "WrittenToken", "Product"} & set(tool.outputSchema["$defs"])


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("trace", {"prompt": ""}, "empty"),
        ("generate", {"prompt": "a", "max_new_tokens": 9999}, "max_new_tokens is 9999; expected .* 256"),
        ("kv_cache", {"model": "Llama-3 8B", "tokens": -1}, "tokens is -1"),
        ("kv_cache", {}, "model"),
        ("weights", {}, "weights"),
    ],
)
def test_a_mistake_is_an_error_that_says_what_would_be_right(site: str, name: str, given: Any, says: str) -> None:
    answer = in_session(site, lambda session: session.call_tool(name, given))
    assert answer.isError
    assert answer.content[0].text.count("\n") < 5
    assert re.search(says, answer.content[0].text)


def test_nothing_else_is_asked_there(site: str) -> None:
    address = f"{site.rstrip('/')}/gradio_api/mcp/"
    assert httpx.get(address).status_code == 405
    assert "POST" in httpx.get(address).text
    assert httpx.post(address, content=b"[" * 100).status_code in (400, 422)
    assert httpx.post(f"{address}other", json={}).status_code == 404
