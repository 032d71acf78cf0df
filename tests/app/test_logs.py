"""What the server writes of itself stays short, however often and however loudly something fails."""

import logging

import pytest

from app import logs
from app.logs import MOST_ALIKE, MOST_CHARACTERS, Bounded, alias
from app.metrics import Metrics
from app.visitors import Visitor


def written(*records: logging.LogRecord) -> list[str]:
    """What of them is written."""
    bounded, layout = Bounded(), logging.Formatter(logs.LAYOUT)
    return [layout.format(record) for record in records if bounded.filter(record)]


def record(text: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("gradio", logging.ERROR, "file", 1, text, args, info)


def test_a_record_is_short() -> None:
    def deep(level: int) -> None:
        if level:
            deep(level - 1)
        raise ValueError("x" * 100_000)

    with pytest.raises(ValueError, match="x") as caught:
        deep(50)
    plain, long, failed = written(
        record("a %s", "b"), record("%s", "y" * 100_000), record("it failed", error=caught.value)
    )
    assert plain.endswith("gradio a b")
    assert len(long) < MOST_CHARACTERS + 100
    assert len(failed) < MOST_CHARACTERS + 200
    assert "Traceback" in failed


def test_of_what_is_alike_a_few_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr("app.logs.time.monotonic", lambda: clock)
    bounded = Bounded()
    many = [record("Invalid HTTP request received.") for _ in range(1000)]
    assert sum(map(bounded.filter, many)) == MOST_ALIKE
    assert bounded.filter(record("another"))
    clock = 11.0
    later = record("Invalid HTTP request received.")
    assert bounded.filter(later)
    assert later.getMessage() == "Invalid HTTP request received. (and 990 like it before)"


def test_a_request_is_one_line_without_a_text_or_an_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="glass_llama.requests")
    metrics, visitor = Metrics(), Visitor("8.8.8.8", "a-session")
    with metrics.work("run", visitor):
        pass
    metrics.refused("generate", "busy", visitor)
    one, two = [line.getMessage() for line in caplog.records]
    assert one.startswith("kind=run seconds=0.000 waited=0.000 visitor=")
    assert two == f"kind=generate refused=busy visitor={alias(visitor)}"
    assert "8.8.8.8" not in one + two
    assert "a-session" not in one + two
    figures = metrics.text().decode()
    assert 'glass_llama_seconds_count{kind="run"} 1.0' in figures
    assert 'glass_llama_refused_total{kind="generate",reason="busy"} 1.0' in figures
    assert "process_resident_memory_bytes" in figures
