"""The generated values in the examples of the OpenAPI document, as all examples have them."""

ID = "019a0000-0000-7000-8000-000000000001"
TIME = "2026-05-01T12:00:00.000000Z"
CURSOR = "AAZJ2QyGQAEBmg"
JWT = "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"
# Replaced by BASE_URL.
BASE = "https://service.example"
