"""Pictures of operators: an HTML page with the tasks, the memories, the copies and their causes."""

from __future__ import annotations

from eas.septran.picture.contents import Contents, contents_of
from eas.septran.picture.picture_page import make_page

__all__ = ["Contents", "contents_of", "make_page"]
