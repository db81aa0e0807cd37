"""The settings of mail, from EMAIL_URL.

Without it, a service over http prints mails. One over https sends none: its output is stored in logs, and a
mail may have a link that sets a new password.
"""

from config import env, mail_url
from config.address_settings import HTTPS

_url = env.text("EMAIL_URL")
# Whether mails reach people, and whether they are printed. Pages say so if they do not.
MAIL_IS_SENT = bool(_url)
MAIL_IS_PRINTED = not MAIL_IS_SENT and not HTTPS
_read = mail_url.mail_settings(_url or (mail_url.PRINTED if MAIL_IS_PRINTED else mail_url.DROPPED))

EMAIL_BACKEND = _read["EMAIL_BACKEND"]
EMAIL_HOST = _read["EMAIL_HOST"] or "localhost"
EMAIL_PORT = _read["EMAIL_PORT"]
EMAIL_HOST_USER = _read["EMAIL_HOST_USER"] or ""
EMAIL_HOST_PASSWORD = _read["EMAIL_HOST_PASSWORD"] or ""
EMAIL_USE_TLS = _read.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = _read.get("EMAIL_USE_SSL", False)
EMAIL_FILE_PATH = _read["EMAIL_FILE_PATH"]
# Seconds that each step to a connection to the mail server may take.
EMAIL_TIMEOUT = 10
# The name with which this host greets the mail server (HELO); empty: that of the operating system.
EMAIL_HELO = env.greeting("EMAIL_HELO")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "Community Messaging <no-reply@localhost>")
