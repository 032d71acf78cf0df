"""What the panels' own modules say about them, as Node reads it."""

import json
import re
import subprocess
from functools import cache
from typing import Any

from app.chapters import CHAPTERS
from visuals import STATIC


@cache
def about() -> dict[str, dict[str, Any]]:
    """The export `about` of every panel that has one (visuals/static/frame.js says what is in it)."""
    modules = {path: path.read_text(encoding="utf-8") for path in STATIC.glob("panels/*/*.js")}
    files = {path.stem: path.as_uri() for path, source in modules.items() if "export const about" in source}
    script = f"""
        globalThis.ResizeObserver = class {{}};
        globalThis.document = {{ createTreeWalker: () => null }};  // which lit-html asks for as it loads
        const all = await Promise.all(Object.entries({json.dumps(files)}).map(async ([kind, file]) =>
            [kind, (await import(file)).about]));
        console.log(JSON.stringify(Object.fromEntries(all)));
    """
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def tensors() -> dict[str, list[str]]:
    """The tensors that each panel names; a panel without any is left out."""
    return {kind: said["tensors"] for kind, said in about().items() if "tensors" in said}


@cache
def of_a_llama() -> dict[str, tuple[str, ...]]:
    """The chapters with the panels that a LLaMA has: one whose `about` has `only` is about other networks."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in STATIC.glob("panels/*/*.js")}
    others = {kind for kind, said in texts.items() if re.search(r"export const about = \{[^}]*?\bonly:", said)}
    return {chapter: tuple(kind for kind in kinds if kind not in others) for chapter, kinds in CHAPTERS.items()}
