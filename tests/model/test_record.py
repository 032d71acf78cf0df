"""The record beside a checkpoint's weights: read as written, and refused by its file's name where it is damaged."""

import json
from pathlib import Path

import pytest

from model.checkpoint import BUNDLED
from model.errors import GlassLlamaError
from model.record import EVALUATION, LOG, read_record

LINE = {"stage": "patterns", "step": 2, "tokens": 4096, "loss": 2.5, "heldout": 2.75, "answers": {"recall": 0.5}}
FIGURE = {"name": "recall", "language": "en", "case": "x", "cases": 200, "right": 190, "bar": 0.95, "met": True}


def test_the_bundled_models_record() -> None:
    log = read_record(BUNDLED).log
    assert [entry.tokens for entry in log] == sorted(entry.tokens for entry in log)
    assert log[-1].heldout < log[0].heldout


def test_what_is_written_is_read(tmp_path: Path) -> None:
    older = {"step": 1, "tokens": 2048, "loss": 3, "heldout": 3.5, "tokens_per_second": 100}
    (tmp_path / LOG).write_text(f"{json.dumps(older)}\n\n{json.dumps(LINE)}\n")
    (tmp_path / EVALUATION).write_text(json.dumps({"figures": [FIGURE]}))
    log, measured = read_record(tmp_path)
    assert log[0] == ("", 2048, 3.0, 3.5, {})
    assert log[1] == ("patterns", 4096, 2.5, 2.75, {"recall": 0.5})
    assert measured == [("recall", "en", 190, 200, 0.95)]


@pytest.mark.parametrize("directory", [None, Path("nowhere")])
def test_other_checkpoints_have_none(directory: Path | None) -> None:
    assert read_record(directory) == ([], [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (LOG, "{"),
        (LOG, "[]"),
        (LOG, json.dumps({"tokens": 1})),
        (LOG, json.dumps(LINE | {"loss": float("nan")})),
        (LOG, json.dumps(LINE | {"answers": 3})),
        (EVALUATION, "[]"),
        (EVALUATION, json.dumps({"figures": [{}]})),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(GlassLlamaError, match=name):
        read_record(tmp_path)


def test_a_file_that_may_not_be_read_is_named_without_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / LOG).write_text("{}")

    def shut(path: Path, **_how: str) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_text", shut)
    with pytest.raises(GlassLlamaError, match=r"^training_log\.jsonl .+ \(Permission denied\)") as caught:
        read_record(tmp_path)
    assert str(tmp_path) not in str(caught.value)
