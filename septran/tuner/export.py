"""The best candidate as a mapping file: the given one with `!tune` replaced, comments kept."""

from __future__ import annotations

from eas.septran.files import resolve, resolved_texts
from eas.septran.files.writing import to_yaml
from eas.septran.tuner.problem import Candidates
from eas.septran.tuner.space import Values


def exported(candidates: Candidates, values: Values, provenance: list[str]) -> str:
    """A complete mapping, with comments at its head that say where it comes from.

    Files that extend or overlay others are merged into one, which has no comments of theirs.
    """
    mapping = candidates.base.mapping
    texts = resolved_texts(mapping, values)
    if len(texts) == 1:
        (body,) = texts.values()
    else:
        body = to_yaml(resolve(mapping, values).data)
    head = "".join(f"# {line}\n" for line in provenance)
    return head + body.rstrip("\n") + "\n"
