"""Replayed merges end in the tokens that `tokenizers` gives: byte-level and SentencePiece-style, on any text."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as BackEnd
from tokenizers import decoders, models, normalizers, trainers

from model.analysis.bpe import BytePairs, Split, byte_pairs, model_type, split_characters
from model.checkpoint import BUNDLED
from model.tokenizer import Tokenizer

TEXTS = [
    "The cat sleeps on the sofa. Tom's dog isn't here, at 12:30!",
    "猫在沙发上睡觉。狗在院子里玩。龘靐齉",
    "👩‍👩‍👧 🇨🇳 e\u0301 naïve Ωmega",
    "two\nlines\tand a tab      and many spaces",
    "aaaaaaaaaaaaaaaaaaaaaaaaa",
    "".join(chr(i) for i in range(1, 600)),
]


def sentence_piece(**options) -> BackEnd:
    """A tokenizer of LLaMA 2's kind: ▁ for spaces, no pre-tokenizer, single bytes for what the vocabulary lacks."""
    tokenizer = BackEnd(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True, **options))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(parts)
    bytes_of = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", *bytes_of], show_progress=False)
    tokenizer.train_from_iterator([TEXTS[0], TEXTS[1]] * 4, trainer)
    # Bytes are ordinary tokens of the vocabulary in LLaMA 2's file; the trainer can add them as special ones alone.
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = [token for token in spec["added_tokens"] if not token["content"].startswith("<0x")]
    return BackEnd.from_str(json.dumps(spec))


def llama3() -> BackEnd:
    """Byte-level, and a word of the vocabulary is taken whole, also where no chain of merges leads to it."""
    spec = json.loads(BackEnd.from_file(str(BUNDLED / "tokenizer.json")).to_str())
    spec["model"]["ignore_merges"] = True
    spec["model"]["vocab"]["zqzqz"] = len(spec["model"]["vocab"])
    return BackEnd.from_str(json.dumps(spec))


@pytest.fixture(scope="module", params=["bundled", "sentence_piece", "llama3"])
def tokenizer(request) -> Tokenizer:
    if request.param == "bundled":
        return Tokenizer.from_file(BUNDLED / "tokenizer.json")
    return Tokenizer({"sentence_piece": sentence_piece, "llama3": llama3}[request.param]())


def words(back_end: BackEnd, text: str) -> list[str]:
    """The words that BPE is run on, cut by the library."""
    text = back_end.normalizer.normalize_str(text) if back_end.normalizer else text
    return [word for word, _ in back_end.pre_tokenizer.pre_tokenize_str(text)] if back_end.pre_tokenizer else [text]


def check(tokenizer: Tokenizer, text: str) -> None:
    pairs = byte_pairs(tokenizer)
    assert pairs is not None
    truth = tokenizer.encode(text)
    assert [token for word in words(tokenizer.back_end, text) for token in pairs.encode(word)] == truth
    for token in set(truth):  # a token alone is made as inside its word
        symbols = tokenizer.back_end.id_to_token(token)
        if not symbols.startswith("<0x") and not (pairs.whole_words and symbols == "zqzqz"):
            assert pairs.replay(symbols).tokens == [token]


@pytest.mark.parametrize("text", TEXTS)
def test_the_replay_ends_in_the_librarys_tokens(tokenizer: Tokenizer, text: str) -> None:
    check(tokenizer, text)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_on_any_text(tokenizer: Tokenizer, text: str) -> None:
    check(tokenizer, text)


@given(raw=st.binary(min_size=1, max_size=40))
def test_on_random_bytes(tokenizer: Tokenizer, raw: bytes) -> None:
    check(tokenizer, raw.decode("latin-1"))


@given(parts=st.lists(st.sampled_from(["the", " ", "cat", "th", "猫", "在", "Tom", "ing", "e", "\n"]), min_size=1))
def test_on_text_full_of_merges(tokenizer: Tokenizer, parts: list[str]) -> None:
    check(tokenizer, "".join(parts))


@given(tokens=st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
def test_every_merge_is_the_lowest_that_stands(tokens: list[str]) -> None:
    merges = [["a", "b"], ["b", "b"], ["ab", "c"], ["c", "a"], ["bb", "a"]]
    names = ["a", "b", "c", *("".join(pair) for pair in merges)]
    pairs = BytePairs({"vocab": {name: i for i, name in enumerate(names)}, "merges": merges})
    replay = pairs.replay("".join(tokens))
    held = list(replay.base)
    ranks = {tuple(names.index(part) for part in pair): rank for rank, pair in enumerate(merges)}
    for merge in replay.merges:
        standing = [ranks[pair] for pair in pairwise(held) if pair in ranks]
        assert merge.rank == min(standing)
        assert (merge.left, merge.right) == tuple(held[merge.at : merge.at + 2])
        assert names[merge.into] == names[merge.left] + names[merge.right]
        held[merge.at : merge.at + 2] = [merge.into]
    assert held == replay.tokens
    assert not any(pair in ranks for pair in pairwise(held))


def test_a_word_of_the_vocabulary_without_merges() -> None:
    tokenizer = Tokenizer(llama3())
    pairs = byte_pairs(tokenizer)
    assert pairs is not None
    (token,) = tokenizer.encode("zqzqz")
    assert pairs.encode("zqzqz") == [token]
    assert pairs.replay("zqzqz").tokens != [token]


def test_continuing_prefix_end_suffix_and_unknown() -> None:
    options = {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>", "unk_token": "?", "fuse_unk": True}
    vocab = ["?", "a", "##b", "##c", "##b</w>", "ab", "abb</w>"]
    merges = [("a", "##b"), ("ab", "##b</w>")]
    back_end = BackEnd(models.BPE({name: i for i, name in enumerate(vocab)}, merges, **options))
    pairs = byte_pairs(Tokenizer(back_end))
    assert pairs is not None
    for word in ("abb", "abc", "axxb", "xxab", "b", "acb"):
        assert pairs.encode(word) == back_end.encode(word).ids, word


def test_a_tokenizer_without_merges() -> None:
    tokenizer = Tokenizer(BackEnd(models.Unigram([("<unk>", 0.0), ("a", -1.0)], unk_id=0)))
    assert model_type(tokenizer) == "Unigram"
    assert byte_pairs(tokenizer) is None


def test_characters_across_tokens() -> None:
    cat, smile = "猫".encode(), "🙂".encode()
    assert split_characters([b"a", cat[:1], cat[1:], b"b"]) == [Split("猫", 1, 2)]
    assert split_characters([smile[:1], smile[1:2], smile[2:] + b"x", cat]) == [Split("🙂", 0, 2)]
    assert split_characters([cat[:2], None, cat[2:]]) == []
    assert split_characters([cat[:2]]) == []
    assert split_characters([]) == []


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), seed=st.randoms())
def test_a_cut_text_gives_back_the_characters_that_were_cut(text: str, seed) -> None:
    raw = text.encode()
    cuts = sorted({seed.randrange(len(raw) + 1) for _ in range(4)} | {0, len(raw)})
    parts = [raw[a:b] for a, b in pairwise(cuts)]
    starts = [len(text[:i].encode()) for i in range(len(text) + 1)]
    wanted = [text[i] for i in range(len(text)) if any(starts[i] < cut < starts[i + 1] for cut in cuts)]
    assert [split.character for split in split_characters(parts)] == wanted
