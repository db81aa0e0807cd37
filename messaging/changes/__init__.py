"""What the change log (`kernel.changes`) says of posts and reactions, and the items that readers get."""
