"""Tokenizers from GGUF metadata against those that the metadata was made from, and against transformers' loader."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers.integrations.gguf.gguf_tokenizer_mapping import convert_gguf_tokenizer

from model.checkpoint import BUNDLED
from model.errors import GlassLlamaError
from model.gguf.tokenizer import chat_template, tokenizer_of
from tests.model.gguf.written import CONTROL, NORMAL, byte_level

SAMPLE = [line for line in (BUNDLED / "README.md").read_text(encoding="utf-8").splitlines() if line] * 3 + [
    "It's 2017, isn't it? 12345 猫在沙发上睡觉 naïve cafés don't cost $3.50!\r\n\r\n\tdef f(x):\n        return x  # ok"
]
ODD = [
    "", " ", "  ", "\n", "a", "Hello, world!", "don't I'LL we've", "12345 3.14 ²", "日本語テキスト 猫", "naïve café",
    "e\u0301", "\u200b\u00a0x", "🦙 llamas 👩‍👩‍👧", "\t\ttabs\r\n\r\n", "<|end|>", "x<|end|>y", "ſt ǅ İ", "a" * 300,
    "….—–“”",
    "▁", " ▁ a", "<unk>", "<s>", "</s> x", "<0x41>", "x  y   z ", "\x00\x01",
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(SAMPLE))


def _trained(split: pre_tokenizers.PreTokenizer, **fields: Any) -> Tokenizer:
    back_end = Tokenizer(models.BPE(**fields))
    back_end.pre_tokenizer = split
    back_end.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=["<|end|>"], initial_alphabet=alphabet)
    back_end.train_from_iterator(SAMPLE, trainer)
    return back_end


# As tokenizer.json of Llama 3 and of Qwen 2.5 has them.
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
LLAMA_3 = WORDS + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN_2 = LLAMA_3.replace(r"\p{N}{1,3}", r"\p{N}")


def _words(pattern: str) -> pre_tokenizers.PreTokenizer:
    split = pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False)
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _source(name: str) -> Tokenizer:
    if name == "gpt-2":
        return _trained(pre_tokenizers.ByteLevel(add_prefix_space=False))
    if name == "llama-bpe":
        return _trained(_words(LLAMA_3), ignore_merges=True)
    if name == "qwen2":
        made = _trained(_words(QWEN_2))
        made.normalizer = normalizers.NFC()
        return made
    return Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))


SOURCES = {name: _source(name) for name in ("gpt-2", "llama-bpe", "qwen2", "smollm")}
READ = {
    name: tokenizer_of(byte_level(source, name, ends=("<|end|>",)), source.get_vocab_size())
    for name, source in SOURCES.items()
}


@pytest.mark.parametrize("split", SOURCES)
@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_ids_are_those_of_the_tokenizer_that_the_keys_were_made_from(split: str, text: str) -> None:
    ids = SOURCES[split].encode(text).ids
    assert READ[split].encode(text).ids == ids
    assert READ[split].decode(ids) == SOURCES[split].decode(ids)


def test_a_text_begins_and_ends_as_the_file_says() -> None:
    source = SOURCES["llama-bpe"]
    keys = byte_level(source, "llama-bpe", ends=("<|end|>",))
    size = source.get_vocab_size()
    plain = source.encode("The cat").ids
    assert tokenizer_of(keys, size).encode("The cat").ids == plain
    stated = {**keys, "tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.add_eos_token": True}
    assert tokenizer_of(stated, size).encode("The cat").ids == [0, *plain, 0]
    silent = {name: value for name, value in keys.items() if name != "tokenizer.ggml.add_bos_token"}
    assert tokenizer_of(silent, size).encode("The cat").ids == [0, *plain]  # as llama.cpp takes for granted
    assert chat_template(keys) == "{{ messages }}"
    assert chat_template({}) is None


# SentencePiece: pieces with scores, the best joined first, and bytes for what no piece covers.
PIECES = [
    "<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)),
    "▁t", "he", "▁the", "▁a", "in", "er", "▁s", "▁c", "at", "▁cat", "on", "▁sa", "▁sat", "s", "▁m", "▁mat", "▁the▁",
    *"▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'0123456789猫é",
]  # fmt: skip
SENTENCE_PIECE: dict[str, Any] = {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": list(dict.fromkeys(PIECES)),
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.ggml.unknown_token_id": 0,
    "tokenizer.ggml.add_bos_token": True,
}
_COUNT = len(SENTENCE_PIECE["tokenizer.ggml.tokens"])
SENTENCE_PIECE["tokenizer.ggml.scores"] = [0.0] * 259 + [float(-i) for i in range(_COUNT - 259)]
SENTENCE_PIECE["tokenizer.ggml.token_type"] = [2, CONTROL, CONTROL] + [6] * 256 + [NORMAL] * (_COUNT - 259)


def _by_transformers(keys: dict[str, Any]) -> Tokenizer:
    """What transformers makes of the same metadata, by its own reader's names."""
    names = {"model": "tokenizer_type", "tokens": "tokens", "scores": "scores", "token_type": "token_type"}
    given = {theirs: keys[f"tokenizer.ggml.{ours}"] for ours, theirs in names.items()}
    made, _ = convert_gguf_tokenizer("llama", given)
    return made


BY_TRANSFORMERS = _by_transformers(SENTENCE_PIECE)
BY_US = tokenizer_of(SENTENCE_PIECE, _COUNT)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS)
def test_sentence_piece_gives_the_ids_of_transformers_loader(text: str) -> None:
    # Transformers puts no space before a text that has one, nor before what follows a token such as </s>; SentencePiece
    # and llama.cpp do.
    assume(not text.startswith((" ", "▁")) and not any(end in text for end in ("<s>", "</s>", "<unk>")))
    assert BY_US.encode(text).ids == [1, *BY_TRANSFORMERS.encode(text).ids]


def test_sentence_piece_joins_the_best_pairs_first() -> None:
    tokens = SENTENCE_PIECE["tokenizer.ggml.tokens"]
    assert [tokens[i] for i in BY_US.encode("the cat sat").ids] == ["<s>", "▁the", "▁cat", "▁sat"]
    assert BY_US.decode(BY_US.encode("the cat 🦙").ids) == "the cat 🦙"
    assert [tokens[i] for i in BY_US.encode(" the").ids] == ["<s>", "▁", "▁the"]


def _without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda keys: {key: value for key, value in keys.items() if key != f"tokenizer.ggml.{name}"}


def _with(name: str, value: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda keys: {**keys, f"tokenizer.ggml.{name}": value}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without("model"), r"tokenizer\.ggml\.model is missing; expected one of: gpt2, llama\."),
        (_with("model", "t5"), r"tokenizer\.ggml\.model is 't5'"),
        (_without("pre"), r"tokenizer\.ggml\.pre is missing; expected one of: gpt-2, smollm"),
        (_with("model", ["gpt2"]), r"tokenizer\.ggml\.model is \['gpt2'\]"),
        (_with("pre", [1]), r"tokenizer\.ggml\.pre is \[1\]"),
        (_with("pre", "tekken"), r"tokenizer\.ggml\.pre is 'tekken'"),
        (_without("tokens"), r"tokenizer\.ggml\.tokens is missing; expected a list of texts"),
        (_with("tokens", []), r"tokenizer\.ggml\.tokens is 'a list of 0'"),
        (_with("tokens", ["a"] * 600), r"tokenizer\.ggml\.token"),
        (_without("token_type"), r"tokenizer\.ggml\.token_type is missing"),
        (_with("token_type", [1, 2]), r"tokenizer\.ggml\.token_type is 'a list of 2'; expected one for each"),
        (_with("merges", "a b"), r"tokenizer\.ggml\.merges is 'a b'; expected a list of texts"),
        (_with("merges", ["zz qq"]), r"tokenizer\.ggml\.tokens and its merges make no tokenizer"),
        (_with("merges", ["nospace"]), r"tokenizer\.ggml\.tokens and its merges make no tokenizer"),
        (lambda keys: _with("bos_token_id", 10**6)(_with("add_bos_token", True)(keys)), r"bos_token_id is 1000000"),
    ],
)  # fmt: skip
def test_what_makes_no_tokenizer_is_refused_by_its_key(
    change: Callable[[dict[str, Any]], dict[str, Any]], said: str
) -> None:
    source = SOURCES["gpt-2"]
    with pytest.raises(GlassLlamaError, match=said):
        tokenizer_of(change(byte_level(source, "gpt-2", ends=("<|end|>",))), source.get_vocab_size())


def test_the_keys_hold_all_of_the_tokenizer_that_they_are_made_from() -> None:
    stated = json.loads(SOURCES["smollm"].to_str())["model"]
    assert len(byte_level(SOURCES["smollm"], "smollm")["tokenizer.ggml.merges"]) == len(stated["merges"])
