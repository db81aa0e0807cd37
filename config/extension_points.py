"""Dotted paths to what the apps add to packages that may not import them (see the import rules in pyproject.toml)."""

# Functions that find, once a second, the credentials of open streams that are no longer valid.
CREDENTIAL_CHECKS = ["config.api.jwt.ended_people", "agents.authentication.ended_agents"]
# The rules that the content of a new message must pass.
CONTENT_RULES = ["messaging.content_rules.CommunityRule", "embeds.content_rules.EmbedRule"]
# Functions that decide whether an embed may show a page: `(*, embed_id, page_url) -> bool`.
EMBED_CHECKS = ["embeds.lookup.allows_page"]
# What webhooks report (see messaging.webhooks.targets).
WEBHOOK_TARGETS = ["embeds.webhooks.EmbedTargets", "agents.webhooks.AgentTargets"]
# The functions that the command `prune` calls: `(now, dry_run) -> {kind of row: deleted}`.
PRUNERS = [
    "config.writes.pruning.prune",
    "config.changes.pruning.prune",
    "messaging.services.pages.prune",
    "messaging.services.panel_sessions.prune",
    "messaging.services.reporting.prune",
    "messaging.services.sessions.prune",
    "messaging.services.versions.prune",
    "messaging.webhooks.pruning.prune",
    "agents.denied_calls.prune",
    "embeds.analytics.retention.prune",
]
# The functions that create the demo data, in order; each takes a messaging.demo.DemoContext.
DEMO_PARTS = ["agents.demo.agents", "messaging.demo.conversation", "reactions.demo.reactions", "embeds.demo.embed"]
