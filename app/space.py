"""What a Hugging Face Space tells the programs that it runs, in their environment."""

import os

ON_A_SPACE = "SPACE_ID" in os.environ
# The Space has no GPU of its own: one is lent for single calls (app/zerogpu.py). Read as `spaces` reads it.
ON_ZEROGPU = os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")
