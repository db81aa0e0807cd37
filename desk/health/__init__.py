"""Whether the service is well: checks (`checks`), and since when something is wrong (`watching`)."""
