"""The calculator on the command line: python -m model.kv_math."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from model.errors import LONGEST, both_ends
from model.kv_math.__main__ import main
from model.published.hf.gguf import ARCHITECTURES

SHARE = ["--usable-percent", "90"]


def refused(capsys, *arguments):
    """What the command says to arguments that it refuses; it then prints no result, not even a part of one."""
    capsys.readouterr()
    assert main(list(arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


def test_the_command_prints_every_multiplication(capsys):
    assert main(["Llama-3 8B", "--tokens", "8192"]) == 0
    printed = capsys.readouterr().out
    assert "32 layers × 1 sequence × 8,192 tokens × 8 K/V heads × 2 K and V × 128 head_dim × 2 bytes (bf16)" in printed
    assert "= 1,073,741,824 B = 1 GiB = 1.074 GB" in printed
    assert "131,072 B = 128 KiB = 131.1 kB" in printed
    assert main(["Llama-3 70B", "--tp", "16", "--pp", "2", "--block-size", "16"]) == 0
    assert "on the one of 32 with most of it" in capsys.readouterr().out
    assert main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 55


def test_the_command_counts_one_as_one_and_writes_no_exponent(capsys):
    assert main(["T5-large (v1.0)", "--tokens", "1", "--gpu", "H100", "--tp", "8"]) == 0
    printed = capsys.readouterr().out
    assert "batch 1, 1 token, bf16" in printed
    assert "the encoder's input counts as 1 token, like the decoder's" in printed
    assert "Per token  98,304 B = 96 KiB = 98.3 kB" in printed
    assert main(["BLOOM-176B", "--tokens", "1000000", "--batch", "10000", "--gpu", "T4"]) == 0
    printed += capsys.readouterr().out
    assert "Largest context at batch 10,000: none fits (the model's own context: 2,048)\n" in printed
    assert main(["Llama-3 8B", "--tokens", "1", "--users", "1"]) == 0
    printed += capsys.readouterr().out
    assert "1 user at 1 token: 16,060,653,568 B = 14.96 GiB = 16.06 GB" in printed
    assert not re.search(r"\de[-+]\d", printed)


def test_the_command_tells_what_a_token_adds_before_and_after_a_window_is_full(capsys):
    assert main(["Gemma-3 12B (text)", "--tokens", "8192"]) == 0
    printed = capsys.readouterr().out
    assert "Per token  393,216 B = 384 KiB = 393.2 kB up to token 1,024, which fills a window\n" in printed
    assert "           65,536 B = 64 KiB = 65.54 kB for each later token\n" in printed
    assert main(["Llama-4 Scout 17B-16E (text)", "--tokens", "8192"]) == 0
    printed = capsys.readouterr().out
    assert " up to token 8,192, which fills a chunk\n" in printed
    assert "window" not in printed
    assert main(["Mistral-7B v0.1", "--tokens", "8192"]) == 0  # its layers all have windows
    assert " up to token 4,096, which fills a window\n           nothing for each later token\n" in (
        capsys.readouterr().out
    )


def test_the_command_says_what_is_wrong(capsys):
    assert "did you mean 'Llama-3 8B'" in refused(capsys, "Llama3 8B", "--tokens", "8192")
    assert refused(capsys, "Llama-3 8B", "--tp", "3") == "kv_math: tp is 3; expected a divisor of n_heads (32).\n"


def test_the_command_counts_the_cache_of_a_config_that_lacks_what_the_weights_need(capsys, tmp_path):
    """And names all that is wrong with one that lacks what the cache needs."""
    given = {"model_type": "llama", "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(given))
    assert main(["--config", str(path), "--tokens", "10", "--gpu", "H100"]) == 0
    printed = capsys.readouterr().out
    assert f"Total      {10 * 2 * 4 * 16 * 2 * 2:,} B" in printed
    left_out = "Weights, activations and what fits are not counted. config.json: intermediate_size is missing; expected"
    assert left_out in printed
    assert "vocab_size is missing" in printed
    assert "Note       Not read, and no figure here depends on it: max_position_embeddings is missing." in printed
    assert refused(capsys, "--config", str(path), "--users", "2").startswith(f"kv_math: {left_out}")
    path.write_text(json.dumps(given | {"num_hidden_layers": "x", "hidden_size": None}))
    said = refused(capsys, "--config", str(path))
    assert "num_hidden_layers is 'x'; expected a whole number from 1 to 1,000. hidden_size is missing; " in said


def test_the_command_takes_k_and_v_in_two_formats(capsys):
    assert main(["Llama-3 8B", "--dtype", "q8_0/iq4_nl", "--tokens", "1"]) == 0
    printed = capsys.readouterr().out
    assert "208 bytes per K/V head (q8_0/iq4_nl) (128 / 32 × 34 + 128 / 32 × 18)" in printed
    assert f"{32 * 8 * (136 + 72):,} B" in printed
    assert "as llama.cpp's -ctk and -ctv set them" in printed
    assert refused(capsys, "Llama-3 8B", "--dtype", "q8_0/q40").endswith(" Did you mean q8_0/q4_0?\n")


def test_the_command_says_what_fits(capsys):
    assert main(["Llama-3 8B", "--gpu", "H100", *SHARE]) == 0
    printed = capsys.readouterr().out
    for line in (
        "32 layers × 176,160,768 weights (3 × 4,096 × 14,336) × 2 bytes (bf16)",
        "Weights    16,060,522,496 B = 14.96 GiB = 16.06 GB",
        "85,520,809,984 B × 90 % = 76,968,728,985 B",
        "(memory: nvidia-smi, 81,559 MiB, NVIDIA/nccl #1264; NVIDIA H100 datasheet",
        "fits, 59,834,464,665 B left",
        "Largest batch at 8,192 tokens: 56 sequences",
        "Largest context at batch 1: 464,692 tokens (the model's own context: 8,192)",
        "Decoding   at most 208.3 tokens/s a sequence, 208.3 in all, at one token a step\n",
        "a step takes at least (15,009,857,536 B of weights + 1,073,741,824 B of cache) / (1 rank × "
        "3,350,000,000,000 B/s) = 4.801 ms\n",
        "Where drafted tokens are accepted (draft model, MTP), times the tokens accepted a step.",
        "A bound: arithmetic, communication and imperfect bandwidth make it slower.",
    ):
        assert line in printed
    own = [
        "DeepSeek-V3",
        "--gpu-memory",
        "192",
        "--gpu-bandwidth",
        "8000",
        "--weights",
        "fp8",
        "--tp",
        "8",
        "--dcp",
        "8",
    ]
    assert main([*own, "--batch", "32"]) == 0
    assert "where a micro-batch's tokens choose as many experts" in capsys.readouterr().out
    assert main(["Llama-3 70B", "--gpu", "T4", "--draft", "Llama-3.2 1B"]) == 0
    printed = capsys.readouterr().out
    assert "Draft model: Full-attention layers: K and V" in printed
    assert "does not fit" in printed
    assert main(["Mistral-7B v0.1", "--gpu", "4090", "--reserved-tokens", "9000"]) == 0


def test_the_command_calls_layers_with_an_indexer_sparse(capsys):
    assert main(["DeepSeek-V3.2-Exp"]) == 0
    printed = capsys.readouterr().out
    assert "Sparse-attention layers, which keep every token: indexer key" in printed
    assert "Full-attention" not in printed


def test_the_command_counts_by_vllms_rule(capsys):
    """Llama-3 8B on an H100: blocks of 16 × 131,072 B, one never handed out, 512 for a sequence of 8,192 tokens."""
    assert main(["Llama-3 8B", "--gpu", "H100", "--usable-percent", "90", "--vllm"]) == 0
    (line,) = (one for one in capsys.readouterr().out.splitlines() if one.startswith("Blocks"))
    count = int(line.split()[1].replace(",", ""))
    assert f"({count:,} − 1 − 512) × 2,097,152 B = {(count - 513) * 2_097_152:,} B" in line


def test_the_command_decides_by_lines_or_by_a_share(capsys):
    """8,192 tokens × (2 × 4,096 + 3 × 14,336) × 2 B and 128,256 logits × 4 B; 358 and 150 MiB; else 90 %."""
    assert main(["Llama-3 8B", "--gpu", "H100"]) == 0
    printed = capsys.readouterr().out
    usable = 85_520_809_984 - 8192 * (2 * 4096 + 3 * 14_336) * 2 - 128_256 * 4 - (358 + 150) * 2**20
    for line in (
        "8,192 tokens of a step × 3 gate, input, product × 14,336 width of the feed-forward × 2 bytes (bf16)\n",
        "358 MiB × 1,048,576 bytes each\n  = 375,390,208 B",
        "85,520,809,984 B − 839,373,824 B of activations − 375,390,208 B of context − 157,286,400 B for fragmentation"
        f" = {usable:,} B for weights and cache",
        f"fits, {usable - 17_134_264_320:,} B left",
        f"Largest batch at 8,192 tokens: {(usable - 16_060_522_496) // 2**30} sequences",
    ):
        assert line in printed
    assert main(["Llama-3 8B", "--gpu", "M4", "--fragmentation-mib", "0"]) == 0
    assert "137,438,953,472 B × 75 % − 52,941,824 B of activations" in capsys.readouterr().out
    assert main(["Llama-3 8B", "--gpu", "H100", *SHARE]) == 0
    assert (
        f"{85_520_809_984 - 76_968_728_985 - 839_373_824 - 375_390_208:,} B left for fragmentation"
        in capsys.readouterr().out
    )
    assert main(["Llama-3 8B", "--users", "4", "--gpu", "T4", "--context-mib", "20000"]) == 0
    assert "the lines beside weights and cache take all of it" in capsys.readouterr().out


def test_the_command_says_what_a_load_needs(capsys):
    assert main(["Llama-3 70B", "--users", "64", "--tokens", "32768", *SHARE]) == 0
    printed = capsys.readouterr().out
    assert "64 users at 32,768 tokens: 828,302,180,352 B" in printed
    assert "H200 141 GB     at least 7 by bytes; fits on 7 (tp 1 × pp 7); in one server without stages 8" in printed
    assert main(["DeepSeek-V3", "--users", "64", "--tokens", "32768", "--gpu", "H100", "--weights", "fp8", *SHARE]) == 0
    assert "fits on 12 (tp 4 × pp 3, dcp 4)" in capsys.readouterr().out
    assert main(["T5-11B (v1.0)", "--users", "64", "--tokens", "32768", "--gpu", "T4"]) == 0
    assert "more than 8 tensor-parallel ranks" in capsys.readouterr().out


def test_the_command_reads_a_config(capsys, tmp_path):
    given = json.loads((Path(__file__).parents[1] / "published" / "hub_configs.json").read_text(encoding="utf-8"))
    path = tmp_path / "config.json"
    path.write_text(json.dumps(given["Gemma-3 12B (text)"]))
    assert main(["--config", str(path), "--tokens", "131072"]) == 0
    printed = capsys.readouterr().out
    assert "8,925,478,912 B" in printed
    assert (
        "text_config.head_dim is not in the file: 256, as transformers' class for gemma3_text then has it." in printed
    )
    assert main(["--config", str(path), "--users", "2"]) == 0
    assert "text_config.head_dim is not in the file: 256, as transformers' class for gemma3_text then has it." in (
        capsys.readouterr().out
    )
    path.write_text(json.dumps(given["Llama-3 8B"]), encoding="utf-8-sig")  # as Windows' editors write it
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert main(["--config", str(path)]) == 0
    assert "= 1,073,741,824 B" in capsys.readouterr().out
    path.write_text("{")
    assert "no JSON at line 1" in refused(capsys, "--config", str(path))
    path.write_bytes(b"\xff\xfe\x00")
    assert "no UTF-8 text" in refused(capsys, "--config", str(path))
    assert "No such file" in refused(capsys, "--config", str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Llama-3 8B", "--gpu", "V100"], "gpu is 'V100'; expected one of B300 288 GB, B200 180 GB, H200 141 GB"),
        (["Llama-3 8B", "--gpu-memory", "80"], "gpu: expected --gpu NAME, or --gpu-memory and --gpu-bandwidth"),
        (["Llama-3 8B", "--users", "0"], "users is 0; expected a whole number from 1"),
        (["Llama-3 8B", "--gpu", "H100", "--weights", "q9"], "weights is 'q9'; expected one of"),
        (["Llama-3 8B", "--draft", "Llama-9"], "draft: model 'Llama-9' is not in the catalogue"),
        (["Llama-3 8B", "--dcp", "2"], "dcp is 2; expected a divisor of the copies"),
        # Nothing is passed over because no GPU is asked for, or because something else takes its place.
        (["Llama-3 8B", "--weights", "foo"], "weights is 'foo'; expected one of fp32"),
        (["Llama-3 8B", "--embeddings", "foo"], "embeddings is 'foo'; expected one of fp32"),
        (["Llama-3 8B", "--embeddings", ""], "embeddings is ''; expected one of fp32"),
        (["Llama-3 8B", "--users", "4", "--weights", "foo"], "weights is 'foo'; expected one of fp32"),
        (["Llama-3 8B", "--usable-percent", "0"], "usable_percent is '0'; expected a percentage from 1 to 100"),
        (["Llama-3 8B", "--step-tokens", "0"], "step_tokens is 0; expected a whole number from 1"),
        (["Llama-3 8B", "--context-mib", "-1"], "context_mib is -1; expected a whole number from 0"),
        (["Llama-3 8B", "--fragmentation-mib", "-1"], "fragmentation_mib is -1; expected a whole number from 0"),
        (["Llama-3 8B", "--users", "4", "--batch", "1"], "batch is 1; expected none with --users, which takes its"),
        (["Llama-3 8B", "--gpu", "H100", "--gpu-memory", "80"], "gpu: expected --gpu NAME, or --gpu-memory and"),
        (["Llama-3 8B", "--gpu-memory", "0", "--gpu-bandwidth", "9"], "--gpu-memory is 0; expected a whole number"),
        (["Llama-3 8B", "--gpu-memory", "9", "--gpu-bandwidth", "0"], "--gpu-bandwidth is 0; expected a whole number"),
        (["--list", "junk"], "model is 'junk'; expected nothing beside --list, which names all models and stops."),
        (["--list", "--gpu-memory", "80"], "--gpu-memory is 80; expected nothing beside --list"),
        # The command's own way to the names, not that of a caller in Python.
        ([""], "model '' is not in the catalogue; there are 55: catalogue() or --list names them all.\n"),
        (
            ["zzzzzzzz"],
            "model 'zzzzzzzz' is not in the catalogue; there are 55: catalogue() or --list names them all.\n",
        ),
        (
            ["Llama-3 8B", "--draft", ""],
            "draft: model '' is not in the catalogue; there are 55: catalogue() or --list names them all",
        ),
    ],
)
def test_the_command_names_the_wrong_field(capsys, arguments, says):
    assert refused(capsys, *arguments).startswith(f"kv_math: {says}")


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (["Llama-3 8B", "--tokens", "32768"], "32,768 tokens are more than the model's context of 8,192."),
        (
            ["T5-large (v1.0)", "--tokens", "1000"],
            "No encoder_tokens given: the encoder's input counts as 1,000 tokens, like the decoder's.",
        ),
    ],
)
@pytest.mark.parametrize("load", [[], ["--users", "4"]])
def test_the_command_notes_what_a_figure_rests_on_for_a_load_too(capsys, arguments, note, load):
    assert main([*arguments, *load]) == 0
    assert f"Note       {note}\n" in capsys.readouterr().out


@pytest.mark.parametrize("tokens", ["8192", "8,192", "8_192", "+8,192"])
def test_the_command_reads_numbers_as_it_prints_them(capsys, tokens):
    assert main(["Llama-3 8B", "--tokens", tokens, "--batch", "1,000"]) == 0
    assert "= 1,073,741,824,000 B" in capsys.readouterr().out
    own = ["--gpu-memory", "1,000", "--gpu-bandwidth", "8,000", "--reserved-tokens", "131,072"]
    assert main(["Llama-3 8B", "--tokens", tokens, *own]) == 0
    assert "17,179,869,184 B" in capsys.readouterr().out  # 131,072 tokens of 131,072 bytes


WHOLE = "expected a whole number, such as 8192 or 8,192 (--help names all options)."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--tokens", "8,19"], f"--tokens: '8,19'; {WHOLE}"),
        (["--batch", "8.5"], f"--batch: '8.5'; {WHOLE}"),
        (["--gpu-memory", "80GB"], f"--gpu-memory: '80GB'; {WHOLE}"),
        (["--tp", ""], f"--tp: ''; {WHOLE}"),
        (["--users", "9" * 5000], both_ends(f"--users: '{'9' * 5000}'; {WHOLE}", LONGEST)),
        (["--tokens", "999,999,999,999"], "tokens is 999,999,999,999; expected a whole number from 1 to 100,000,000."),
        (["--tokens", "-1"], "tokens is -1; expected a whole number from 1 to 100,000,000."),
        (["--tokens"], "--tokens: expected one argument (--help names all options)."),
        (["--token-count", "1"], "unrecognized arguments: --token-count 1 (--help names all options)."),
        (["--config", "x"], "which model? A name (--list names them all), --config FILE or --hub OWNER/NAME."),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_command_says_in_one_line_what_it_cannot_read(capsys, arguments, says):
    assert refused(capsys, "Llama-3 8B", *arguments) == f"kv_math: {says}\n"


def test_it_runs_as_a_module():
    command = [sys.executable, "-m", "model.kv_math", "TinyLlama-1.1B", "--tokens", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "22,528 B" in done.stdout
    assert "RuntimeWarning" not in done.stderr  # as runpy gives when the package itself imports kv_math eagerly


def test_help_lists_every_architecture_whose_metadata_is_read(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out.partition("GGUF metadata --config reads:")[2].partition("\n\n")[0]
    assert {name.strip(" .\n") for name in listed.split(",")} == set(ARCHITECTURES)
