"""Documents whose text is known: none is wrong without a word of it, and few are refused."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.loaders.known import Known, judge, known_documents

KINDS: dict[str, list[Known]] = defaultdict(list)
for _one in known_documents():
    KINDS[_one.kind].append(_one)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pdf columns, forms, slides"])
def test_nothing_of_a_known_document_is_wrong(kind: str) -> None:
    wrong = {one.name: found for one in KINDS[kind] if (found := judge(one))[0] != "right"}
    assert wrong == {}
