from moving.models.move import (
    CAN_UNDO,
    CAN_UNDO_POSTS,
    FILE_NAME_MAX,
    UNDO_STATES,
    WRITABLE,
    Move,
    MovePart,
    MoveStatus,
)
from moving.models.sources import SOURCE_ID_MAX, ImportedAuthor, ImportedPage, ImportedPost

__all__ = [
    "CAN_UNDO",
    "CAN_UNDO_POSTS",
    "FILE_NAME_MAX",
    "SOURCE_ID_MAX",
    "UNDO_STATES",
    "WRITABLE",
    "ImportedAuthor",
    "ImportedPage",
    "ImportedPost",
    "Move",
    "MovePart",
    "MoveStatus",
]
