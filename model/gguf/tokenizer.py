"""The tokenizer that a GGUF file describes: byte-level BPE, or SentencePiece's BPE with a score for each token.

Splits before BPE are llama.cpp's for each `tokenizer.ggml.pre` (llama-vocab.cpp), which repeats those of the models'
own tokenizer.json; what is not in the table is refused by its name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as BackEnd
from tokenizers.models import BPE

from ..errors import GlassLlamaError, shortly
from ..tokenizer_file import check_back_end, rust_calls

Kind = TypeVar("Kind", str, int, float)

NAME = "tokenizer.ggml."
UNKNOWN, CONTROL, USER_DEFINED, UNUSED = 2, 3, 4, 5  # of gguf's TokenType
SPACE = "▁"  # SentencePiece's sign for one
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _by_words(digits: str) -> pre_tokenizers.PreTokenizer:
    """GPT-4's split into words, with so many digits to a piece, and bytes as symbols."""
    split = pre_tokenizers.Split(Regex(_WORDS.format(digits=digits)), behavior="isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _gpt2() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False)


def _digits_first() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), _gpt2()])


# How a text is split before BPE, by tokenizer.ggml.pre.
SPLITS = {
    "gpt-2": _gpt2,
    "smollm": _digits_first,
    "starcoder": _digits_first,
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3"), lambda: _by_words(r"\p{N}{1,3}")),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "megrez"), lambda: _by_words(r"\p{N}")),
}
# Those that take a whole word from the vocabulary before any merge, those that begin each text with their BOS unless
# told otherwise, and those that compose accents first.
WHOLE_WORDS = BEGINS = frozenset({"llama-bpe", "llama3", "llama-v3"})
COMPOSED = frozenset({"qwen2", "deepseek-r1-qwen", "megrez"})


def tokenizer_of(metadata: Mapping[str, Any], vocab_size: int) -> BackEnd:
    """The tokenizer of GGUF metadata, whose ids are below `vocab_size`. Raises GlassLlamaError, by the key."""
    kind = metadata.get(f"{NAME}model")
    makers = {"gpt2": _byte_level, "llama": _sentence_piece}
    if not isinstance(kind, str) or kind not in makers:
        raise _wrong("model", kind, "one of: " + ", ".join(makers))
    tokens = _list(metadata, "tokens", str)
    if not tokens or len(tokens) > vocab_size:
        raise _wrong("tokens", f"a list of {len(tokens)}", f"1 to {vocab_size} tokens, as many as the embedding has")
    types = _list(metadata, "token_type", int, len(tokens))
    if len(set(tokens)) < len(tokens):
        ((twice, _),) = Counter(tokens).most_common(1)
        raise _wrong("tokens", twice, "each token once")
    with rust_calls(f"GGUF: {NAME}tokens and its merges make no tokenizer", "checkpoint"):
        back_end = makers[kind](metadata, tokens, types)
        back_end.add_special_tokens([_added(token) for token, of in zip(tokens, types, strict=True) if of == CONTROL])
        back_end.add_tokens([_added(token) for token, of in zip(tokens, types, strict=True) if of == USER_DEFINED])
        _add_ends(back_end, metadata, tokens, kind)
    check_back_end(back_end, [], vocab_size)
    return back_end


def chat_template(metadata: Mapping[str, Any]) -> str | None:
    """The Jinja template by which a conversation is written as one text, where the file has one."""
    found = metadata.get("tokenizer.chat_template")
    return found if isinstance(found, str) else None


def special_ids(metadata: Mapping[str, Any]) -> dict[str, int]:
    """The ids of the tokens that begin and end a text, by config.json's names; those that the file states."""
    stated = {f"{name}_token_id": metadata.get(f"{NAME}{name}_token_id") for name in ("bos", "eos")}
    return {name: i for name, i in stated.items() if isinstance(i, int)}


def _byte_level(metadata: Mapping[str, Any], tokens: Sequence[str], types: Sequence[int]) -> BackEnd:
    split = metadata.get(f"{NAME}pre")
    if not isinstance(split, str) or split not in SPLITS:
        raise _wrong("pre", split, "one of: " + ", ".join(SPLITS))
    merges = [merge.partition(" ") for merge in _list(metadata, "merges", str)]
    pairs = [(left, right) for left, _, right in merges]
    back_end = BackEnd(BPE(_vocabulary(tokens, types), pairs, ignore_merges=split in WHOLE_WORDS))
    if split in COMPOSED:
        back_end.normalizer = normalizers.NFC()
    back_end.pre_tokenizer = SPLITS[split]()
    back_end.decoder = decoders.ByteLevel()
    return back_end


def _sentence_piece(metadata: Mapping[str, Any], tokens: Sequence[str], types: Sequence[int]) -> BackEnd:
    scores = _list(metadata, "scores", float, len(tokens))
    vocabulary = _vocabulary(tokens, types)
    unknown = next((token for token, of in zip(tokens, types, strict=True) if of == UNKNOWN), None)
    pairs = _merges(vocabulary, {token: scores[i] for token, i in vocabulary.items()})
    back_end = BackEnd(BPE(vocabulary, pairs, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    prefix = metadata.get(f"{NAME}add_space_prefix", True)
    spaces = normalizers.Replace(" ", SPACE)
    back_end.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), spaces]) if prefix else spaces
    steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    back_end.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if prefix else steps)
    return back_end


def _merges(vocabulary: Mapping[str, int], scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """The pairs that make up each token, the token with the best score first: SentencePiece joins those of the best."""
    pairs = [
        (scores[token], token[:cut], token[cut:])
        for token in vocabulary
        for cut in range(1, len(token))
        if token[:cut] in vocabulary and token[cut:] in vocabulary
    ]
    pairs.sort(key=lambda pair: (-pair[0], vocabulary[pair[1]], vocabulary[pair[2]]))
    return [(left, right) for _, left, right in pairs]


def _vocabulary(tokens: Sequence[str], types: Sequence[int]) -> dict[str, int]:
    """The id of each token; places that the file fills up with names of no token are left out."""
    return {token: i for i, (token, of) in enumerate(zip(tokens, types, strict=True)) if of != UNUSED}


def _added(token: str) -> AddedToken:
    return AddedToken(token, normalized=False)


def _add_ends(back_end: BackEnd, metadata: Mapping[str, Any], tokens: Sequence[str], kind: str) -> None:
    """Has each text begin with the BOS or end with the EOS, as the file or llama.cpp's default says."""
    begins = metadata.get(f"{NAME}add_bos_token", kind == "llama" or metadata.get(f"{NAME}pre") in BEGINS)
    ids = {"bos": begins, "eos": metadata.get(f"{NAME}add_eos_token", False)}
    ends = {name: _token(metadata, f"{name}_token_id", tokens) for name, wanted in ids.items() if wanted}
    if ends:
        single = [*([ends["bos"][0]] if "bos" in ends else []), "$A", *([ends["eos"][0]] if "eos" in ends else [])]
        back_end.post_processor = processors.TemplateProcessing(single=single, special_tokens=list(ends.values()))


def _token(metadata: Mapping[str, Any], name: str, tokens: Sequence[str]) -> tuple[str, int]:
    i = metadata.get(f"{NAME}{name}")
    if not isinstance(i, int) or not 0 <= i < len(tokens):
        raise _wrong(name, i, f"the id of a token, below {len(tokens)}")
    return tokens[i], i


def _list(metadata: Mapping[str, Any], name: str, kind: type[Kind], length: int | None = None) -> list[Kind]:
    found = metadata.get(f"{NAME}{name}")
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        raise _wrong(name, found, "a list of " + {str: "texts", int: "whole numbers", float: "numbers"}[kind])
    if length is not None and len(found) != length:
        raise _wrong(name, f"a list of {len(found)}", f"one for each of the {length} tokens")
    return found


def _wrong(name: str, value: object, right: str) -> GlassLlamaError:
    field = f"{NAME}{name}"
    said = "is missing" if value is None else f"is {shortly(value)}"
    return GlassLlamaError("checkpoint", f"GGUF: {field} {said}; expected {right}.", field=field)
