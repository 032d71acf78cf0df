"""What may be wrong with tokenizer.json, and what is said of it. DIR stands for the checkpoint's directory."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.model.damage.ways import Damage, content, folder_instead, link_instead, pipe_instead, sparse


def tokenizer(change: Callable[[dict[str, Any]], Any]) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "tokenizer.json"
        raw = json.loads(path.read_text())
        change(raw)
        path.write_text(json.dumps(raw))

    return damage


def part(**parts: Any) -> Damage:
    return tokenizer(lambda raw: raw.update(parts))


def language(**fields: Any) -> Damage:
    return tokenizer(lambda raw: raw["model"].update(fields))


def replaces(words: str, by: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: words}, "content": by}


def splits(words: str, kind: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {kind: words}, "behavior": "Isolated", "invert": False}


def chain(*normalizers: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(normalizers)}


def added(**token: Any) -> Damage:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return tokenizer(lambda raw: raw["added_tokens"].append(plain | token))


def template(*single: dict[str, Any], ids: list[int] | None = None) -> Damage:
    special = {"<s>": {"id": "<s>", "ids": ids or [0], "tokens": ["<s>"] * len(ids or [0])}}
    pair = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    step = {"type": "TemplateProcessing", "single": list(single), "pair": pair, "special_tokens": special}
    return part(post_processor=step)


TEXT, START = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<s>", "type_id": 0}}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
DOUBLE = replaces(" ", "  ")
WORDS = {"type": "WordLevel", "vocab": {"The": 0, "cat": 1}, "unk_token": "[UNK]"}
PIECES = {
    "type": "WordPiece",
    "vocab": {"The": 0},
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
}
UNIGRAM = {"type": "Unigram", "vocab": [["The", -1.0]], "unk_id": None, "byte_fallback": False}
CHARACTERS = {"vocab": {"The": 0, "T": 1}, "merges": []}
AT = r"^DIR/tokenizer\.json"
UNREADABLE = AT + " is not a tokenizer that this program can read: "
TOKENIZERS: dict[str, tuple[Damage, str]] = {
    "no file": (lambda directory: (directory / "tokenizer.json").unlink(), AT + " is missing"),
    **{
        f"content {data!r:.20}": (content("tokenizer.json", data), UNREADABLE)
        for data in (
            b"",
            b"{",
            b"{}",
            b"[]",
            b"\xff\xfe",
            b"[" * 10**5,
            b'{"model": {}}',
            b'{"version": "9.9"}',
        )
    },
    "a folder": (folder_instead("tokenizer.json"), AT + " is missing"),
    "a pipe": (pipe_instead("tokenizer.json"), AT + " is missing"),
    "a link to another file": (link_instead("tokenizer.json", "/etc/passwd"), UNREADABLE),
    "10 GB": (sparse("tokenizer.json", 10**10), AT + " has 10,000,000,000 bytes; expected at most 1,212,416"),
    "100 MB of merges": (
        content("tokenizer.json", '{"model": {"type": "BPE", "merges": [' + '["a","b"],' * 10**7 + "]}}"),
        AT + r" has [\d,]+ bytes; expected at most",
    ),
    "a deep step": (
        part(normalizer=json.loads('{"type":"Sequence","normalizers":[' * 200 + '{"type":"NFC"}' + "]}" * 200)),
        UNREADABLE,
    ),
    "an unknown step": (part(normalizer={"type": "Shout"}), UNREADABLE),
    "an unknown model": (part(model={"type": "Guess"}), UNREADABLE),
    "a charsmap that is none": (part(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}), UNREADABLE),
    "a regex that is none": (part(normalizer=replaces("(", "a", "Regex")), UNREADABLE),
    **{
        f"replace {kind} {words!r}": (
            part(normalizer=replaces(words, "y", kind)),
            AT + rf": normalizer\.pattern\.{kind} is {re.escape(repr(words))}; expected a pattern",
        )
        for kind, words in (("Regex", ""), ("String", ""), ("Regex", "x*"), ("Regex", "x?|"), ("Regex", "(?=)"))
    },
    **{
        f"split {kind} {words!r}": (
            part(pre_tokenizer={"type": "Sequence", "pretokenizers": [splits(words, kind), BYTES]}),
            AT + rf": pre_tokenizer\.pretokenizers\[0\]\.pattern\.{kind} is {re.escape(repr(words))};",
        )
        for kind, words in (("Regex", ""), ("String", ""), ("Regex", "x*"))
    },
    "a decoder that replaces nothing": (
        part(decoder={"type": "Sequence", "decoders": [replaces("", "y")]}),
        AT + r": decoder\.decoders\[0\]\.pattern\.String is ''",
    ),
    "a million for one": (
        part(normalizer=replaces(" ", "x" * 10**6)),
        AT + r": normalizer \(Replace\): with it one charac",
    ),
    "a million for one, by a regex": (
        part(normalizer=replaces("[ ]", "x" * 10**6, "Regex")),
        AT + r": normalizer \(Replace",
    ),
    "doubled forty times": (
        part(normalizer=chain(*[DOUBLE] * 40)),
        AT + r": normalizer\.normalizers\[6\] \(Replace\): with",
    ),
    "nested": (
        part(normalizer=chain(chain(*[DOUBLE] * 4), chain(*[DOUBLE] * 4))),
        AT + r": normalizer\.normalizers\[1\]\.normalizers\[2\] \(Replace\): with it one character becomes up to 128",
    ),
    "put before": (
        part(normalizer={"type": "Prepend", "prepend": "x" * 10**6}),
        AT + r": normalizer \(Prepend\): with it",
    ),
    "bytes of bytes of bytes": (
        part(pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTES] * 30}),
        AT + r": pre_tokenizer\.pretokenizers\[6\] \(ByteLevel\): with it one character",
    ),
    "a decoder that doubles": (
        part(decoder={"type": "Sequence", "decoders": [replaces("e", "ee")] * 40}),
        AT + r": decoder\.decoders\[6\] \(Replace\): with it one character becomes up to 128",
    ),
    "dropout": (language(dropout=0.1), AT + r": model\.dropout is 0\.1.*; expected null"),
    "dropout of all": (language(dropout=1.0), AT + r": model\.dropout is 1\.0; expected null"),
    "dropout beyond": (language(dropout=2.0), UNREADABLE),
    "words without unknown": (
        part(model=WORDS),
        AT + r": model\.unk_token is '\[UNK\]'; expected a token of the vocabulary",
    ),
    "pieces without unknown": (part(model=PIECES), AT + r": model\.unk_token is '\[UNK\]'"),
    "unigram without unknown": (
        part(model=UNIGRAM, pre_tokenizer=None),
        AT + r": model\.unk_id is None; expected the id",
    ),
    "unigram with one beyond": (part(model=UNIGRAM | {"unk_id": 5}), UNREADABLE),
    "characters without unknown": (
        tokenizer(lambda raw: (raw["model"].update(CHARACTERS), raw.update(pre_tokenizer=None))),
        AT + r": model\.unk_token is None; expected a token of the vocabulary",
    ),
    "an unknown that is none": (
        tokenizer(lambda raw: (raw["model"].update(CHARACTERS, unk_token="?"), raw.pop("pre_tokenizer"))),
        AT + r": model\.unk_token is '\?'",
    ),
    "bytes that are lacking": (
        tokenizer(lambda raw: (raw["model"]["vocab"].pop("ç"), raw["model"].update(merges=[]))),
        "^prompt: the model has no token for byte E7 of '猫'",
    ),
    "an id below 0": (tokenizer(lambda raw: raw["model"]["vocab"].update(neg=-1)), UNREADABLE),
    "an id that is none": (tokenizer(lambda raw: raw["model"]["vocab"].update(neg=1.5)), UNREADABLE),
    "an id of 2^40": (tokenizer(lambda raw: raw["model"]["vocab"].update(neg=2**40)), UNREADABLE),
    "an id beyond the embedding": (
        tokenizer(lambda raw: raw["model"]["vocab"].update(The=10**6)),
        AT + r": model\.vocab: 'The' has id 1000000, but config\.json's vocab_size is 320",
    ),
    "an id just beyond": (
        tokenizer(lambda raw: raw["model"]["vocab"].update(new=320)),
        AT + r": model\.vocab: 'new' has id 320",
    ),
    "two tokens of one id": (
        tokenizer(lambda raw: raw["model"]["vocab"].update(a=5)),
        AT + r": model\.vocab is \{.+: 5\}",
    ),
    "a token of a MB": (
        tokenizer(lambda raw: raw["model"]["vocab"].update({"x" * 10**6: 5})),
        AT + r": model\.vocab is 'xxx",
    ),
    "a merge of absent tokens": (language(merges=[["q", "zzzz"]]), UNREADABLE),
    "a merge of three": (language(merges=[["q", "z", "z"]]), UNREADABLE),
    "merges as texts of a MB": (language(merges=["q" * 10**6]), UNREADABLE),
    "an added token that clashes": (
        added(id=7, content="<zz>"),
        AT + r": added_tokens\[1\]\.id is 7; expected another: '<zz>'",
    ),
    "an added token of another's": (
        added(id=7, content="a"),
        AT + r": added_tokens\[1\]\.id is 7; expected another: 'a' has id",
    ),
    "an added token far away": (added(id=70000, content="<zz>"), AT + r": added_tokens\[1\]\.id is 70000"),
    "an added token beyond": (added(id=320, content="<zz>"), AT + ": added_tokens: '<zz>' has id 320, but config"),
    "an added token below 0": (added(id=-1, content="<zz>"), UNREADABLE),
    "a template with an id beyond": (
        template(START, TEXT, ids=[99999]),
        AT + ": post_processor is 99999; expected token ids",
    ),
    "a template of three texts": (
        template(TEXT, TEXT, TEXT),
        AT + r": post_processor\.single is \[.*expected the text",
    ),
    "a template of none": (template(START), AT + r": post_processor\.single is \[.*expected the text"),
    "a template of the other": (
        template({"Sequence": {"id": "B", "type_id": 0}}),
        AT + r": post_processor\.single is ",
    ),
    "a template of many": (
        template(START, TEXT, ids=[0] * 10**4),
        AT + r": post_processor\.single is .*up to 64 tokens",
    ),
}
