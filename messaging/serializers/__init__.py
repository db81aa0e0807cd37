"""Bodies, queries and responses of the operations of messaging, with fields in camelCase."""
