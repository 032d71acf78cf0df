"""Checkpoints that are damaged in every way that we could think of: each is refused by its file and field, in one short
line, soon, and within a bounded memory.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import model
from model.checkpoint import load_weights, read_outline
from tests.families import save
from tests.model.families import test_bloom as bloom
from tests.model.families import test_deepseek as deepseek
from tests.model.families import test_falcon as falcon
from tests.model.families import test_glm as glm
from tests.model.families import test_mixtral as mixtral
from tests.model.families import test_qwen as qwen
from tests.model.families import test_t5 as t5_tests
from tests.standin import make_checkpoint

pytestmark = pytest.mark.timeout(60)  # a check that hangs is a failure
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
TIMES = 15  # as long as a sound checkpoint takes to be read and run: some 1.5 seconds of the processor's time
LONGEST = 1000  # characters that a message may have beside the directory's name
Q = "model.layers.1.self_attn.q_proj.weight"
EMBED, NORM = "model.embed_tokens.weight", "model.norm.weight"
Damage = Callable[[Path], Any]


@pytest.fixture
def directory(tmp_path: Path, checkpoint: Path) -> Path:
    return Path(shutil.copytree(checkpoint, tmp_path / "c"))


@pytest.fixture(scope="module")
def seconds(checkpoint: Path) -> float:
    """How long a refusal may take; measured once everything is imported and compiled."""
    times = []
    for _ in range(3):
        start = time.process_time()
        model.run_trace(model.load(checkpoint, device="cpu"), "The cat sleeps on the sofa.")
        times.append(time.process_time() - start)
    return TIMES * max(0.1, *times[1:])


def refusal(directory: Path, seconds: float = 60.0) -> str:
    """What is said of a checkpoint that nothing can be run with; a text is tried out where it loads after all."""
    start = time.process_time()
    with pytest.raises(model.GlassLlamaError) as caught:
        model.run_trace(model.load(directory, device="cpu"), "The cat 猫 sleeps on the sofa.")
    assert time.process_time() - start < seconds
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < LONGEST + len(str(directory))
    return said.replace(str(directory), "DIR")


# --- config.json


def config(**fields: Any) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    return damage


def without(field: str) -> Damage:
    def damage(directory: Path) -> None:
        path = directory / "config.json"
        path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != field}))

    return damage


def content(name: str, data: bytes | str) -> Damage:
    return lambda directory: (directory / name).write_bytes(data.encode() if isinstance(data, str) else data)


def edited(name: str, old: str, new: str) -> Damage:
    def damage(directory: Path) -> None:
        before = (directory / name).read_text()
        assert old in before
        (directory / name).write_text(before.replace(old, new, 1))

    return damage


def folder_instead(name: str) -> Damage:
    def damage(directory: Path) -> None:
        (directory / name).unlink()
        (directory / name).mkdir()

    return damage


def link_instead(name: str, target: str) -> Damage:
    def damage(directory: Path) -> None:
        (directory / name).unlink()
        (directory / name).symlink_to(target)

    return damage


def pipe_instead(name: str) -> Damage:
    def damage(directory: Path) -> None:
        (directory / name).unlink()
        os.mkfifo(directory / name)

    return damage


def sparse(name: str, size: int) -> Damage:
    """A file of zeros that takes no room on the disk."""
    return lambda directory: os.truncate(directory / name, size)


YARN = {"rope_type": "yarn", "factor": 4.0}
ROPE = {"rope_type": "linear"}
CONFIGS: dict[str, tuple[Damage, str]] = {
    **{
        f"no {name}": (without(name), rf"^config\.json: {name} is ")
        for name in (
            "num_hidden_layers",
            "hidden_size",
            "num_attention_heads",
            "intermediate_size",
            "vocab_size",
            "model_type",
        )
    },
    **{
        f"{name} {value!r}": (config(**{name: value}), rf"^config\.json: {name} is ")
        for name in (
            "num_hidden_layers",
            "hidden_size",
            "vocab_size",
            "head_dim",
            "max_position_embeddings",
        )
        for value in (0, -1, 2.5, "8", [8], {}, True, 2**53 + 1, 10**300)
    },
    **{
        f"{name} {value!r}": (config(**{name: value}), rf"^config\.json: {name} is ")
        for name in (
            "rms_norm_eps",
            "rope_theta",
        )
        for value in (0, -1, "1", [], float("nan"), float("inf"), 1e308)
    },
    **{
        f"{kind} factor {value!r}": (
            config(rope_scaling=ROPE | {"rope_type": kind, "factor": value}),
            r"^config\.json: rope_scaling\.factor is ",
        )
        for kind in ("linear", "dynamic", "yarn")
        for value in (1e308, 10**400, 0, -2, "2", float("nan"), 1e-300)
    },
    **{
        f"yarn {name} {value!r}": (
            config(rope_scaling=YARN | {name: value}),
            rf"^config\.json: rope_scaling\.{name} is ",
        )
        for name in ("beta_fast", "beta_slow", "attention_factor")
        for value in (1e308, 1e-320, "x")
    },
    "a length before scaling of 10^400": (
        config(rope_scaling=YARN | {"original_max_position_embeddings": 10**400}),
        "original_max_position_embeddings is ",
    ),
    "a scaling that is a text": (config(rope_scaling="linear"), "rope_scaling is 'linear'; expected an object"),
    "a scaling of a MB": (config(rope_scaling={"rope_type": "x" * 10**6}), r"rope_scaling\.rope_type is 'xxx"),
    "a field of a MB": (config(rope_scaling=ROPE | {"factor": 2.0, "y" * 10**6: 1}), r"rope_scaling\.yyy"),
    "a million end tokens": (config(eos_token_id=list(range(10**5))), "eos_token_id is "),
    "a model_type of a MB": (config(model_type="x" * 10**6), "model_type is 'xxx"),
    "a list for model_type": (config(model_type=[["llama"]]), "model_type is "),
    "another activation": (config(hidden_act="x" * 10**6), "hidden_act is 'xxx"),
    "quantised": (config(quantization_config={"a": "b" * 10**6}), "quantization_config is "),
    "vocab_size 10^12": (config(vocab_size=10**12), r"embed_tokens\.weight has shape \[320, 48\], expected"),
    "n_layers 10^9": (config(num_hidden_layers=10**9), "num_hidden_layers is 1000000000, but the files hold 3 layers"),
    "width 10^12": (config(hidden_size=6 * 10**12), "has shape"),
    "heads that do not divide": (config(num_attention_heads=5), r"n_heads \(5\) is not a multiple of n_kv_heads \(2\)"),
    "an odd head_dim": (config(head_dim=7), "head_dim is 7; expected even"),
    "no file": (lambda directory: (directory / "config.json").unlink(), r"^DIR/config\.json is missing"),
    "an empty file": (content("config.json", b""), r"^DIR/config\.json cannot be read as JSON"),
    "no JSON": (content("config.json", "{" * 5), r"^DIR/config\.json cannot be read as JSON"),
    "a list": (content("config.json", "[1]"), r"^DIR/config\.json holds no JSON object"),
    "no UTF-8": (content("config.json", b'{"a": "\xff\xfe"}'), r"^DIR/config\.json cannot be read as JSON"),
    "deep": (content("config.json", "[" * 10**5), r"^DIR/config\.json cannot be read as JSON"),
    "deep and whole": (
        content("config.json", '{"a":' * 10**5 + "1" + "}" * 10**5),
        r"^DIR/config\.json cannot be read as",
    ),
    "an integer of 10,000 digits": (
        content("config.json", '{"a": ' + "9" * 10**4 + "}"),
        r"^DIR/config\.json cannot be",
    ),
    "a field twice": (
        edited("config.json", '"vocab_size"', '"vocab_size": 7, "vocab_size"'),
        r"^DIR/config\.json cannot be read as JSON \(vocab_size is 7 and 320\)",
    ),
    "a folder": (folder_instead("config.json"), r"^DIR/config\.json is missing"),
    "a pipe": (pipe_instead("config.json"), r"^DIR/config\.json is missing"),
    "a link to nothing": (link_instead("config.json", "/no/where"), r"^DIR/config\.json is missing"),
    "a link to itself": (link_instead("config.json", "config.json"), r"^DIR/config\.json is missing"),
    "a link to another file": (link_instead("config.json", "/etc/passwd"), r"^DIR/config\.json cannot be read as JSON"),
    "a link to a device": (link_instead("config.json", "/dev/zero"), r"^DIR/config\.json is missing"),
    "10 GB": (sparse("config.json", 10**10), r"^DIR/config\.json has 10,000,000,000 bytes; expected at most 4,194,304"),
}


# --- model.safetensors


def tensors(change: Callable[[dict[str, torch.Tensor]], Any]) -> Damage:
    def damage(directory: Path) -> None:
        held = load_file(directory / WEIGHTS)
        change(held)
        save_file(held, directory / WEIGHTS)

    return damage


def header(change: Callable[[dict[str, Any]], Any], data: bytes | None = None) -> Damage:
    """The file with its header changed and its data as it was."""

    def damage(directory: Path) -> None:
        raw = (directory / WEIGHTS).read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        told = json.loads(raw[8 : 8 + size])
        told = change(told) or told
        text = (told if isinstance(told, str) else json.dumps(told)).encode()
        (directory / WEIGHTS).write_bytes(
            struct.pack("<Q", len(text)) + text + (raw[8 + size :] if data is None else data)
        )

    return damage


def length(size: int) -> Damage:
    def damage(directory: Path) -> None:
        raw = (directory / WEIGHTS).read_bytes()
        (directory / WEIGHTS).write_bytes(struct.pack("<Q", size) + raw[8:])

    return damage


def cut(share: float) -> Damage:
    return lambda directory: os.truncate(directory / WEIGHTS, int((directory / WEIGHTS).stat().st_size * share))


def many_unknown(held: dict[str, torch.Tensor]) -> None:
    held.update({f"unknown.{i}." + "x" * 50: torch.zeros(1) for i in range(2000)})


DAMAGED = r"^DIR/model\.safetensors is damaged or cut short \("
FIT = "^DIR: the weights do not fit config.json: "
TENSORS: dict[str, tuple[Damage, str]] = {
    **{f"cut to {share}": (cut(share), DAMAGED) for share in (0.0, 0.00001, 0.001, 0.02, 0.5, 0.99999)},
    **{f"header of {size}": (length(size), DAMAGED) for size in (0, 1, 10**6, 2**31, 2**63 - 1, 2**63, 2**64 - 1)},
    "more than its header says": (
        lambda d: (d / WEIGHTS).write_bytes((d / WEIGHTS).read_bytes() + b"\0" * 64),
        DAMAGED,
    ),
    "not safetensors": (content(WEIGHTS, b"PK\x03\x04" + b"\0" * 200), DAMAGED),
    "a header that is no JSON": (header(lambda told: "x" * 200), DAMAGED),
    "a header that is a list": (header(lambda told: "[]"), DAMAGED),
    "a header that is no UTF-8": (content(WEIGHTS, struct.pack("<Q", 8) + b"\xff" * 8), DAMAGED),
    "a deep header": (header(lambda told: "[" * 10**5), DAMAGED),
    "a header with NaN": (header(lambda told: json.dumps(told).replace("48", "NaN", 1)), DAMAGED),
    "overlapping tensors": (header(lambda told: told[NORM].update(data_offsets=told[Q]["data_offsets"])), DAMAGED),
    "offsets backwards": (
        header(lambda told: told[NORM].update(data_offsets=told[NORM]["data_offsets"][::-1])),
        DAMAGED,
    ),
    "offsets beyond": (header(lambda told: told[NORM].update(data_offsets=[2**40, 2**40 + 192])), DAMAGED),
    "negative offsets": (header(lambda told: told[NORM].update(data_offsets=[-192, 0])), DAMAGED),
    "a shape that lies": (header(lambda told: told[NORM].update(shape=[2**40])), DAMAGED),
    "a shape that overflows": (header(lambda told: told[NORM].update(shape=[2**40, 2**40, 2**40])), DAMAGED),
    "a negative shape": (header(lambda told: told[NORM].update(shape=[-48])), DAMAGED),
    "an unknown dtype": (header(lambda told: told[NORM].update(dtype="Q7")), DAMAGED),
    "a tensor without dtype": (header(lambda told: told[NORM].pop("dtype") and None), DAMAGED),
    "no tensors": (tensors(lambda held: held.clear()), FIT + "num_hidden_layers is 3, but the files hold 0 layers"),
    "a missing tensor": (tensors(lambda held: held.pop(NORM)), FIT + f"missing tensor {NORM}"),
    "a missing layer": (
        tensors(lambda held: [held.pop(n) for n in list(held) if ".layers.1." in n]),
        FIT + "num_hidden_la",
    ),
    "an unknown tensor": (tensors(lambda held: held.update(more=torch.zeros(1))), FIT + "unknown tensor more"),
    "many unknown tensors": (tensors(many_unknown), FIT + r"unknown tensor unknown\..*; and 1,990 more"),
    "a name of a MB": (tensors(lambda held: held.update({"n" * 10**6: torch.zeros(1)})), FIT + "unknown tensor nnn"),
    "a name of two lines": (tensors(lambda held: held.update({"a\nb": torch.zeros(1)})), FIT + r"unknown tensor a\\nb"),
    "a layer too many": (
        tensors(lambda held: held.update({f"model.layers.{10**30}.mlp.up_proj.weight": torch.zeros(1)})),
        FIT + "unknown tensor",
    ),
    "a wrong shape": (
        tensors(lambda held: held.update({Q: held[Q][:-1].clone()})),
        FIT + f"{Q} has shape \\[47, 48\\]",
    ),
    "turned": (tensors(lambda held: held.update({EMBED: held[EMBED].T.contiguous()})), FIT + f"{EMBED} has shape"),
    "a number": (tensors(lambda held: held.update({NORM: torch.tensor(1.0)})), FIT + f"{NORM} has shape \\[\\]"),
    "an empty tensor": (tensors(lambda held: held.update({NORM: torch.zeros(0)})), FIT + f"{NORM} has shape \\[0\\]"),
    **{
        f"{dtype}": (
            tensors(lambda held, dtype=dtype: held.update({NORM: held[NORM].to(dtype)})),
            FIT + f"{NORM} is {dtype}",
        )
        for dtype in (torch.int8, torch.int64, torch.bool, torch.float8_e4m3fn)
    },
    **{
        f"{bad}": (tensors(lambda held, bad=bad: held[Q].fill_(bad)), FIT + f"{Q} holds NaN or infinite values")
        for bad in (float("nan"), float("inf"))
    },
    "no file": (
        lambda d: (d / WEIGHTS).unlink(),
        r"^DIR: model\.safetensors missing; only safetensors files are loaded",
    ),
    "a folder": (folder_instead(WEIGHTS), r"^DIR: model\.safetensors missing"),
    "a pipe": (pipe_instead(WEIGHTS), r"^DIR: model\.safetensors missing"),
    "a link to itself": (link_instead(WEIGHTS, WEIGHTS), r"^DIR: model\.safetensors missing"),
    "a link to another file": (link_instead(WEIGHTS, "/etc/passwd"), DAMAGED),
    "zeros of 10 GB": (sparse(WEIGHTS, 10**10), DAMAGED),
}


# --- model.safetensors.index.json


def index(told: Any) -> Damage:
    return lambda directory: (directory / INDEX).write_text(told if isinstance(told, str) else json.dumps(told))


def mapped(*names: str) -> Damage:
    return index({"weight_map": {f"t{n}": name for n, name in enumerate(names)}})


MAP = r"^DIR/model\.safetensors\.index\.json"
INDICES: dict[str, tuple[Damage, str]] = {
    **{
        f"names {name!r:.30}": (mapped(name), MAP + ": weight_map names ")
        for name in (
            "../c/model.safetensors",
            "/etc/passwd",
            "sub/a.safetensors",
            "..",
            "",
            "model.bin",
            "a\0.bin",
            "../" * 10**5,
            "/proc/self/environ",
            "~/a.safetensors/..",
        )
    },
    **{
        f"map {told!r}": (index({"weight_map": told}), MAP + " has no weight_map of file names")
        for told in (None, [], "x", 5, {"a": 5}, {"a": ["b"]})
    },
    "no map": (index({}), MAP + " has no weight_map"),
    "an absent file": (mapped("a.safetensors"), r"^DIR: a\.safetensors missing"),
    "100 absent files": (
        mapped(*(f"a{n:03}.safetensors" for n in range(100))),
        r"^DIR: a000\.safetensors, a001\.safetensors, a002\.safetensors, and 97 more missing",
    ),
    "100,000 files": (
        mapped(*(f"a{n}.safetensors" for n in range(10**5))),
        MAP + ": weight_map names 100,000 files; expe",
    ),
    "a name that no file has": (mapped("a" * 10**5 + ".safetensors"), r"^DIR: aaa.*\.\.\. missing"),
    "a list": (index([1]), MAP + " holds no JSON object"),
    "no JSON": (index("{"), MAP + " cannot be read as JSON"),
    "deep": (index("[" * 10**5), MAP + " cannot be read as JSON"),
    "a folder": (lambda directory: (directory / INDEX).mkdir(), MAP + " is missing"),
    "a map twice": (
        index('{"weight_map": {"a": "b.safetensors"}, "weight_map": {}}'),
        MAP + r" cannot.*\(weight_map is",
    ),
    "a map of nothing": (mapped(), FIT),
    "an empty map": (index({"weight_map": {}}), FIT + "num_hidden_layers is 3, but the files hold 0 layers"),
    "40 MB": (lambda directory: (directory / INDEX).write_text(" " * 40_000_000 + "{}"), MAP + " has 40,000,002 bytes"),
}


# --- tokenizer.json


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

TABLES = {"config": CONFIGS, "tensors": TENSORS, "index": INDICES, "tokenizer": TOKENIZERS}
CASES = [(table, name) for table, cases in TABLES.items() for name in cases]


@pytest.mark.parametrize(("table", "name"), CASES, ids=[f"{table}: {name:.40}" for table, name in CASES])
def test_it_is_refused_by_file_and_field(directory: Path, seconds: float, table: str, name: str) -> None:
    damage, expected = TABLES[table][name]
    damage(directory)
    said = refusal(directory, seconds)
    assert re.search(expected, said), said


FAMILIES: dict[str, Any] = {
    "bloom": transformers.BloomConfig(**bloom.FIELDS, n_head=6),
    **{f"deepseek {name}": config for name, config in deepseek.CONFIGS.items()},
    **{f"falcon {name}": config for name, config in falcon.CONFIGS.items()},
    "glm": transformers.GlmConfig(**glm.FIELDS),
    "mixtral": transformers.MixtralConfig(**mixtral.FIELDS),
    **{f"qwen {name}": config for name, config in qwen.CONFIGS.items()},
    **{f"t5 {name}": config for name, config in t5_tests.CONFIGS.items()},
}
CHANGES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a row less": lambda tensor: tensor[:-1].clone(),
    "flat": lambda tensor: tensor.flatten(),
    "a number": lambda tensor: tensor.sum(),
    "none": lambda tensor: tensor[:0].clone(),
    "one more dimension": lambda tensor: tensor[None].clone(),
    "of integers": lambda tensor: tensor.int(),
    "not finite": lambda tensor: tensor * float("nan"),
}


@cache
def saved_once(family: str) -> Path:
    return save(FAMILIES[family])


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_tensor_of_every_family_is_checked(tmp_path: Path, family: str, how: str) -> None:
    """One of each kind in turn: what a family's files pack together may not fail to be taken apart in another way."""
    saved = saved_once(family)
    sound = load_file(saved / WEIGHTS)
    (tmp_path / "config.json").write_bytes((saved / "config.json").read_bytes())
    kinds = {re.sub(r"\d+", "0", name): name for name in sound}
    for name in kinds.values():
        changed = CHANGES[how](sound[name])
        if changed.shape == sound[name].shape and changed.dtype == sound[name].dtype and how != "not finite":
            continue
        save_file(sound | {name: changed}, tmp_path / WEIGHTS)
        with pytest.raises(model.GlassLlamaError, match="the weights do not fit config"):
            load_weights(read_outline(tmp_path), torch.device("cpu"), torch.float32)


@pytest.mark.parametrize("field", ["num_layers", "num_decoder_layers"])
def test_a_stack_of_two_that_the_files_do_not_hold(tmp_path: Path, field: str) -> None:
    t5 = Path(model.__file__).parent / "zoo" / "t5"
    for name in ("config.json", "tokenizer.json", WEIGHTS):
        (tmp_path / name).write_bytes((t5 / name).read_bytes())
    config(**{field: 10**9})(tmp_path)
    assert f"{field} is 1000000000, but the files hold " in refusal(tmp_path)
    (tmp_path / "config.json").write_bytes((t5 / "config.json").read_bytes())
    config(decoder_start_token_id=10**9)(tmp_path)
    assert "decoder_start_token_id is 1000000000; expected a token id below vocab_size" in refusal(tmp_path)


LIMITED = """
import pathlib, re, resource, sys
import model

def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])

def refused(directory):
    try:
        model.run_trace(model.load(directory, device="cpu"), "The cat " * 20)
    except model.GlassLlamaError as error:
        return str(error)[:300]

model.run_trace(model.load(sys.argv[1], device="cpu"), "The cat " * 20)
most = (kilobytes("VmSize") << 10) + (400 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for directory in sys.argv[2:]:
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the highest mark is what is held now
    before = kilobytes("VmRSS")
    said = refused(directory)
    print(kilobytes("VmHWM") - before >> 10, said)
"""
LARGE = [
    ("tokenizer", "100 MB of merges"),
    ("tokenizer", "a million for one"),
    ("tokenizer", "doubled forty times"),
    ("tokenizer", "a decoder that doubles"),
    ("tokenizer", "10 GB"),
    ("index", "100,000 files"),
    ("index", "40 MB"),
    ("config", "n_layers 10^9"),
    ("config", "vocab_size 10^12"),
    ("config", "10 GB"),
    ("tensors", f"header of {2**31}"),
]


@pytest.mark.timeout(280)
def test_what_is_large_is_refused_within_some_megabytes(tmp_path: Path, checkpoint: Path) -> None:
    """In one process of its own, which may not take much more than it has."""
    places = [make_checkpoint(tmp_path / str(n)) for n in range(len(LARGE))]
    for place, (table, name) in zip(places, LARGE, strict=True):
        TABLES[table][name][0](place)
    command = [sys.executable, "-c", LIMITED, str(checkpoint), *map(str, places)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=250)
    lines = ran.stdout.splitlines()
    assert len(lines) == len(LARGE), ran.stderr[-1000:]
    for line, place, (table, name) in zip(lines, places, LARGE, strict=True):
        megabytes, _, said = line.partition(" ")
        assert re.search(TABLES[table][name][1], said.replace(str(place), "DIR")), said
        assert int(megabytes) < 96, name
