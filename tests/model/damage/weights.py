"""What may be wrong with the weights or with their index, and what is said of it. DIR stands for the directory."""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from tests.model.damage.ways import (
    INDEX,
    WEIGHTS,
    Damage,
    content,
    folder_instead,
    link_instead,
    pipe_instead,
    sparse,
)

Q = "model.layers.1.self_attn.q_proj.weight"
EMBED, NORM = "model.embed_tokens.weight", "model.norm.weight"


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
