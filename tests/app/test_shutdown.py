"""The end of the process, whatever holds it, in a Python of its own."""

import signal
import subprocess
import sys

import pytest

from tests.page import ROOT

STAYS = """
import signal
import threading
import time
from app.shutdown import leave, wait_for_signal

def stay():
    while signal.SIG_DFL in map(signal.getsignal, (signal.SIGTERM, signal.SIGINT)):
        time.sleep(0.01)
    print("waits", flush=True)
    threading.Event().wait()  # for ever, and the process with it

signal.signal(signal.SIGINT, signal.SIG_DFL)  # not Python's own
threading.Thread(target=stay).start()
print(wait_for_signal().name, flush=True)
leave()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_thread_that_never_ends_holds_no_server_that_was_asked_to_go(number: signal.Signals) -> None:
    command = [sys.executable, "-c", STAYS]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "waits\n"
            process.send_signal(number)
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (said, process.returncode) == (f"{number.name}\n", 0)
