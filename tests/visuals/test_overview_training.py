"""The training figures say what the log says."""

import pytest

from model.checkpoint import BUNDLED
from model.record import Entry, Measured, Record, read_record
from model.train.curriculum import recipe
from visuals.overview_training import LINE, ROOM_FOR_A_NUMBER, SKILLS, STAGES, rows_for, training_payload

ANSWERS = {kind: 0.25 for kinds, _, _ in SKILLS.values() for kind in kinds}
LOG = [
    Entry("", 1_000_000, 3.0, 3.5, {}),
    Entry("patterns", 2_000_000, 2.0, 2.5, ANSWERS),
    Entry("stories", 3_500_000, 1.0, 1.5, ANSWERS | {"facts-en": 0.5, "facts-zh": 1.0}),
]


def test_figures_hold_the_logs_numbers() -> None:
    payload = training_payload(Record(LOG, [Measured("recall", "en", 19, 20, 0.95)]))
    (line,) = payload["loss"]["data"]
    assert list(line["x"]) == [1.0, 2.0, 3.5]
    assert list(line["y"]) == [3.5, 2.5, 1.5]
    assert [shape["x0"] for shape in payload["loss"]["layout"]["shapes"]] == [1.0, 2.0]  # where stages begin
    marks = [(note["x"], note["text"], note["hovertext"]) for note in payload["loss"]["layout"]["annotations"]]
    assert marks == [
        (1.0, "text:training.first_stage", "text:training.stage_patterns"),
        (2.0, "2", "text:training.stage_stories"),
    ]
    assert payload["stages"] == [
        {"number": 1, "name": "text:training.stage_patterns", "tokens": 1_000_000},
        {"number": 2, "name": "text:training.stage_stories", "tokens": 2_000_000},
    ]
    for chart in ("loss", "answers"):
        assert list(payload[chart]["layout"]["xaxis"]["range"]) == [0, 3.5]  # one below the other, on one scale
    lines = {line["name"].rpartition("skill_")[2]: line for line in payload["answers"]["data"]}
    assert set(lines) == set(SKILLS)
    assert list(lines["facts"]["x"]) == [2.0, 3.5]  # what was not measured is not drawn
    assert list(lines["facts"]["y"]) == pytest.approx([0.25, 0.75])
    in_ten_thousands = payload["in_ten_thousands"]["loss"]
    assert list(in_ten_thousands["data"][0]["x"]) == [100, 200, 350]
    assert [shape["x0"] for shape in in_ten_thousands["layout"]["shapes"]] == [100, 200]
    assert [note["x"] for note in in_ten_thousands["layout"]["annotations"]] == [100, 200]
    for chart in ("loss", "answers"):
        assert list(payload["in_ten_thousands"][chart]["layout"]["xaxis"]["range"]) == [0, 350]
    assert payload["log"][-1] == ("stories", 3_500_000, 1.0, 1.5)
    assert payload["measured"] == [{"name": "recall", "language": "en", "right": 19, "cases": 20, "bar": 0.95}]


def test_stages_that_begin_close_together_all_have_a_number_and_a_name() -> None:
    stages = [("a", 1), ("a", 50), ("b", 51), ("c", 90), ("a", 100)]  # b begins at 50, c at 51, a again at 90
    log = [Entry(stage, tokens * 1_000_000, 1.0, 1.0, {}) for stage, tokens in stages]
    payload = training_payload(Record(log, []))
    layout = payload["loss"]["layout"]
    assert [shape["x0"] for shape in layout["shapes"]] == [0.0, 50.0, 51.0, 90.0]
    assert [note["text"] for note in layout["annotations"]] == ["text:training.first_stage", "2", "3", "4"]
    assert [stage["name"] for stage in payload["stages"]] == ["a", "b", "c", "a"]
    low, also_low, high, low_again = (-note["ay"] for note in layout["annotations"])
    assert low == also_low == low_again == high - LINE  # 2 and 3 would lie over each other
    assert layout["margin"]["t"] > high + LINE / 2


def test_no_two_numbers_in_a_row_are_too_near() -> None:
    log = read_record(BUNDLED).log
    places = [stage["tokens"] / log[-1].tokens for stage in training_payload(Record(log, []))["stages"]]
    for starts in (places, [0.5 + i / 1000 for i in range(15)], []):
        rows = rows_for(starts, ROOM_FOR_A_NUMBER)
        for i, (start, row) in enumerate(zip(starts, rows, strict=True)):
            assert all(start - starts[j] >= ROOM_FOR_A_NUMBER for j in range(i) if rows[j] == row)
    assert max(rows_for(places, ROOM_FOR_A_NUMBER)) < 5  # the curve below keeps most of the chart


def test_every_stage_of_ours_is_named_by_the_page() -> None:
    trained = {entry.stage for entry in read_record(BUNDLED).log} - {""}  # "" where the log names none
    assert {stage.name for stage in recipe()} | trained == STAGES
    assert drawn_name("stories") == "text:training.stage_stories"


def test_a_stage_of_another_training_is_shown_as_its_log_names_it() -> None:
    assert drawn_name("warm up") == "warm up"


def drawn_name(stage: str) -> str:
    (said,) = training_payload(Record([Entry(stage, 1, 1.0, 1.0, {})], []))["loss"]["data"][0]["customdata"]
    return said


def test_no_record_no_figure() -> None:
    none = {"loss": None, "answers": None}
    nothing = {**none, "in_ten_thousands": none, "stages": [], "log": [], "measured": []}
    assert training_payload(Record([], [])) == nothing
    assert training_payload(Record(LOG[:1], []))["answers"] is None


def test_tags_in_a_stages_name_are_shown_as_they_are_written() -> None:
    log = [Entry("<b>a</b> & b", 1_000_000, 1.0, 1.0, {}), Entry("text:<i>c", 2_000_000, 1.0, 1.0, {})]
    figure = training_payload(Record(log, []))["loss"]
    assert figure["data"][0]["customdata"] == ["&lt;b&gt;a&lt;/b&gt; &amp; b", "text:&lt;i&gt;c"]
    assert figure["layout"]["annotations"][0]["hovertext"] == "&lt;b&gt;a&lt;/b&gt; &amp; b"
