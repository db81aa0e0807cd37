"""Dotted paths to what the apps add to packages that may not import them (see the import rules in pyproject.toml)."""

# Functions that find, once a second, the credentials of open streams that are no longer valid.
CREDENTIAL_CHECKS = ["kernel.api.jwt.ended_people", "agents.authentication.ended_agents"]
# A function that finds ids of moved pages: `(page_ids) -> set[str]`, those of these and those that redirect to these.
MOVED_PAGES = "messaging.pages.moving.moved_pages"
# The rules that the content of a new message must pass.
CONTENT_RULES = ["messaging.communities.content_rules.CommunityRule", "embeds.content_rules.EmbedRule"]
# What an embed shows: a class with `errors`, and `find(embed_id) -> messaging.posts.shown.Shown`.
EMBED_VIEWS = "embeds.shown.EmbedViews"
# The SQL expression for the operator of the account `{account}`; null of a person.
OPERATOR_OF = "agents.queries.OPERATOR_OF"
# A function that finds the communities whose widget a page has: `(normalized_url) -> list[PageCommunity]`.
PAGE_COMMUNITIES = "embeds.places.communities_of_page"
# What webhooks report (see messaging.webhooks.targets).
WEBHOOK_TARGETS = ["embeds.webhooks.EmbedTargets", "agents.webhooks.AgentTargets"]
# The functions that the command `prune` calls: `(now, dry_run) -> {kind of row: deleted}`.
PRUNERS = [
    "kernel.writes.pruning.prune",
    "kernel.changes.pruning.prune",
    "messaging.privacy.exports.prune",
    "messaging.privacy.exports.prune_records",
    "messaging.moderation.bulk_jobs.prune",
    "messaging.privacy.erased_handles.prune",
    "messaging.pages.services.prune",
    "messaging.accounts.sessions.prune_panel_sessions",
    "messaging.accounts.second_factor.prune",
    "messaging.moderation.reporting.prune",
    "messaging.accounts.sessions.prune",
    "messaging.accounts.sign_ins.prune",
    "messaging.posts.editing.prune",
    "messaging.webhooks.secrets.prune",
    "agents.denied_calls.prune",
    "embeds.analytics.rollup.prune",
    "embeds.forgetting.prune",
    "embeds.page_loads.prune",
    "embeds.site_accounts.keys.prune",
    "embeds.site_accounts.services.prune",
    "account_area.sign_in.sessions.prune",
    "account_area.submissions.prune",
    "mails.pruning.prune",
    "desk.rolling.prune",
    "moving.pruning.prune",
    "oauth.device_grants.prune",
    "oauth.code_grants.prune",
]
# The commands that the worker runs periodically.
HOUSEKEEPING = [
    "rollup_analytics",
    "announce_expiring_tokens",
    "check_hosts",
    "prune",
    "roll_up_desk",
    "make_partitions",
]
# The work on rows that is done later: each a kernel.jobs.queue.RowJob.
JOBS = [
    "messaging.privacy.jobs.EXPORTS",
    "messaging.privacy.jobs.RECORDS",
    "messaging.privacy.jobs.ERASURES",
    "messaging.moderation.lists.running.JOBS_OF_THE_DESK",
    "moving.jobs.IMPORTS",
]
# What an account has stored, for its export: `(account_id: UUID) -> Iterable[Section]` (see kernel.personal_data). A
# section must not contain secrets.
PERSON_EXPORTERS = [
    "account_area.personal_data.sections",
    "messaging.privacy.exporters.sections",
    "messaging.privacy.moderation.sections",
    "reactions.personal_data.sections",
    "agents.personal_data.sections",
    "embeds.personal_data.sections",
    "kernel.changes.personal_data.sections",
    "mails.personal_data.sections",
    "desk.personal_data.sections",
    "moving.personal_data.sections",
    "oauth.personal_data.sections",
]
# What was decided about an account, for its record: as above, and not in the export of the person.
RECORD_EXPORTERS = ["desk.records.decisions"]
# The functions that erase people, in this order: `(subject: Subject) -> int` (see kernel.personal_data). Each call runs
# in a transaction of its own, changes at most a batch of rows and returns their number; it is repeated until it returns
# 0. An interrupted erasure starts again with the first function. After the last one, no row may refer to an account of
# the subject.
PERSON_ERASERS = [
    "desk.personal_data.erase",
    "mails.personal_data.erase",
    "mails.personal_data.erase_mentions",
    "messaging.privacy.erasers.exports",
    "messaging.privacy.erasers.webhooks",
    "reactions.personal_data.erase",
    "messaging.privacy.posts.erase",
    "moving.personal_data.erase",
    "messaging.privacy.erasers.reports",
    "messaging.privacy.moderation.erase",
    "messaging.privacy.moderation.erase_mentions",
    "embeds.personal_data.erase",
    "oauth.personal_data.erase",
    "agents.personal_data.erase",
    "agents.personal_data.erase_mentions",
    "kernel.changes.personal_data.erase",
    "kernel.changes.personal_data.erase_mentions",
    "kernel.writes.personal_data.erase",
    "kernel.admin.personal_data.erase",
    "account_area.personal_data.erase_sessions",
    "messaging.privacy.erasers.sign_ins",
    "messaging.privacy.erasers.handles",
]
# The functions that are called when a person asks to be erased: `(person: Account) -> list[UUID]`. They end what is
# under way and return the accounts that the person operates.
PERSON_STOPPERS = ["agents.personal_data.stop"]
# The functions that create the demo data, in order; each takes a messaging.posts.demo.DemoContext.
DEMO_PARTS = [
    "agents.demo.agents",
    "messaging.posts.demo.conversation",
    "reactions.demo.reactions",
    "embeds.demo.embed",
]
# Pages of the admin that belong to no model: functions `(site) -> list[URLPattern]`.
ADMIN_URLS = ["desk.urls.urls_of"]
# What the overview of the admin shows beside the queues: functions `() -> dict`, the context of its template.
ADMIN_INDEX = ["desk.dashboard.context"]
# What the page of a row shows beside the row: functions `(row) -> SafeString`, empty for rows that they do not know.
ADMIN_PANELS = ["desk.courses.panel"]
# What the worker runs beside the jobs, by the setting that switches it on: a kernel.jobs.worker.Deliverer.
DELIVERERS = {"WEBHOOKS": "messaging.webhooks.deliverer.Deliverer", "MAIL_IS_SENT": "mails.deliverer.Deliverer"}
# Functions that the deliverer of mails calls once a minute; they may add events to the change log.
MAIL_ROUNDS = ["desk.health.watch"]
# Paths of forms with a file, and the function `(account, **groups of the path) -> int` that returns how many bytes the
# account may send; 0: none. Other bodies have at most 1 MiB.
UPLOADS = {r"/account/communities/(?P<slug>[^/]+)/moderation/imports/": "moving.uploads.upload_max"}
