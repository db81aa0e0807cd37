"""How programs find their way from the base address: short texts for agents, and the well-known documents."""
