from __future__ import annotations

from datetime import datetime

from django import template
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.urls import reverse

from kernel.admin import formatting
from kernel.admin.actions import AdminAction
from kernel.admin.changelists import Filter, bounded_text, read_filters

register = template.Library()


@register.simple_tag
def age(moment: datetime | None) -> str:
    return formatting.age(moment)


@register.simple_tag
def row_link(row: Model | None, text: object = None) -> str:
    return formatting.link(row, text)


@register.simple_tag
def action_url(row: Model, action: AdminAction) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{action.name}", args=[row.pk])


@register.filter
def bounded(count: int) -> str:
    return bounded_text(count)


@register.simple_tag
def row_url(row: Model) -> str:
    return formatting.change_url(row)


@register.simple_tag
def filters_of(changelist: ChangeList) -> list[Filter]:
    return read_filters(changelist)
