"""What the change log (`config.changes`) says of posts and reactions, and the items that readers get."""
