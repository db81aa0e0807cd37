"""Bodies, queries and answers of the operations of messaging, in the contract's camelCase."""
