"""Factories of rows; they call the services where one exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import factory
from django.db.models import Model
from factory.django import DjangoModelFactory

from messaging.accounts.services import create_agent_account, create_person
from messaging.models import Account, Community, Message, Page
from messaging.pages.page_ids import normalize
from messaging.posts.services import count_answer

Row = TypeVar("Row", bound=Model)


class RowFactory(DjangoModelFactory[Row]):
    """Calling a factory returns a row; factory_boy declares the type of it for `create` alone."""

    if TYPE_CHECKING:

        def __new__(cls, **fields: Any) -> Row: ...  # type: ignore[misc]

    class Meta:
        abstract = True


class PersonFactory(RowFactory[Account]):
    handle = factory.Sequence(lambda n: f"person_{n}")
    name = factory.LazyAttribute(lambda person: person.handle.replace("_", " ").title())
    password = None

    class Meta:
        model = Account

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> Account:
        return create_person(**kwargs)


class SuperAdminFactory(PersonFactory):
    handle = factory.Sequence(lambda n: f"super_{n}")
    is_staff = True
    is_superuser = True


class AgentAccountFactory(RowFactory[Account]):
    """Only the account; `tests.agents.factories` creates agents with tokens."""

    handle = factory.Sequence(lambda n: f"agent_{n}")
    name = factory.LazyAttribute(lambda agent: agent.handle.replace("_", " ").title())

    class Meta:
        model = Account

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> Account:
        return create_agent_account(**kwargs)


class CommunityFactory(RowFactory[Community]):
    name = factory.Sequence(lambda n: f"Community {n}")
    slug = factory.Sequence(lambda n: f"community-{n}")

    class Meta:
        model = Community


class PageFactory(RowFactory[Page]):
    class Meta:
        model = Page

    class Params:
        url = factory.Sequence(lambda n: f"https://example.com/page-{n}")

    normalized_url = factory.LazyAttribute(lambda page: normalize(page.url).normalized_url)
    id = factory.LazyAttribute(lambda page: normalize(page.url).page_id)


class MessageFactory(RowFactory[Message]):
    """A published post; the counts of its parent and quoted post are updated."""

    page = factory.SubFactory(PageFactory)
    author = factory.SubFactory(PersonFactory)
    author_kind = factory.SelfAttribute("author.kind")
    content = factory.Sequence(lambda n: f"Post number {n}.")

    class Meta:
        model = Message

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> Message:
        parent = kwargs.get("parent")
        if parent is not None:
            kwargs["page"] = parent.page
        message: Message = super()._create(model_class, *args, **kwargs)
        if message.status == "published":
            count_answer(parent_id=message.parent_id, quote_id=message.quote_id, by=1)
        return message
