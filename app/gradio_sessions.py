"""Keeps gradio from storing state for each open page: the components of this page never change.

By itself it describes every component anew for every session, some four milliseconds in which nothing else is answered,
and keeps what each was last sent. Whoever makes up a session for each request would have the server do little else.
"""

from copy import copy
from typing import Any

from gradio.blocks import Blocks
from gradio.state_holder import SessionState, StateHolder

from .build import GlassPage


class LightSession(SessionState):
    """A page's session, of which nothing is described and nothing kept."""

    def __init__(self, blocks: Blocks):
        self.blocks_config = copy(blocks.default_config)
        self.config_values: dict[int, Any] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 0

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Keeps nothing: the page itself knows what it shows."""


class LightSessions(StateHolder):
    """The sessions of a page, by name; those used last."""

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = LightSession(self.blocks)
        return super().__getitem__(session_id)


def keep_sessions_light(demo: GlassPage) -> None:
    """Have a page that is up keep such sessions from now on."""
    sessions = LightSessions()
    sessions.set_blocks(demo)
    demo.app.state_holder = sessions
