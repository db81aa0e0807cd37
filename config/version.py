"""The version of the service and of its API."""

VERSION = "1.0.0"
