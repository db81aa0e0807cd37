from __future__ import annotations

from django.urls import path

from embeds.widget import views
from embeds.widget.permalinks import permalink
from embeds.widget.views import start

urlpatterns = [
    path("", start, name="start"),
    path("demo/", views.demo, name="demo"),
    path("p/<str:id>", permalink, name="permalink"),
    path("embed/v1.js", views.loader_script, name="loader"),
    path("embed/theme.js", views.loader_theme, name="loader-theme"),
    path("embed/links.js", views.loader_links, name="loader-links"),
    path("embed/accounts.js", views.loader_accounts, name="loader-accounts"),
    path("embed/panel", views.panel, name="panel"),
    path("embed/panel.js", views.panel_script, name="panel-script"),
    path("embed/later.js", views.later_script, name="later-script"),
    path("embed/moderation/<slug:language>.js", views.moderation_script, name="moderation-script"),
    path("embed/markdown.js", views.markdown_script, name="markdown-script"),
    path("embed/picker.js", views.picker_script, name="picker-script"),
    path("embed/emoji/<slug:language>.json", views.emoji_names, name="emoji-names"),
    path("embed/panel.css", views.panel_styles, name="panel-styles"),
    path("embed/sign-in", views.sign_in, name="sign-in"),
]
