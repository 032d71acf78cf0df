"""Both languages say the same things."""

import json
import re
from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from app import build
from app.chapters import CHAPTERS, FIRST, ON_DEMAND, homes
from app.texts import LANGUAGES, on_demand_file, table, text, text_file
from model.analysis.stream_writes import Source
from model.nonfinite import WORDS, Part
from model.record import Entry, Record
from model.train.curriculum import recipe
from visuals import STATIC
from visuals.claims import CLAIMS
from visuals.messages.families import Verdict
from visuals.overview_training import training_payload

# What a text must say and must not say: (key, language, required, forbidden). `*` stands for every text.
SAID = (
    (
        "*",
        "zh",
        (),
        (
            *(
                "答案最离不开",
                "更离不开",
                "头宽度的平方根",
                "权重旁",
                "可分发",
                "个分享",
                "满高",
                "上半部分的层",
                "答对九题",
            ),
            *("从这里看", "各幕都跟着", "添得最多", "高出的部分", "变化可达", "全部重读"),
        ),
    ),
    ("glossary.score_means", "zh", ("每个头的维度（head_dim）的平方根",), ()),
    ("story.map_match", "zh", ("二选一",), ()),
    ("rope.read_most", "zh", ("q·k = {sum}，其中第", "贡献 {term}"), ()),
    ("rope-score.read_most", "zh", ("q·k = {sum}，其中第", "贡献 {term}"), ()),
    ("attention.what", "en", ("exactly 0",), ("not zeros",)),
    ("attention.what", "zh", ("恰好为 0",), ("并不是 0",)),
    ("attention.sinks", "en", ("usual explanation", "like a constant"), ("little harm",)),
    ("attention.sinks", "zh", ("通常的解释", "常数"), ("影响小的地方",)),
    ("attention.sink", "en", ("usual explanation",), ()),
    ("attention.sink", "zh", ("通常的解释",), ()),
    ("attention.myth", "en", ("reads of that cache",), ("memory traffic of decoding",)),
    ("cell.sink", "en", ("usual explanation",), ()),
    ("cell.sink", "zh", ("通常的解释",), ()),
    ("heads.means_copying", "en", ("a / (a + s)", "at most ½", "4r − 1"), ("alone",)),
    ("heads.means_copying", "zh", ("a / (a + s)", "至多为 ½", "4r − 1"), ()),
    ("kv-fit.formula", "en", ("least time of a step", "1 / that time"), ("Bound on decoding: bytes",)),
    ("kv-fit.formula", "zh", ("最短时间", "倒数"), ("上限：每步读取的字节数",)),
    ("kv-fit.bound_how", "en", ("takes at least ({weights} + {cache}) / (TP {ranks} × {bandwidth}) = {ms} ms",), ()),
    ("kv-fit.bound_how", "zh", ("至少需要 ({weights} + {cache}) / (TP {ranks} × {bandwidth}) = {ms} 毫秒",), ()),
    ("kv-fit.bound_stages", "en", ("{cache} of cache / {micro}", "micro-batch"), ()),
    ("kv-fit.bound_stages", "zh", ("{cache} 缓存 / {micro}", "micro-batch"), ()),
    ("kv-fit.bound_drafts", "en", ("draft model, MTP", "multiply"), ()),
    ("kv-fit.bound_drafts", "zh", ("草稿模型、MTP", "乘以"), ()),
    ("kv-fit.spread", "en", ("at least {ms}",), ("up to {ms}",)),
    ("kv-fit.spread", "zh", ("至少需要 {ms}",), ("最多",)),
    ("stream-change.what", "en", ("causal language model", "but for rounding"), ("cannot differ",)),
    ("stream-change.what", "zh", ("因果（自回归）语言模型", "舍入误差"), ("不会有差别",)),
    ("compare.changes_hint", "en", ("zero ablation", "activation patching"), ()),
    ("compare.changes_hint", "zh", ("零消融", "激活修补"), ()),
    ("rmsnorm.what", "en", ("γ",), ()),
    ("rmsnorm.what", "zh", ("γ",), ()),
    ("norm-vector.what", "zh", (), ("其他通道的 RMS",)),
    ("why.by_lot", "en", ("furthest from 0",), ("the largest of",)),
    ("why.by_lot", "zh", ("绝对值最大",), ()),
    ("why.formula", "en", ("masked before the softmax", "up to three tokens", "with Δ"), ("It chooses the token",)),
    ("why.formula", "zh", ("在 softmax 之前被遮住", "至多三个词元", "其中 Δ"), ("由此选出词元",)),
    ("why.what", "en", (), ("every number can be pressed",)),
    ("why.stays", "en", ("either others do the same work, or", "little"), ()),
    ("why.stays", "zh", ("要么别的部件也做着同样的事，要么", "作用不大"), ()),
    ("why.stays_cross", "en", ("either others do the same work, or", "little"), ()),
    ("why.stays_cross", "zh", ("要么别的部件也做着同样的事，要么", "作用不大"), ()),
    ("why.group_stays", "en", ("either others do the same work, or these matter little",), ()),
    ("why.group_stays", "zh", ("要么别的头也做着同样的事，要么这些头作用不大",), ()),
    # Of two probabilities that look alike neither is concluded.
    ("why.stays_alike", "en", (), ("others", "little")),
    ("why.stays_alike", "zh", (), ("同样的事", "作用不大")),
    ("why.stays_alike_cross", "en", (), ("others", "little")),
    ("why.stays_alike_cross", "zh", (), ("同样的事", "作用不大")),
    ("why.parts_means", "en", ("an untried part may be missed more",), ()),
    ("why.parts_means", "zh", ("没有试过的部件，影响也许更大",), ()),
    ("glossary.sink_means", "en", ("usual explanation", "massive activations", "small values"), ()),
    ("glossary.sink_means", "zh", ("通常的解释", "巨大激活", "值向量却很小"), ()),
    ("lens.title", "en", ("output head reads",), ("would say", "predict")),
    ("lens.title", "zh", ("输出矩阵会读出",), ("会说", "预测")),
    ("norm-vector.massive", "en", ("{channel}", "{times}", "above 100", "1,000 times the median"), ()),
    ("norm-vector.massive", "zh", ("{channel}", "{times}", "大于 100", "1,000 倍"), ()),
    ("norm-vector.massive_tokens", "en", ("this run", "{tokens}"), ()),
    ("norm-vector.massive_tokens", "zh", ("本次运行", "{tokens}"), ()),
    ("causal-map.myth", "en", ("often",), ("nothing that is done",)),
    ("causal-map.myth", "zh", ("往往",), ("做什么都没有影响",)),
    ("sampling.myth", "en", ("Here the filters",), ()),
    ("sampling.myth", "zh", ("在这里，两个过滤器",), ()),
    ("kv.place_state", "en", ("Linear-attention or state-space", "short convolutions"), ()),
    ("kv.place_state", "zh", ("线性注意力层或状态空间层", "短卷积层"), ()),
    ("kv.factor_ranks", "zh", ("rank（并行进程）",), ()),
    ("kv.factor_sequences", "zh", ("批量大小",), ()),
    ("kv.field_users", "zh", ("并发用户数",), ()),
    ("kv.part_indexer", "zh", ("索引器的键",), ()),
    ("kv.hub_no_id", "zh", ("Hub 模型名",), ()),
    ("tensor.up", "zh", ("与门控相乘的 up",), ()),
    ("rmsnorm.final", "zh", ("最终归一化",), ()),
    ("ffn-tokens.measure_top", "zh", ("总量",), ()),
    (
        "*",
        "zh",
        (),
        (
            "注意力汇聚",
            "并行单元",
            "Hub 编号",
            "索引键",
            "末尾归一化",
            "末尾 RMS",
            "同时在线",
            "被门控",
            "线性层",
            "批 ×",
        ),
    ),
    ("*", "en", (), ("linear layer", "Linear layer")),
)
HAN, WIDE = "[\u3400-\u9fff]", "，。、；：？！（）《》“”"
# What a text in Chinese must not have, but within a formula: there arguments stand as they do in any language.
NOT_CHINESE = {
    "a half-width mark": rf"{HAN}[,;:?!]|{HAN}\.(?=\s|$)|[,;:?!] *{HAN}",
    "a space beside a full-width mark": rf"[ \u00a0](?![“”])[{WIDE}]|(?![“”])[{WIDE}][ \u00a0]|[“”] {HAN}|{HAN} [“”]",
    "a space between Chinese signs": rf"{HAN}[ \u00a0]+{HAN}",
    "two spaces": r"  |^\s|\s$",
}
FORMULA = re.compile(r"(?:min|b)[(\[][^)\]]*[)\]]|\S+ (?=[×÷])")
PLACEHOLDER = re.compile(r"\{(\w+)(?:@\w+|\|[^|}]*\|[^|}]*)?\}")


@cache
def keys(language: str) -> dict[str, str]:
    return {f"{section}.{name}": words for section, names in table(language).items() for name, words in names.items()}


def test_same_keys_and_placeholders() -> None:
    tables = {language: keys(language) for language in LANGUAGES}
    assert tables["en"].keys() == tables["zh"].keys()
    for key in tables["en"]:
        # what is asked of a finger is in both languages by itself: "点击" is said of both hands
        en, zh = (set(PLACEHOLDER.findall(tables[language][key])) - {"touch"} for language in ("en", "zh"))
        assert en == zh, key


def test_what_comes_on_demand_is_not_asked_for_by_the_first_chapter() -> None:
    """No section stands in both tables, and none of the second is named outside its own chapter's folder."""
    open_first = set(CHAPTERS[FIRST]) - set(ON_DEMAND[FIRST])
    for language in LANGUAGES:
        first, further = (json.loads(file(language).read_text("utf-8")) for file in (text_file, on_demand_file))
        assert not first.keys() & further.keys()
        with_what_tells_them = {"story-cache", "story-learned", "recall", "b_minus_a"}
        further = further.keys() - with_what_tells_them
        assert further <= homes().keys() - open_first
        with_them = {STATIC / "story" / "scenes" / name for name in ("cache", "learned")}
        for path in (path for path in STATIC.rglob("*.js") if path.parent not in with_them):
            named = set(re.findall(r"[\"'`]([\w-]+)\.[a-z]\w*", path.read_text("utf-8"))) & further
            assert named <= {path.stem, *(kind for kind in named if path.parent == STATIC / "panels" / homes()[kind])}


def test_no_text_is_empty_and_chinese_is_chinese() -> None:
    for language in LANGUAGES:
        assert all(words.strip() for words in keys(language).values())
    same = [key for key, words in keys("zh").items() if words == keys("en")[key]]
    assert [key for key in same if len(re.findall(r"[A-Za-z]{3}", PLACEHOLDER.sub("", keys("en")[key]))) > 2] == []


def of_lesson(found: object) -> list[str]:
    """All that a lesson says."""
    if isinstance(found, str):
        return found.split("\n")
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [words for part in parts for words in of_lesson(part)]


def test_chinese_is_set_as_chinese() -> None:
    """Full-width marks, which bring their own space, and no spaces between Chinese signs."""
    said = [(key, line) for key, words in keys("zh").items() for line in words.split("\n")]
    for path in (
        *Path(build.__file__).parent.glob("lessons/*.zh.json"),
        text_file("zh").with_name("catalogue.zh.json"),
    ):
        said += [(path.name, line) for line in of_lesson(json.loads(path.read_text("utf-8")))]
    wrong = [
        (key, name, words[max(0, found.start() - 9) : found.end() + 9])
        for key, line in said
        for words in [FORMULA.sub("x", line)]
        for name, pattern in NOT_CHINESE.items()
        for found in re.finditer(pattern, words)
    ]
    assert wrong == []


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_every_text_that_a_script_names_is_there(path: Path) -> None:
    named = re.findall(r"""\btext\(\s*["']([a-z_]+\.[a-z_0-9]+)["']""", path.read_text(encoding="utf-8"))
    assert [key for key in named if key not in keys("en")] == []


def test_every_part_of_an_explanation_has_its_heading() -> None:
    lists = [
        named
        for path in (STATIC / "panels").rglob("*.js")
        for named in re.findall(r'\bparts: \[("what"[^\]]*)\]', path.read_text(encoding="utf-8"))
    ]
    parts = {part for named in lists for part in re.findall(r'"(\w+)"', named)}
    assert parts >= {"what", "formula", "draw", "scale"}
    assert {f"frame.{part}" for part in parts} <= keys("en").keys()


def test_every_label_is_there() -> None:
    assert [key for words in build.LABELS.values() for key in words.values() if key not in keys("en")] == []


def test_every_claim_has_its_words_and_no_words_are_of_another() -> None:
    of_claims = re.compile(r"family-myths\.(\w+)_(?:claim|right|source)")
    said = [found[1] for key in keys("en") if (found := of_claims.fullmatch(key))]
    assert sorted(said) == sorted(3 * [claim["name"] for claim in CLAIMS])
    verdicts = {f"family-myths.verdict_{verdict}" for verdict in get_args(Verdict)}
    assert verdicts == {key for key in keys("en") if key.startswith("family-myths.verdict_")}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("stage", [stage.name for stage in recipe()])
def test_every_training_stage_has_a_name(stage: str, language: str) -> None:
    (said,) = training_payload(Record([Entry(stage, 1, 1.0, 1.0, {})], []))["loss"]["data"][0]["customdata"]
    assert said.startswith("text:training.")
    assert keys(language)[said.removeprefix("text:")].strip()


def test_placeholders_are_filled_in() -> None:
    assert text("message.prompt_too_long", tokens=600, limit=512).startswith("The prompt has 600 tokens")
    with pytest.raises(KeyError):
        text("page.nothing_like_this")
    with pytest.raises(KeyError):
        text("message.prompt_too_long", tokens=600)


def test_one_is_not_many() -> None:
    assert [text("compare.tokens", count=count) for count in (0, 1, 2)] == ["0 tokens", "1 token", "2 tokens"]
    assert text("rope.sum", pairs=1) == "sum over the 1 pair"
    assert text("overview.title", name="x", n_layers=1, d_model=4, piece="a").startswith("x: 1 layer, ")
    said = text("merges.all_title", tokens=1, characters=1, bytes=3)
    assert said == "The whole run: 1 token, 1 character, 3 bytes"


def test_a_text_may_stand_in_another() -> None:
    """And each that may is there, in both languages."""
    given = {"kind": "NaN", "layer": 3, "token": 5, "piece": "cat", "dtype": "float32"}
    assert "arose in layer 3, in attention, at token 5, “cat”" in text("message.not_finite", **given, part="attn")
    for language in LANGUAGES:
        assert table(language)["where"].keys() == WORDS.keys()
        for part in get_args(Part):
            assert "{" not in text("message.not_finite", language, **given, part=part)
            assert "{" not in text("message.not_finite_encoder", language, **given, part=part)


def test_facts_and_terms_are_worded_rightly() -> None:
    tables = {language: keys(language) for language in LANGUAGES}
    wrong = []
    for key, language, required, forbidden in SAID:
        texts = tables[language] if key == "*" else {key: tables[language][key]}
        wrong += [(name, language, word) for name, said in texts.items() for word in required if word not in said]
        wrong += [(name, language, word) for name, said in texts.items() for word in forbidden if word in said]
    assert wrong == []


def test_the_readmes_do_not_say_that_nothing_is_random() -> None:
    """Sampling draws, with a seed that is shown."""
    root = Path(build.__file__).parents[1]
    assert "没有随机数" not in (root / "README.zh.md").read_text(encoding="utf-8")
    assert "Nothing is random" not in (root / "README.md").read_text(encoding="utf-8")


def test_every_writer_of_a_score_has_a_name() -> None:
    for language in LANGUAGES:
        for kind in get_args(get_type_hints(Source)["kind"]):
            assert table(language)["score-terms"].get(f"source_{kind}"), (language, kind)
