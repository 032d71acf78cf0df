"""The load test serves checkouts of other days."""

from pathlib import Path

import pytest

from app.loadtest import Side, served

# An app.py that has the options of its day, and stays once it has said where it is.
APP = """
import argparse, time
parser = argparse.ArgumentParser()
for option in {options}:
    parser.add_argument(option)
args = parser.parse_args()
print(f"Glass Llama is at http://127.0.0.1:{{args.port}}/", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("believes", [True, False])
def test_a_checkout_is_served_with_the_options_that_it_has(believes: bool, tmp_path: Path) -> None:
    options = ["--port", "--trusted-proxy"][: 1 + believes]
    (tmp_path / "app.py").write_text(APP.format(options=options))
    with served(Side(tmp_path), 8123) as server:
        assert server.address == "http://127.0.0.1:8123"
        given = Path(f"/proc/{server.pid}/cmdline").read_text().split("\0")
        assert ("--trusted-proxy" in given) == believes
