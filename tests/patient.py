"""Requests as httpx makes them, whose answers are waited for: by itself it gives up after five seconds, and a busy
machine may take longer."""

from functools import partial

import httpx

get = partial(httpx.get, timeout=60)
post = partial(httpx.post, timeout=60)
