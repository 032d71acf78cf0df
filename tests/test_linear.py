"""Whatever a visitor types is read in time that grows no faster than the text: no one sentence holds the server."""

import gc
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.examples import nearest_example
from app.prompts import MAX_CHARACTERS as MOST_OF_A_PROMPT
from app.prompts import check_text
from app.remarks import in_chinese
from app.request_validator import RefusedError, checked
from model import GlassLlamaError
from model.analysis.strangers import strangers
from model.engine_logs import read_log
from model.kv_math.formats import kv_format
from model.kv_math.gpus import find_gpu
from model.published.catalogue import catalogue
from model.published.hf.gguf import MAX_LINES, metadata_in
from model.published.hf_spec import MAX_CHARACTERS, spec_from_text
from model.published.hub import checked_id

KEY = "general.architecture = llama\n"
# What some reader of a text looks for, and what may stand between: a regular expression that can split a run of these
# in several ways tries them all.
PIECES = [
    *(" ", "\n", "\t", "\r", "\u2028", "kv", "kv 1:", "1:", "1", ":", "|", "=", ",", "a", "a.b", ".weight"),
    *("'", '"', "-", "/", "(", "arr[", "]", "[", "{", '{"a":', '"a",', "\\u0041", "\\", "e9", "0.", "猫"),
    *("github a", ": ", "config.json of ", KEY),
    *(
        "llama_kv_cache: size =",
        "# GPU blocks: ",
        "kv_cache_dtype=",
        "Maximum concurrency for ",
        "1,234",
        " (",
        "#tokens: ",
    ),
]
PARSERS: dict[str, Callable[[str], object]] = {
    "config": spec_from_text,
    "metadata": metadata_in,
    "metadata after its key": lambda text: metadata_in(KEY + text),
    "a value of a config": lambda text: spec_from_text(json.dumps({"model_type": "llama", "rope_scaling": text})),
    "log": read_log,
    "log of metadata": lambda text: read_log(f"{text}\nGPU KV cache size: 1,024 tokens"),
    "request": lambda text: checked(text.encode()),
    "prompt": check_text,
    "hub id": checked_id,
    "gpu": find_gpu,
    "format": kv_format,
    "model": lambda text: catalogue()[text],
    "remark": in_chinese,
    "nearest example": nearest_example,
    "words outside the corpus": lambda text: strangers(text[:MOST_OF_A_PROMPT]),
}
LONGEST = MAX_CHARACTERS - 1000
MEASURABLE = 0.03  # seconds of processor; what takes less at the longest text is no worry, and nothing can be measured


def seconds(read: Callable[[str], object], text: str, readings: int = 2) -> float:
    """Processor time of the quickest of these readings; the collector of garbage would count what others left."""
    found = []
    for _ in range(readings):
        gc.disable()
        start = time.thread_time()
        with suppress(GlassLlamaError, RefusedError, KeyError):
            read(text)
        found.append(time.thread_time() - start)
        gc.enable()
    return min(found)


def grows_too_fast(read: Callable[[str], object], head: str, unit: str, tail: str) -> list[float] | None:
    """Times of texts of 1/16, 1/8, … of LONGEST, where one is more than three times the last; else None. One that seems
    so is read again: other programs on the machine slow a reading too, but not all of many."""
    times: list[float] = []
    for share in (16, 8, 4, 2, 1):
        text = head + unit * ((LONGEST // share - len(head) - len(tail)) // len(unit)) + tail
        times.append(seconds(read, text))
        if len(times) > 1 and too_long(times[-1], times[-2]):
            times[-1] = min(times[-1], seconds(read, text, 8))
            if too_long(times[-1], times[-2]):
                return times
    return None


def too_long(time: float, of_half: float) -> bool:
    return time > MEASURABLE and time > 3 * of_half


units = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
ends = st.sampled_from(["", *PIECES])


@pytest.mark.parametrize("name", PARSERS)
@given(head=ends, unit=units, tail=ends)
@example(head="", unit="\n", tail="")
@example(head="1:", unit=" ", tail="x")
@example(head="1: | a.weight", unit="\n", tail="x")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_text_twice_as_long_takes_about_twice_the_time(name: str, head: str, unit: str, tail: str) -> None:
    assert grows_too_fast(PARSERS[name], head, unit, tail) is None


def test_a_reader_that_tries_every_way_is_found_out() -> None:
    """The same regular expression over the whole text, where blank lines can be split in as many ways as there are."""
    slow = re.compile(r"^\s*\d+:", re.MULTILINE)
    times = grows_too_fast(lambda text: slow.findall(text[: LONGEST // 4]), "", "\n", "")
    assert times is not None


@pytest.mark.parametrize("lines", [MAX_LINES + 1, 99_000])
def test_metadata_of_too_many_lines_is_refused(lines: int) -> None:
    with pytest.raises(GlassLlamaError, match=r"number of lines is \d+; expected at most 10,000 lines") as caught:
        spec_from_text("x" + "\n" * lines)
    assert caught.value.params["field"] == "lines"
