"""What the bus carries, and what the page is opened with."""

import json
import re

import gradio as gr

from app.build import Bar
from app.engine import LocalEngine
from app.files import bench_modules, head
from app.panels import sealed
from visuals import STATIC


def test_a_sealed_message_reads_back_and_holds_no_tag() -> None:
    message = {"prompt": "<script>x</script> 猫 \\u003c", "n": [1.5, None]}
    read = json.loads(sealed(message))
    assert {name: read[name] for name in message} == message
    assert "<" not in sealed(message)


def test_no_two_sealed_messages_are_equal() -> None:
    assert len({sealed({"kind": "message", "code": "busy"}) for _ in range(100)}) == 100


def test_the_modules_of_what_opens_are_named_and_no_other() -> None:
    """The story's in the head; those of the workbench's first chapter for a page that opens with that."""
    named = set(re.findall(r"modulepreload' href='glass/([^']+)'", head()))
    bench = {name.removeprefix("glass/") for name in bench_modules()}
    assert {"store.js", "compute.js", "story/story.js", "story/scenes/rope.js"} <= named
    assert {"panels/token/tokens.js", "panels/glance/why.js"} <= bench
    assert not {
        "chart.js",
        "panels/attend/attention-maps.js",
        "panels/compare/head-change.js",
        "panels/kv/kv-live.js",
    } & (named | bench)
    assert not named & bench
    assert all((STATIC / name).is_file() for name in named | bench)


def test_the_bars_sliders_have_the_bounds_of_the_settings_that_they_show(engine: LocalEngine) -> None:
    with gr.Blocks():
        parts = Bar(engine).parts
    script = (STATIC / "sampling.js").read_text(encoding="utf-8")
    for name in ("temperature", "top_k", "top_p"):
        found = re.search(rf"{name}: {{ min: ([\d.]+), max: ([\d.]+), step: ([\d.]+)", script)
        assert found, name
        bar = parts[name]
        assert [float(number) for number in found.groups()] == [bar.minimum, bar.maximum, bar.step], name
