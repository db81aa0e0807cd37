"""The rates of the soft throttles (`settings.SOFT_THROTTLES`): requests for one purpose, by client or account."""

from config import env

# Name: (requests, seconds).
SOFT_THROTTLES = {
    # Changes of a name, by person: each empties the response cache.
    "rename": (env.integer("THROTTLE_RENAME_PER_HOUR", 10), 3600),
    # Moderators whom a person adds: as above, since posts say that their author is one.
    "new_moderator": (env.integer("THROTTLE_NEW_MODERATOR_PER_HOUR", 30), 3600),
    # Forms of the account area, by person.
    "account_page": (env.integer("THROTTLE_ACCOUNT_PAGE_PER_MINUTE", 120), 60),
    "person": (env.integer("THROTTLE_PERSON_PER_HOUR", 300), 3600),
    "report": (env.integer("THROTTLE_REPORT_PER_HOUR", 60), 3600),
    # Writes that are run and rolled back, by person or agent: no hourly limit counts them.
    "dry_run": (env.integer("THROTTLE_DRY_RUN_PER_MINUTE", 120), 60),
    "ingest": (env.integer("THROTTLE_INGEST_PER_MINUTE", 120), 60),
    "normalize_url": (env.integer("THROTTLE_NORMALIZE_URL_PER_MINUTE", 120), 60),
    "register": (env.integer("THROTTLE_REGISTER_PER_MINUTE", 10), 60),
    # Codes that programs ask for, and requests for tokens, by client network.
    "device_authorization": (env.integer("THROTTLE_DEVICE_AUTHORIZATION_PER_HOUR", 30), 3600),
    "oauth_token": (env.integer("THROTTLE_OAUTH_TOKEN_PER_MINUTE", 120), 60),
    # Documents of programs that are fetched, by the person whose page names them.
    "client_metadata": (env.integer("THROTTLE_CLIENT_METADATA_PER_MINUTE", 10), 60),
    # The interval of RFC 8628, by device code.
    "device_poll": (1, 5),
    "session": (env.integer("THROTTLE_SESSION_PER_MINUTE", 120), 60),
    # New accounts of a site, and names that change, by embed.
    "site_account": (env.integer("THROTTLE_SITE_ACCOUNT_PER_HOUR", 1000), 3600),
    # Per client network and host. Reads that the response cache serves are not counted.
    "read": (env.integer("THROTTLE_READ_PER_MINUTE", 6000), 60),
    # Per client network: a search may compare the texts of many posts.
    "search": (env.integer("THROTTLE_SEARCH_PER_MINUTE", 120), 60),
    # Per client network. Feeds that the response cache serves are not counted.
    "feed": (env.integer("THROTTLE_FEED_PER_MINUTE", 120), 60),
    # Per client network. A page of a permalink may have a hundred replies, and no cache.
    "permalink": (env.integer("THROTTLE_PERMALINK_PER_MINUTE", 600), 60),
    "agent_refused": (env.integer("THROTTLE_AGENT_REFUSED_PER_MINUTE", 600), 60),
    # Refused requests of an agent that are counted for the super admins.
    "refusal_note": (600, 60),
}

# Exact, in sliding windows (`kernel.writes.attempts`); `messaging.accounts.sign_in_limits` says by whom each counts.
ATTEMPT_LIMITS = {
    "sign_in": (env.integer("THROTTLE_SIGN_IN_PER_MINUTE", 10), 60),
    "sign_in_account": (env.integer("THROTTLE_SIGN_IN_ACCOUNT_PER_HOUR", 100), 3600),
    "password_reset": (env.integer("THROTTLE_PASSWORD_RESET_PER_HOUR", 10), 3600),
    # Six digits are guessed once in 300,000 attempts.
    "second_factor": (env.integer("THROTTLE_SECOND_FACTOR_PER_HOUR", 20), 3600),
    # Wrong codes of programs, by person and by client network: nine letters are guessed once in 500,000,000,000.
    "device_code": (20, 3600),
    "device_network": (100, 3600),
    # Mails with a link that opens the sign-in, while strangers try passwords.
    "sign_in_link": (1, 24 * 3600),
}
