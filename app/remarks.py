"""The remarks on models and GPUs in Chinese: where numbers were read, what was not verified, what to know.

The English ones stand in catalogue.json, kv_math/gpus.py and hf_spec.py; catalogue.zh.json has the Chinese of each.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from visuals.kv import Remark

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
    (r"Not in the file, so as transformers' class has it: (.+)\.", r"文件里没有，取 transformers 类的默认值：\1。"),
    (
        r"The checkpoint is quantised \(quantization_config\); the weights are counted in the dtype chosen\.",
        "权重文件是量化的（quantization_config）；这里按所选格式计算权重。",
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


def in_languages(message: Any) -> Any:
    """A message of the calculators, with every Remark in each language of the page: {en, zh}."""
    if isinstance(message, Remark):
        return {"en": str(message), "zh": in_chinese(message)}
    if isinstance(message, dict):
        return {name: in_languages(part) for name, part in message.items()}
    return [in_languages(part) for part in message] if isinstance(message, list) else message


def in_chinese(remark: str) -> str:
    """The remark in Chinese; the remark itself where it is all names and identifiers."""
    if remark in _table():
        return _table()[remark]
    for pattern, chinese in _PATTERNS:
        if match := re.fullmatch(pattern, remark):
            return match.expand(chinese).rstrip()
    return remark


@cache
def _table() -> dict[str, str]:
    file = json.loads(Path(__file__).with_name("catalogue.zh.json").read_text(encoding="utf-8"))
    return {english: chinese for part in file.values() if isinstance(part, dict) for english, chinese in part.items()}
