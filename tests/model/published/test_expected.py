"""What would be right: every English text can be filled in by whoever refuses, and every refusal carries its code."""

import ast
import re
from pathlib import Path

import model
from model.published.expected import ENGLISH, any_of, expected

ROOT = Path(model.__file__).parent
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def test_every_use_gives_just_the_particulars_of_its_text() -> None:
    used = {"one_of": {"names"}, "one_of_near": {"names", "near"}}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "expected" and path.name != "expected.py":
                assert isinstance(node.args[0], ast.Constant)
                code, given = node.args[0].value, {keyword.arg for keyword in node.keywords}
                assert used.setdefault(code, given) == given == set(PLACEHOLDER.findall(ENGLISH[code])), code
    assert used.keys() == ENGLISH.keys()


def test_the_text_and_its_particulars() -> None:
    assert str(expected("whole", low=1, high=10**8)) == "a whole number from 1 to 100,000,000"
    assert str(any_of(["a", "b"])) == "one of a, b"
    assert any_of(["a", "b"], ["a"]).as_params() == {
        "expected": "one of a, b (did you mean a?)",
        "expected_code": "one_of_near",
        "expected_params": {"names": "a, b", "near": "a"},
    }
