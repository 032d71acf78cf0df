"""Reading a tokenizer.json. Knows nothing about networks.

A file is refused, with the name of the field, where it would change ids in silence, fail on some texts, or make very
long output of a short text.
"""

import base64
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import Regex, normalizers
from tokenizers import Tokenizer as BackEnd

from .errors import GlassLlamaError, clipped, reason, shortly

# How large a tokenizer.json may be: a token takes some 130 bytes at most in published ones, with its merges.
BYTES_AT_LEAST, BYTES_A_TOKEN = 2**20, 512
MOST_TOKENS = 2**20  # where nothing says how many there are
# How many characters may come of one, and be added to a text; standard Unicode forms are not counted.
MOST_GROWTH = 64
MOST_ADDED = 64  # tokens around a text
LONGEST_TOKEN = 16_384  # characters
PROBES = ("", "a", "\U0010fffd", "The cat 猫 é 12.\n\t ")
CHILDREN = ("normalizers", "pretokenizers", "processors", "decoders")
# Bytes that stand in some UTF-8 text.
UTF8 = frozenset(range(256)) - {0xC0, 0xC1, *range(0xF5, 0x100)}


class Node(NamedTuple):
    """A step of a tokenizer, as the file has it, and the field that it stands in."""

    field: str
    step: dict[str, Any]

    @property
    def kind(self) -> str:
        return self.step.get("type", "")


@contextmanager
def rust_calls(what: str, code: str = "tokenizer") -> Iterator[None]:
    """Whatever goes wrong in `tokenizers` while the context lasts becomes a GlassLlamaError of one line, after `what`.

    The library raises bare Exceptions. A panic in its Rust code is a BaseException, which would pass every handler
    between here and whoever waits for an answer.
    """
    try:
        yield
    except GlassLlamaError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
            raise
        said = clipped(str(error), 200)
        raise GlassLlamaError(code, f"{what}: {said}", reason=said) from error


def read_back_end(path: Path, vocab_size: int = MOST_TOKENS) -> BackEnd:
    """The tokenizer of a file, whose ids are all below `vocab_size`. As in transformers, it cuts and pads nothing.

    Raises GlassLlamaError, naming file and field.
    """
    text = _text(path, BYTES_AT_LEAST + BYTES_A_TOKEN * min(vocab_size, MOST_TOKENS))
    with rust_calls(f"{path} is not a tokenizer that this program can read", "checkpoint"):
        back_end = BackEnd.from_str(text)
    back_end.no_truncation()
    back_end.no_padding()
    try:
        check_back_end(back_end, json.loads(text).get("added_tokens") or [], vocab_size)
    except GlassLlamaError as error:
        raise GlassLlamaError("checkpoint", f"{path}: {error}", **error.params) from error
    return back_end


def check_back_end(back_end: BackEnd, added: list[dict[str, Any]], vocab_size: int) -> None:
    """Raises GlassLlamaError, by the field, where a tokenizer would give wrong ids, fail or blow up.

    `added` has the added tokens as a file lists them; ids are to be below `vocab_size`.
    """
    check_steps(back_end)
    check_tokens(back_end, added, vocab_size)
    with rust_calls("it fails on a short text", "checkpoint"):
        _try_out(back_end, vocab_size)


def _text(path: Path, most: int) -> str:
    if not path.is_file():
        raise GlassLlamaError("checkpoint", f"{path} is missing; a checkpoint needs config.json, tokenizer.json "
                              "and safetensors files.")  # fmt: skip
    try:
        size = path.stat().st_size
        if size > most:
            said = f"{path} has {size:,} bytes; expected at most {most:,} for a vocabulary of its size."
            raise GlassLlamaError("checkpoint", said)
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = f"{path} is not a tokenizer that this program can read: {clipped(reason(error), 200)}"
        raise GlassLlamaError("checkpoint", said) from error


def check_steps(back_end: BackEnd) -> None:
    """Raises GlassLlamaError for a step by which ids would differ from time to time, a text could vanish or blow up."""
    before = [*steps("normalizer", back_end.normalizer), *steps("pre_tokenizer", back_end.pre_tokenizer)]
    after = list(steps("decoder", back_end.decoder))
    for node in (*before, *after):
        _check_pattern(node)
    for chain in (before, after):
        _check_growth(chain)
    for node in steps("post_processor", back_end.post_processor):
        _check_template(node)
    model = back_end.model
    if dropout := getattr(model, "dropout", None):
        raise _refusal("model.dropout", dropout, "null: with it the same text has other ids each time")
    _check_unknown(back_end, any(node.kind == "ByteLevel" for node in before))


def steps(field: str, part: Any) -> Iterator[Node]:
    """A part of a tokenizer and all that it is made of, in the order in which they work."""
    if part is not None:
        yield from _within(field, json.loads(part.__getstate__()))


def _within(field: str, step: dict[str, Any]) -> Iterator[Node]:
    name = next((name for name in CHILDREN if name in step), None)
    if name is None:
        yield Node(field, step)
        return
    for i, child in enumerate(step[name]):
        yield from _within(f"{field}.{name}[{i}]", child)


def _check_pattern(node: Node) -> None:
    """A pattern that matches nothing at all matches everywhere, on which `tokenizers` panics."""
    pattern = node.step.get("pattern")
    if not isinstance(pattern, dict):
        return
    ((kind, words),) = pattern.items()
    seldom = "\U0010fffd"
    with rust_calls(f"{node.field}.pattern.{kind} is {shortly(words)}, which fails"):
        marked = normalizers.Replace(Regex(words) if kind == "Regex" else words, "\x01").normalize_str(seldom)
    empty = not words or (marked != seldom and marked.replace("\x01", "") == seldom)
    if empty:
        raise _refusal(f"{node.field}.pattern.{kind}", words, "a pattern that matches at least one character")


def _check_growth(chain: list[Node]) -> None:
    growth = 1
    for node in chain:
        growth *= _growth(node)
        if growth > MOST_GROWTH:
            said = f"with it one character becomes up to {min(growth, 10**12):,}; expected up to {MOST_GROWTH} in all"
            raise GlassLlamaError("checkpoint", f"{node.field} ({node.kind}): {said}.", field=node.field)


def _growth(node: Node) -> int:
    """How many characters may come of one."""
    step = node.step
    if node.kind == "Replace":
        words = step["pattern"].get("String")
        return max(1, math.ceil(len(step["content"]) / (len(words) if words else 1)))
    if node.kind == "Prepend":
        return 1 + len(step["prepend"])
    if node.kind == "Precompiled":
        return _longest_of(step["precompiled_charsmap"])
    return 2 if node.kind == "ByteLevel" else 1


def _longest_of(charsmap: str) -> int:
    """The longest text, in characters, that SentencePiece's map puts for one: a trie's size, the trie, then texts."""
    blob = base64.b64decode(charsmap)
    texts = blob[4 + int.from_bytes(blob[:4], "little") :]
    return max(1, *(len(text.decode(errors="replace")) for text in texts.split(b"\0")))


def _check_template(node: Node) -> None:
    """Raises where a post-processor does not put a few tokens around one copy of the text."""
    if node.kind != "TemplateProcessing":
        return
    pieces = node.step["single"]
    texts = [piece["Sequence"]["id"] for piece in pieces if "Sequence" in piece]
    added = [piece["SpecialToken"]["id"] for piece in pieces if "SpecialToken" in piece]
    if texts != ["A"]:
        raise _refusal(f"{node.field}.single", pieces, "the text (Sequence A) once")
    if sum(len(node.step["special_tokens"][name]["ids"]) for name in added) > MOST_ADDED:
        raise _refusal(f"{node.field}.single", pieces, f"up to {MOST_ADDED} tokens around the text")


def _check_unknown(back_end: BackEnd, byte_level: bool) -> None:
    """Raises where a text that the vocabulary does not cover would fail, or lose characters without a word."""
    model, vocabulary = back_end.model, back_end.get_vocab(with_added_tokens=False)
    kind = type(model).__name__
    if byte_level and kind == "BPE":
        return  # what single bytes it lacks, Tokenizer.encode says
    if getattr(model, "byte_fallback", False) and all(f"<0x{byte:02X}>" in vocabulary for byte in UTF8):
        return
    if kind == "Unigram":
        if json.loads(model.__getstate__()).get("unk_id") is None:
            raise _refusal("model.unk_id", None, "the id of the token for unknown text")
    elif model.unk_token is None or model.unk_token not in vocabulary:
        raise _refusal("model.unk_token", model.unk_token, "a token of the vocabulary, for unknown text")


def lacking_bytes(back_end: BackEnd, byte_of: dict[str, int] | None) -> frozenset[int]:
    """Which bytes of UTF-8 a byte-level vocabulary has no token for, so that their characters would vanish.

    `byte_of` gives the byte of each symbol; it is None for other vocabularies.
    """
    if byte_of is None or getattr(back_end.model, "unk_token", None) is not None:
        return frozenset()
    return UTF8 - {byte for symbol, byte in byte_of.items() if back_end.token_to_id(symbol) is not None}


def check_tokens(back_end: BackEnd, added: list[dict[str, Any]], vocab_size: int) -> None:
    """Raises where two tokens have one id, an id is beyond the network's, a token is enormous, or an added token stands
    under another id than the file says."""
    vocabulary = back_end.get_vocab(with_added_tokens=True)
    if len(longest := max(vocabulary, key=len, default="")) > LONGEST_TOKEN:
        raise _refusal("model.vocab", longest, f"tokens of up to {LONGEST_TOKEN:,} characters")
    names: dict[int, str] = {}
    for name, i in vocabulary.items():
        if i in names:
            raise _refusal("model.vocab", {name: i}, f"an id of its own: {shortly(names[i])} has that one")
        names[i] = name
    for n, token in enumerate(added):
        name, here = token["content"], vocabulary.get(token["content"])
        if name and here != token["id"]:
            has = "is no token" if here is None else f"has id {here}"
            raise _refusal(f"added_tokens[{n}].id", token["id"], f"another: {shortly(name)} {has} in the vocabulary")
    if names and (highest := max(names)) >= vocab_size:
        field = "added_tokens" if any(token["id"] == highest for token in added) else "model.vocab"
        said = f"{field}: {shortly(names[highest])} has id {highest}, but config.json's vocab_size is {vocab_size}"
        raise GlassLlamaError("checkpoint", f"{said}; the two files do not belong together.", field=field)


def _try_out(back_end: BackEnd, vocab_size: int) -> None:
    for probe in PROBES:
        ids = back_end.encode(probe).ids
        back_end.decode(ids)
        if beyond := [i for i in ids if i >= vocab_size]:
            raise _refusal("post_processor", beyond[0], f"token ids below {vocab_size}")


def _refusal(field: str, value: object, expected: str) -> GlassLlamaError:
    return GlassLlamaError("checkpoint", f"{field} is {shortly(value)}; expected {expected}.", field=field)
