"""python -m tests.bench_decode: milliseconds a token of SmolLM2, beside llama.cpp with the same weights.

Each side is a process of its own with as many threads. Rounds of all sides alternate, so that a busy machine slows all
alike; a round writes 115 tokens after the same prompt, a figure is the median of a round, then of the rounds. Beside
it stand the processor time a token and the ratio to llama.cpp in F32. node-llama-cpp brings a built llama.cpp. Its
files hold the weights of `.weights` as F32, BF16 and Q8_0, written by the package gguf.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, LlamaFileType

from model import load
from model.bench import Figure
from model.smollm2 import WEIGHTS

ROOT = Path(__file__).parents[1]
PROMPT = "The capital of France is Paris, and the capital of Germany is Berlin."
LLAMA_CPP = Path(tempfile.gettempdir()) / "glass-llama-llama.cpp"
INSTALL = "npm install --prefix {} node-llama-cpp@3.22.1"
FORMATS = {"F32": LlamaFileType.ALL_F32, "BF16": LlamaFileType.MOSTLY_BF16, "Q8_0": LlamaFileType.MOSTLY_Q8_0}
BARS = {"float32": 1.4, "bfloat16": 14 / 15, "int8": 0.6}  # times what llama.cpp takes in F32


def main() -> int:
    """Print every side's figures; the exit status is 1 where a bar is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench_decode", description="Decoding beside llama.cpp.")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each side (default: %(default)s)")
    parser.add_argument("--tokens", type=int, default=115, help="tokens of a round (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of each side (default: %(default)s)")
    parser.add_argument("--sides", nargs="+", default=[*BARS, *FORMATS], choices=[*BARS, *FORMATS])
    parser.add_argument("--llama-cpp", type=Path, default=LLAMA_CPP, metavar="DIR", help="default: %(default)s")
    parser.add_argument("--side", help=argparse.SUPPRESS)  # of a process of its own
    args = parser.parse_args()
    if args.side:
        return answer(args.side, args.tokens)
    sides = args.sides
    if not (args.llama_cpp / "node_modules/node-llama-cpp").is_dir():
        print(f"llama.cpp is not there; `{INSTALL.format(args.llama_cpp)}` fetches it. Without it:")
        sides = [side for side in sides if side not in FORMATS]
    with ExitStack() as running:
        processes = {side: running.enter_context(started(side, args)) for side in sides}
        rounds = [{side: asked(process) for side, process in processes.items()} for _ in range(args.rounds + 1)][1:]
        for process in processes.values():
            assert process.stdin
            process.stdin.close()
    return report({side: [one[side] for one in rounds] for side in sides}, args)


def started(side: str, args: argparse.Namespace) -> subprocess.Popen[str]:
    """A process that decodes once for each line that it is sent."""
    if side in FORMATS:
        ids = load(WEIGHTS).tokenizer.encode(PROMPT)
        file = written(side, args.llama_cpp)
        script = ROOT / "tests/bench_decode.mjs"
        command = ["node", script, args.llama_cpp.resolve(), file, args.threads, json.dumps(ids), args.tokens]
    else:
        command = [sys.executable, "-m", "tests.bench_decode", "--side", side, "--tokens", args.tokens]
    threads = {name: str(args.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env=os.environ | threads,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def asked(process: subprocess.Popen[str]) -> dict[str, Any]:
    """One round of a side."""
    assert process.stdin
    assert process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def answer(dtype: str, count: int) -> int:
    """Decode greedily for every line on standard input, as generation does, and answer as bench_decode.mjs."""
    lm = load(WEIGHTS, device="cpu", dtype=dtype)
    ids = lm.tokenizer.encode(PROMPT)
    for _ in sys.stdin:
        milliseconds: list[float] = []
        tokens: list[int] = []
        cache, feed, position, spent = lm.net.cache(512), ids, 0, time.process_time()
        while len(tokens) <= count:
            began = time.perf_counter()
            with torch.inference_mode():
                token = int(lm.net(torch.tensor([feed]), cache, position, last_only=True)[0, -1].argmax())
            if tokens:
                milliseconds.append((time.perf_counter() - began) * 1e3)
            else:
                spent = time.process_time()
            position, feed = position + len(feed), [token]
            tokens.append(token)
        cpu = (time.process_time() - spent) * 1e3 / count
        print(json.dumps({"ms": milliseconds, "cpu": cpu, "tokens": tokens}), flush=True)
    return 0


def written(kind: str, folder: Path) -> Path:
    """The weights as a GGUF file of this format, written where it is not there yet."""
    file = folder / f"{WEIGHTS.name.split('.')[0]}.{kind}.gguf"
    if file.is_file():
        return file
    source, partial = gguf.GGUFReader(WEIGHTS), file.with_suffix(".part")
    out = gguf.GGUFWriter(partial, "llama")
    for name, field in source.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        out.add_key_value(name, field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None)
    out.add_file_type(FORMATS[kind])
    for tensor in source.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        stored = GGMLQuantizationType.F32 if values.ndim == 1 else GGMLQuantizationType[kind]
        out.add_tensor(tensor.name, gguf.quants.quantize(values.astype(np.float32), stored), raw_dtype=stored)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return partial.rename(file)


def report(found: dict[str, list[dict[str, Any]]], args: argparse.Namespace) -> int:
    """Print the figures of each side, and its bar where it has one."""
    print(f"torch {torch.__version__}, {args.threads} threads, {args.rounds} rounds of {args.tokens} tokens")
    print(f"{'':10}{'ms/token':>10}{'fastest round':>15}{'processor ms':>14}{'× F32':>8}  as F32's first tokens")
    medians = {side: [statistics.median(one["ms"]) for one in rounds] for side, rounds in found.items()}
    peer, met = medians.get("F32"), True
    for side, rounds in found.items():
        middle, cpu = statistics.median(medians[side]), statistics.median(one["cpu"] for one in rounds)
        ratio, same = "", ""
        if peer:
            ratio = f"{middle / statistics.median(peer):.2f}"
            pairs = zip(rounds[0]["tokens"], found["F32"][0]["tokens"], strict=True)
            same = str(next((i for i, (one, other) in enumerate(pairs) if one != other), len(rounds[0]["tokens"])))
        print(f"{side:10}{middle:>10.2f}{min(medians[side]):>15.2f}{cpu:>14.2f}{ratio:>8}  {same}")
    if peer:
        for side in BARS.keys() & found.keys():
            value = statistics.median(medians[side]) / statistics.median(peer)
            print(figure := Figure(f"{side}: ms a token / llama.cpp in F32", value, "≤", round(BARS[side], 3)))
            met &= figure.met
    return int(not met)


if __name__ == "__main__":
    raise SystemExit(main())
