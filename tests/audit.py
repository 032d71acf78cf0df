"""Known weaknesses of what is pinned: `python -m tests.audit`, of `make lint`. Fails where there are any.

Where no index answers that would know them, it says so and passes: a build without a network is no weakness.
"""

import subprocess
import sys

from tests.lock import LOCK

UNREACHED = ("ConnectionError", "ServiceError", "Failed to connect", "Max retries exceeded", "timed out")


def main() -> int:
    """Ask; 1 where a pinned package has a known weakness."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--no-deps", "--disable-pip"]
    command += ["--progress-spinner", "off", "--timeout", "5"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    if result.returncode and not any(word in said for word in UNREACHED):
        print(said)
        return 1
    unknown = sum("could not be audited" in line for line in said.splitlines())
    known = LOCK.read_text(encoding="utf-8").count("==") - unknown
    print(f"pip-audit: {known} of the pinned packages looked up" if not result.returncode else "pip-audit: no index")
    return 0


if __name__ == "__main__":
    sys.exit(main())
