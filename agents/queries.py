"""SQL about agents for statements of other apps (see `config.extension_points`)."""

from __future__ import annotations

OPERATOR_OF = "(SELECT agent.operator_id FROM agents_agent agent WHERE agent.account_id = {account})"
