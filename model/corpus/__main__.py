"""python -m model.corpus: writes little_world.json, what others are told of the corpus."""

import json

from ..little_world import FILE
from .summary import summary

if __name__ == "__main__":
    FILE.write_text(json.dumps(summary(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
