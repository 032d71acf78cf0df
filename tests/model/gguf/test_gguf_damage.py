"""Damaged, lying and hostile GGUF files: each is refused in one line that says what is wrong, soon, or loads whole."""

import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as BackEnd

import model
from model.checkpoint import BUNDLED
from model.errors import GlassLlamaError
from model.gguf.reader import GgufContent
from tests.model.gguf.written import Kind, byte_level, network, write

SOURCE = BackEnd.from_file(str(BUNDLED / "tokenizer.json"))
KEYS = byte_level(SOURCE, "smollm", ends=("<|end|>",))
VOCABULARY = SOURCE.get_vocab_size()
HEADER = struct.Struct("<4sIQQ")  # magic, version, tensors, keys
ARRAY, UINT8, STRING = 9, 0, 8


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = write(tmp_path_factory.mktemp("gguf") / "x.gguf", network("llama", VOCABULARY), "llama", KEYS, (Kind.Q8_0,))
    return path.read_bytes()


@pytest.mark.parametrize("share", [0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.999999])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, sound: bytes, share: float) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(sound[: max(4, int(len(sound) * share))])
    with pytest.raises(GlassLlamaError, match=r"cut\.gguf is damaged or cut short \(.+\); fetch it again\.$"):
        model.load(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_bytes_of_the_header_are_refused_or_harmless(tmp_path: Path, sound: bytes, data: st.DataObject) -> None:
    raw = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(4, 2000) | st.integers(4, len(sound) // 20))] = data.draw(st.integers(0, 255))
    path = tmp_path / "changed.gguf"
    path.write_bytes(raw)
    with suppress(GlassLlamaError):  # any other error fails
        model.load(path)


def _key(name: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + value


def _text(value: str, claimed: int | None = None) -> bytes:
    return struct.pack("<Q", len(value) if claimed is None else claimed) + value.encode()


def _list(kind: int, claimed: int, held: bytes = b"") -> bytes:
    return struct.pack("<IQ", kind, claimed) + held


LLAMA = _key("general.architecture", STRING, _text("llama"))
HUGE = 2**60
ONE_TENSOR = HEADER.pack(b"GGUF", 3, 1, 1) + LLAMA + _text("t")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (HEADER.pack(b"GGUF", 3, 0, HUGE), "keys; expected at most 4,096"),
        (HEADER.pack(b"GGUF", 3, HUGE, 0), "tensors; expected at most 65,536"),
        (HEADER.pack(b"GGUF", 1, 0, 0), "version 1"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", STRING, _text("x", HUGE)), "a text of 1,152,921,504,606,846,976"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", STRING, _text("x", 9)), "are to stand at byte"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", ARRAY, _list(UINT8, HUGE)), "expected a flat list of at most"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", ARRAY, _list(UINT8, 2**20)), "are to stand at byte"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", ARRAY, _list(STRING, 2**20)), "is to stand at byte"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", ARRAY, _list(ARRAY, 9, b"\0" * 64)), "a list of lists"),
        (HEADER.pack(b"GGUF", 3, 0, 1) + _key("a", 99, b"\0" * 64), "99"),
        (HEADER.pack(b"GGUF", 3, 0, 2) + LLAMA + LLAMA, "Duplicate general.architecture"),
        (
            ONE_TENSOR + struct.pack("<I4QIQ", 4, 2**31, 2**31, 2**31, 2**31, 0, 0),
            "which this file cannot hold",
        ),
        (ONE_TENSOR + struct.pack("<IQIQ", 1, 8, 0, HUGE), "are to stand at byte"),
        (ONE_TENSOR + struct.pack("<I", 2**31), "are to stand at byte"),
    ],
)  # fmt: skip
def test_a_header_that_claims_what_is_not_there_is_refused_at_once(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "lies.gguf"
    path.write_bytes(raw)
    begun = time.process_time()
    with pytest.raises(GlassLlamaError) as error:
        GgufContent(path)
    assert said in str(error.value)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"llama.block_count": None}, r"GGUF: llama\.block_count is missing"),
        ({"llama.block_count": 9}, r"llama\.block_count|the files hold 2 layers"),
        ({"llama.embedding_length": 128}, r"has shape"),
        ({"llama.attention.head_count": 3}, r"head"),
        ({"llama.expert_count": 8, "llama.expert_used_count": 2}, r"expert_count is 8; expected 0"),
        ({"llama.rope.scaling.type": "longrope", "llama.rope.scaling.factor": 2.0}, r"longrope"),
        ({"llama.attention.strange": 3}, r"llama\.attention\.strange"),
        ({"tokenizer.ggml.model": "t5"}, r"tokenizer\.ggml\.model is 't5'"),
    ],
)
def test_keys_that_do_not_fit_are_refused_by_name(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    path = write(tmp_path / "x.gguf", network("llama", VOCABULARY), "llama", KEYS, **changed)
    with pytest.raises(GlassLlamaError, match=said):
        model.load(path)


def test_an_architecture_that_is_not_read_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(HEADER.pack(b"GGUF", 3, 0, 1) + _key("general.architecture", STRING, _text("gemma3")))
    with pytest.raises(
        GlassLlamaError, match=r"general\.architecture is 'gemma3'; expected one of: llama, qwen2, qwen3\.$"
    ):
        model.load(path)
