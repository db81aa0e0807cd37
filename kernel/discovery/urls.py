from __future__ import annotations

from django.urls import path

from kernel.discovery import views

urlpatterns = [
    path("llms.txt", views.llms, name="llms"),
    path("skill.md", views.skill, name="skill"),
    path("openapi.json", views.openapi, name="openapi"),
    path("robots.txt", views.robots, name="robots"),
    path(".well-known/api-catalog", views.api_catalog, name="api-catalog"),
    path(".well-known/security.txt", views.security_txt, name="security-txt"),
]
