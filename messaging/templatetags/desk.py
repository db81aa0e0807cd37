from __future__ import annotations

from datetime import datetime

from django import template
from django.db.models import Model
from django.urls import reverse

from messaging.desk import Decision, display
from messaging.models import Message

register = template.Library()


@register.simple_tag
def age(moment: datetime | None) -> str:
    return display.age(moment)


@register.simple_tag
def row_link(row: Model | None, text: object = None) -> str:
    return display.link(row, text)


@register.simple_tag
def post_state(message: Message) -> str:
    return display.post_badge(message)


@register.simple_tag
def decision_url(row: Model, decision: Decision) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{decision.name}", args=[row.pk])
