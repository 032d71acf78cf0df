"""What the bus carries."""

import json
import re

from app.build import head
from app.panels import sealed
from visuals import STATIC


def test_a_sealed_message_reads_back_and_holds_no_tag() -> None:
    message = {"prompt": "<script>x</script> 猫 \\u003c", "n": [1.5, None]}
    assert json.loads(sealed(message)) == message
    assert "<" not in sealed(message)


def test_the_first_chapters_modules_are_named_and_no_other() -> None:
    named = set(re.findall(r"modulepreload' href='glass/([^']+)'", head()))
    assert {"store.js", "compute.js", "panels/token/tokens.js", "panels/attend/attention-maps.js"} <= named
    assert not {"chart.js", "panels/compare/head-change.js", "panels/kv/kv-live.js"} & named
    assert all((STATIC / name).is_file() for name in named)
