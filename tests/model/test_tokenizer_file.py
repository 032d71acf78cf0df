"""What a tokenizer.json may say beside its vocabulary: followed as transformers does, or refused; and what always holds
where the library fails.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as BackEnd
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import model
from app.engine import LocalEngine
from app.service import Service
from model.errors import GlassLlamaError
from model.tokenizer import Tokenizer
from model.tokenizer_file import BYTES_A_TOKEN, BYTES_AT_LEAST, rust_calls
from tests.standin import make_tokenizer

TEXT = "The cat sleeps on the sofa, 猫在沙发上睡觉。"
CUT = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
PAD = {"strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
       "pad_token": "<|end|>"}  # fmt: skip


def written(path: Path, **parts: Any) -> Path:
    raw = json.loads(make_tokenizer().to_str())
    raw["model"] |= parts.pop("model", {})
    (path / "tokenizer.json").write_text(json.dumps(raw | parts))
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return path / "tokenizer.json"


@pytest.mark.parametrize(
    "parts",
    [{"truncation": CUT}, {"padding": PAD}, {"truncation": CUT, "padding": PAD}, {"model": {"dropout": 0.0}}],
    ids=["truncation", "padding", "both", "a dropout of 0"],
)
def test_nothing_is_cut_or_padded_as_in_transformers(tmp_path: Path, parts: dict[str, Any]) -> None:
    ours = Tokenizer.from_file(path := written(tmp_path, **parts))
    ids = ours.encode(TEXT)
    assert ids == Tokenizer(make_tokenizer()).encode(TEXT)
    assert ids == PreTrainedTokenizerFast(tokenizer_file=str(path))(TEXT)["input_ids"]
    assert ids == AutoTokenizer.from_pretrained(tmp_path)(TEXT)["input_ids"]
    assert ours.decode(ids) == TEXT


def test_dropout_is_refused_since_ids_would_differ_each_time(tmp_path: Path) -> None:
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(path := written(tmp_path, model={"dropout": 0.5})))
    assert len({tuple(theirs(TEXT)["input_ids"]) for _ in range(20)}) > 1
    with pytest.raises(GlassLlamaError, match=r"tokenizer\.json: model\.dropout is 0\.5; expected null"):
        Tokenizer.from_file(path)


@pytest.mark.parametrize("directory", ["bundled", "zoo/t5", "zoo/bloom", "zoo/llama"])
def test_ours_are_read(directory: str) -> None:
    path = Path(model.__file__).parent / directory / "tokenizer.json"
    vocab_size = json.loads((path.parent / "config.json").read_text())["vocab_size"]
    assert path.stat().st_size < BYTES_AT_LEAST + BYTES_A_TOKEN * vocab_size
    tokenizer = Tokenizer.from_file(path, vocab_size)
    assert tokenizer.decode(tokenizer.encode(TEXT)) == TEXT


# The steps of published tokenizers: LLaMA 1 and 2, Mixtral; T5; Qwen; DeepSeek; LLaMA 3.
PUBLISHED: dict[str, dict[str, Any]] = {
    "sentencepiece": {
        "normalizer": normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    },
    "spaces": {"normalizer": normalizers.Sequence([normalizers.Replace(Regex(" {2,}"), "▁"), normalizers.NFKC()])},
    "qwen": {
        "normalizer": normalizers.NFC(),
        "pre_tokenizer": pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(
                    Regex(
                        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
                    ),
                    "isolated",
                ),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    },
    "deepseek": {
        "pre_tokenizer": pre_tokenizers.Sequence(
            [
                *(
                    pre_tokenizers.Split(Regex(one), "isolated")
                    for one in ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"\s+$")
                ),
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_steps_of_published_tokenizers_are_read(tmp_path: Path, name: str) -> None:
    back_end = make_tokenizer()
    for part, step in PUBLISHED[name].items():
        setattr(back_end, part, step)
    back_end.save(str(tmp_path / "tokenizer.json"))
    ids = Tokenizer.from_file(tmp_path / "tokenizer.json").encode(TEXT.replace("▁", ""))
    assert ids == back_end.encode(TEXT).ids


def panicking() -> BackEnd:
    """One on which the library's own code panics."""
    back_end = make_tokenizer()
    back_end.normalizer = normalizers.Replace("", "y")
    return back_end


def test_a_panic_of_the_library_is_an_error_that_is_heard_of(lm: model.LanguageModel) -> None:
    tokenizer = Tokenizer(panicking())
    for ask in (tokenizer.encode, tokenizer.spans):
        with pytest.raises(GlassLlamaError, match=r"^prompt: the tokenizer fails on this text: ") as caught:
            ask("The cat")
        assert caught.value.code == "tokenizer"
    broken = model.LanguageModel("broken", lm.config, tokenizer, lm.net)
    service = Service(LocalEngine([broken]))
    said = service.run("The cat", "broken")
    assert (said["kind"], said["code"]) == ("message", "tokenizer")
    (said,) = service.generate("The cat", "broken", 2, (0, 0, 1, 0), {})
    assert (said["kind"], said["code"]) == ("message", "tokenizer")


def test_what_ends_the_program_still_does() -> None:
    for end in (KeyboardInterrupt, SystemExit):
        with pytest.raises(end), rust_calls("a call"):
            raise end


def test_a_text_that_the_vocabulary_does_not_cover_is_refused_and_never_shortened() -> None:
    back_end = BackEnd(models.WordLevel({"The": 0}, unk_token="[UNK]"))
    with pytest.raises(GlassLlamaError, match="Missing \\[UNK\\] token"):
        Tokenizer(back_end).encode("cat")
    raw = json.loads(make_tokenizer().to_str())
    del raw["model"]["vocab"]["ç"]  # the byte E7, in which 猫 begins
    raw["model"]["merges"] = []
    tokenizer = Tokenizer(BackEnd.from_str(json.dumps(raw)))
    assert tokenizer.decode(tokenizer.encode("The cat, é")) == "The cat, é"
    with pytest.raises(GlassLlamaError, match="no token for byte E7 of '猫'; leave it out") as caught:
        tokenizer.encode("a 猫")
    assert (caught.value.code, caught.value.params) == ("unknown_character", {"character": "猫"})


def test_a_byte_level_token_with_other_characters_is_shown_as_its_decoder_reads_it() -> None:
    raw = json.loads(make_tokenizer().to_str())
    raw["model"]["vocab"]["猫"] = 320
    tokenizer = Tokenizer(BackEnd.from_str(json.dumps(raw)))
    assert tokenizer.pieces([320]) == ["猫"] == [tokenizer.decode([320])]
