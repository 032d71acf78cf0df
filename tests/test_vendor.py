"""Code of others lies in the page's folder exactly as it was published."""

import hashlib
import re
from pathlib import Path

VENDOR = Path(__file__).parent.parent / "visuals" / "static" / "vendor"
ROWS = re.findall(r"^\| (\S+\.js) \|.*`(\S+)` \| ([0-9a-f]{64}) \|$", (VENDOR / "README.md").read_text("utf-8"), re.M)


def test_each_file_is_named_with_its_licence_and_hash() -> None:
    assert {name for name, _, _ in ROWS} == {path.name for path in VENDOR.glob("*.js")}
    for name, licence, digest in ROWS:
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
        assert (VENDOR / licence).read_text("utf-8").strip(), name
