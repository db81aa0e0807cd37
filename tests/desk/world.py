"""Rows for every kind of page of the admin, and the paths of one page of each kind."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.admin.models import LogEntry

from agents.services import reject_request
from desk.models import DailyCount, DailyTotal, Of, Top, Total
from messaging.models import Account, Community, Message
from tests.admin.every_page import ID, EveryPage, kind_of, registered_admins
from tests.admin.pages import page as path_of
from tests.agents.factories import RequestFactory, agent_with_token
from tests.days import today
from tests.factories import MessageFactory

# What is no page: files, redirects and refusals.
OTHERS = ("/csv/", "/progress/", "/decide/", "/run/", "/saved/", "/logout/", "/login/", "/waiting/", "/jsi18n/")
NO_PAGES = (*OTHERS, "/autocomplete/", "/admin/r/1/1/")
# One page of all models is enough of these: they share a template and have nothing of their own.
SHARED = ("/history/", "/delete/")


def world(boss: Account) -> list[str]:
    every_page = EveryPage()
    add_numbers(every_page.holder.account, every_page.community)
    tag = {"tag_type": "claim", "payload": {"statement": "Boats float.", "sources": ["a", "b"]}}
    holder, community = every_page.holder, every_page.community
    MessageFactory(author=holder.account, community=community, content="The harbour. " * 20, **tag)
    decided = RequestFactory()
    reject_request(request_id=decided.pk, by=boss, reason="Too loud.")
    pending = RequestFactory(requester=decided.requester)
    post = Message.objects.filter(status="pending").get()
    entry = LogEntry.objects.latest("pk")
    extra = ["/admin/search/?q=harbour", *(path_of(row) for row in (decided, pending, post, entry))]
    return [*extra, *_one_of_each_kind(every_page.paths())]


def a_queue() -> None:
    """Pending requests and posts whose fold-outs have all they can have."""
    holder = agent_with_token(agent_handle="harbour_helper")
    for handle in ("harbour_he1per", "harbour_help", "other_one"):
        RequestFactory(agent_handle=handle, requester=holder.request.requester)
    parent = MessageFactory()
    MessageFactory.create_batch(3, status="pending", parent=parent, author=holder.account, community=parent.community)


def add_numbers(agent: Account, community: Community) -> None:
    """A growing number a day for each plot and small line."""
    for days in range(20):
        day, count = today() - timedelta(days=days), 40 - days
        for kind in set(Total) - {Total.REFUSALS, Total.MEDIAN_SECONDS, Total.DECISIONS}:
            DailyTotal.objects.create(kind=kind.value, day=day, name="", count=count)
        DailyTotal.objects.create(kind=Total.DECISIONS.value, day=day, name="approved", count=count)
        DailyCount.objects.create(subject_id=agent.pk, kind=Of.AGENT.value, day=day, count=count)
        DailyCount.objects.create(subject_id=community.pk, kind=Of.COMMUNITY_PEOPLE.value, day=day, count=count)
    DailyTotal.objects.create(kind=Total.MEDIAN_SECONDS.value, day=today(), name="", count=5_400)
    for code in range(6):
        DailyTotal.objects.create(kind=Total.REFUSALS.value, day=today(), name=f"code_{code}", count=5)
    for subjects, row in (("agents", agent), ("communities", community)):
        Top.objects.create(kind=subjects, place=1, subject_id=row.pk, count=610)


def _one_of_each_kind(paths: list[str]) -> list[str]:
    kinds: dict[str, str] = {}
    confirmations = _confirmations()
    for path in paths:
        is_page = path.endswith("/") and not path.endswith(NO_PAGES) and not ID.fullmatch(path[path[:-1].rindex("/") :])
        has_form = path.endswith(("/community/add/", "/readyreason/add/")) or not path.endswith("/add/")
        if is_page and has_form:
            shared = next((end for end in SHARED if path.endswith(end)), "")
            kind = kind_of(path)
            kinds.setdefault(shared or confirmations.get(kind, kind), path)
    return ["/admin/nowhere/", *kinds.values()]


def _confirmations() -> dict[str, str]:
    """Each kind of confirmation page: those with the same fields differ in words only."""
    return {
        f"{path_of(model, 'changelist')}*/{action.name}/": f"{action.form} {action.needs_reason}"
        for model, rows in registered_admins()
        for action in rows.row_actions
    }
