"""What the first line of our own exports says."""

FORMAT = "community-messaging"
VERSION = 1
