"""Query parameters that track how a reader reached a page and do not identify the page.

A name is listed if its owner documents it as tracking and no known site selects content by it. Names that are also used
for content (`ref`, `source`, `id`, `campaign`, `si`, `spm`, `trk`) are not listed, even if they mostly track.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# The date of the last change. A change gives other ids to pages: see `messaging.pages.page_ids` on versions.
TRACKING_VERSION = "2026-11-29"

_PREFIXES = (
    "utm_",  # Google Analytics and compatible tools
    "mtm_",  # Matomo
    "hsa_",  # HubSpot ads
    "oly_",  # Omeda
    "vero_",  # Vero
    "via.",  # Hypothesis
    "wt.",  # Webtrends
    "_x_tr_",  # Google Translate
)

_BY_OWNER = {
    "Google": "gclid gclsrc gbraid wbraid dclid gad_source gad_campaignid srsltid _ga _gac _gl",
    "Meta": "fbclid fb_action_ids fb_action_types fb_ref fb_source igshid igsh mibextid",
    "Microsoft": "msclkid",
    "Yandex": "yclid ysclid _openstat",
    "X": "twclid ref_src __twitter_impression",
    "TikTok, LinkedIn, Pinterest, Snapchat, Reddit": "ttclid li_fat_id epik sccid rdt_cid",
    "Matomo": "pk_campaign pk_cid pk_content pk_keyword pk_kwd pk_medium pk_source piwik_campaign piwik_kwd",
    "Mailchimp": "mc_cid mc_eid mc_tc",
    "HubSpot": "_hsenc _hsmi __hssc __hstc __hsfp hsctatracking",
    "Marketo, Drip, Klaviyo, dotdigital, ActiveCampaign": "mkt_tok __s _ke _kx dm_i vgo_ee",
    "Kit, Eloqua": "ck_subscriber_id elqtrack elqtrackid elqaid elqat",
    "MailerLite, Bronto": "ml_subscriber ml_subscriber_hash _bta_c _bta_tid",
    "Adobe, Impact, CJ": "ef_id s_kwcid irclickid irgwc cjevent",
    "Branch, Piano": "_branch_match_id _branch_referrer at_campaign at_medium",
    "WeChat": "isappinstalled",
    "WordPress": "replytocom",
    "Yahoo": "guccounter guce_referrer guce_referrer_sig",
    "Comscore": "ns_campaign ns_linkname ns_mchannel ns_source",
}
# WeChat names the place of a link that was shared there. The last one alone may select content.
_PLACE_OF_APP = "timeline"
_PLACES = frozenset({"singlemessage", "groupmessage", _PLACE_OF_APP})
# Of an address that was copied from HTML, or from the HTML of HTML.
_ENTITIES = re.compile(r"(?:amp(?:;|%3B))+", re.IGNORECASE)
_NAMES = frozenset(" ".join(_BY_OWNER.values()).split())


def is_tracking(name: str) -> bool:
    """`name` is decoded; its case is ignored."""
    name = name.lower()
    return name in _NAMES or name.startswith(_PREFIXES)


def is_share(name: str, value: str, pairs: Iterable[str]) -> bool:
    """Whether it is WeChat's parameter `from`, among these parameters."""
    if name != "from" or value not in _PLACES:
        return False
    return value != _PLACE_OF_APP or any(pair.startswith("isappinstalled=") for pair in pairs)


def without_entities(name: str) -> str:
    """The name without `amp;` before it."""
    match = _ENTITIES.match(name) if name[0:1] in "aA" else None
    return name[match.end() :] if match else name
