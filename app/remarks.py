"""The remarks on models and GPUs in Chinese: where numbers were read, what was not verified, what to know.

The English ones stand in catalogue.json, kv_math/gpus.py and hf_spec.py; catalogue.zh.json has the Chinese of each.
"""

import json
import re
from functools import cache
from pathlib import Path

from visuals.messages.kv import Remark

# What hf_spec.py remarks on a config.json, with the file's own names and values in it; sources that are all names.
_PATTERNS = (
    (r"config\.json of Pasted config", "粘贴的 config.json"),
    (r"config\.json of (.+)", r"\1 的 config.json"),
    (r"GGUF metadata of Pasted config", "粘贴的 GGUF 元数据"),
    (r"GGUF metadata of (.+)", r"\1 的 GGUF 元数据"),
    (
        r"GGUF metadata does not say whether the output reuses the embedding; it is counted once\.",
        "GGUF 元数据没有说明输出层是否与词嵌入共用权重；这里只计一次。",
    ),
    (r"(.+) is no field that is read; was (.+) meant\?", r"\1 不是会读取的字段；是否应为 \2？"),
    (
        r"Unusually wide: head_dim (.+) × (.+) heads are more than (.+) × hidden_size (.+)\.",
        r"宽得不寻常：head_dim \1 × \2 个头，超过 hidden_size \4 的 \3 倍。",
    ),
    (r"Not read, and no figure here depends on it: (.+) is missing\.", r"未读取，这里没有数字取决于它：缺少 \1。"),
    (r"Not read, and no figure here depends on it: (\S+) is (.+)\.", r"未读取，这里没有数字取决于它：\1 是 \2。"),
    (r"Not in the file, so as transformers' class has it: (.+)\.", r"文件里没有，取 transformers 类的默认值：\1。"),
    (
        r"The checkpoint is quantised \(quantization_config\): (.+); all but the experts in 16 bits\. "
        r"The weights count so unless another format is chosen\.",
        r"权重文件是量化的（quantization_config）：\1；除专家外均为 16 位。未另选格式时权重按此计算。",
    ),
    (
        r"The checkpoint is quantised \(quantization_config\): (.+); embeddings, norms, routers and output layer in 16 "
        r"bits\. The weights count so unless another format is chosen\.",
        r"权重文件是量化的（quantization_config）：\1；词嵌入、归一化、路由器和输出层为 16 位。"
        r"未另选格式时权重按此计算。",
    ),
    (
        r"The checkpoint asks for a cache in (\w+) \((.+)\), which vLLM's auto takes: choose \w+ as the format\.",
        r"权重文件要求缓存用 \1（\2），vLLM 的 auto 会照办：请把格式选为 \1。",
    ),
    (
        r"config\.json names (\w+)\. The weights count so unless another format is chosen\.",
        r"config.json 写明 \1。未另选格式时权重按此计算。",
    ),
    (
        r"The multi-token-prediction layers \((.+)\) are not counted\.",
        r"多词元预测（MTP）层（\1）不计。",
    ),
    (
        r"The text model alone: the audio tower \(audio_config\) is not counted\.",
        "只算文本模型：音频塔（audio_config）不计。",
    ),
    (
        r"The text model alone: the vision tower \(vision_config\) is not counted\.",
        "只算文本模型：视觉塔（vision_config）不计。",
    ),
    (r"github (\S+?)( \(Google\))?: ([^:]+)(?:: (\w+))?", r"GitHub \1\2：\3 \4"),
    (r"pip (\S+): ([^:]+)", r"PyPI \1：\2"),
)


_UNCOUNTED = re.compile(
    r"The checkpoint is quantised, in a way that is not counted \(quantization_config\): (.+)\. "
    r"The weights count in the format chosen, else in bf16\."
)
# Why it is not (model/published/quantised.py).
_REASONS = (
    (r"it is no object", "它不是对象"),
    (r"quant_method (.+) is none of (.+)", r"quant_method \1 不在 \2 之中"),
    (r"its (\w+) is set", r"它设了 \1"),
    (r"its (\w+) is no list(?: of names)?", r"它的 \1 不是名称列表"),
    (r"its (\w+) (?:is|are) (.+), and all Linear ones are read", r"它的 \1 是 \2，这里只读全部 Linear 层"),
    (r"its (\w+) (?:is|are) (.+)", r"它的 \1 是 \2"),
    (r"its config_groups quantise no weights", "它的 config_groups 不量化权重"),
    (r"it has no config_groups, and one is read", "它没有 config_groups，这里需要一组"),
    (r"it has (\d+) config_groups, and one is read", r"它有 \1 组 config_groups，这里只读一组"),
    (r"it names neither load_in_4bit nor load_in_8bit", "它既没有 load_in_4bit 也没有 load_in_8bit"),
    (r"it excepts (.+), and no pattern but a layer's number is read", r"它排除 \1，这里只读层号的通配"),
    (r"it names (.+), which is no module that is counted", r"它提到 \1，这里没有这个模块"),
    (r"the shapes of (.+) are not known matrix by matrix", r"\1 各矩阵的形状这里不知道"),
)


def in_languages(remark: str) -> Remark:
    """An English remark in each language of the page."""
    return {"en": remark, "zh": in_chinese(remark)}


def in_chinese(remark: str) -> str:
    """The remark in Chinese; the remark itself where it is all names and identifiers."""
    if remark in _table():
        return _table()[remark]
    if uncounted := _UNCOUNTED.fullmatch(remark):
        reason = _translated(_REASONS, uncounted[1])
        return f"权重文件是量化的，但其方式未计入（quantization_config）：{reason}。权重按所选格式计算，未选时按 bf16。"
    return _translated(_PATTERNS, remark)


def _translated(patterns: tuple[tuple[str, str], ...], remark: str) -> str:
    for pattern, chinese in patterns:
        if match := re.fullmatch(pattern, remark):
            return match.expand(chinese).rstrip()
    return remark


@cache
def _table() -> dict[str, str]:
    file = json.loads(Path(__file__).with_name("catalogue.zh.json").read_text(encoding="utf-8"))
    return {english: chinese for part in file.values() if isinstance(part, dict) for english, chinese in part.items()}
