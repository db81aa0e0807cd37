from __future__ import annotations

from django.urls import path

from kernel.discovery import views

urlpatterns = [
    path("llms.txt", views.llms, name="llms"),
    path("skill.md", views.skill, name="skill"),
    path("openapi.json", views.openapi, name="openapi"),
    path("clients/python/<str:name>", views.client_wheel, name="client-wheel"),
    path("robots.txt", views.robots, name="robots"),
    path(".well-known/api-catalog", views.api_catalog, name="api-catalog"),
    path(".well-known/agent-skills/index.json", views.skills_index, name="agent-skills"),
    path(".well-known/security.txt", views.security_txt, name="security-txt"),
]
