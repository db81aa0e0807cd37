"""The elements of HTML as Markdown of posts. markdownify walks the tree and joins the texts."""

from __future__ import annotations

import re
from typing import Any

from bs4.element import NavigableString, RubyTextString, Tag
from markdownify import MarkdownConverter

from messaging.markdown.addresses import bare_url, safe_url
from moving.markdown_escapes import escape

# The renderer reads no longer text of a link (messaging.markdown.rules).
LABEL_MAX = 400
# A shorter begin of an address does not have its host.
BEGIN_MIN = 8
SPACES = re.compile(r"\s{2,}|[^\S ]")
LINE_SPACES = re.compile(r"[^\S\n]*\n[^\S\n]*")
BLANK_LINES = re.compile(r"\n{3,}")
BACKTICKS = re.compile(r"`+")
# Spaces at their begin and end are not shown.
BLOCK = re.compile(
    r"address|article|blockquote|br|caption|center|d[dlt]|details|div|figcaption|figure|form|h[1-6]|hr|li|menu|ol|p|pre"
    r"|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
# Their content is no text for readers.
HIDDEN = re.compile(r"script|style|iframe|object|embed|template|noscript|svg|math|textarea|title|select|button")
Parents = set[str]


class Converter(MarkdownConverter):
    """`texts` are the texts that readers are to see, in their order."""

    def __init__(self, *, has_marks: bool, has_line_breaks: bool) -> None:
        super().__init__()
        self.has_marks = has_marks
        self.has_line_breaks = has_line_breaks
        self.texts: list[str] = []
        self.numbers: dict[int, int] = {}

    def process_tag(self, node: Tag, parent_tags: Parents | None = None) -> str:
        return "" if HIDDEN.fullmatch(node.name) else super().process_tag(node, parent_tags)  # type: ignore[misc]

    def process_text(self, el: NavigableString, parent_tags: Parents | None = None) -> str:
        """Declarations and comments are no texts, which their types say."""
        parents = parent_tags or set()
        if type(el) not in {NavigableString, RubyTextString}:
            return ""
        text = _whole_address(el) or (str(el) if "pre" in parents else self._collapse(el))
        self.texts.append(text)
        if "_noformat" in parents:
            return text
        escaped = escape(text)
        # An exclamation mark before a link makes an image of it.
        return f"{escaped[:-1]}\\!" if escaped.endswith("!") and el.next_sibling is not None else escaped

    def _collapse(self, el: NavigableString) -> str:
        if self.has_line_breaks:
            text = BLANK_LINES.sub("\n\n", LINE_SPACES.sub("\n", str(el)))
        else:
            text = SPACES.sub(" ", str(el))
        before, after, parent = el.previous_sibling, el.next_sibling, el.parent
        if _is_edge(before, parent):
            text = text.lstrip()
        return text.rstrip() if _is_edge(after, parent) else text

    def convert_p(self, el: Tag, text: str, parent_tags: Parents) -> str:
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        return f"\n\n{text.strip()}\n\n" if text.strip() else ""

    convert_div = convert_section = convert_article = convert_center = convert_address = convert_p
    convert_dl = convert_dt = convert_dd = convert_table = convert_details = convert_summary = convert_p
    convert_figure = convert_figcaption = convert_caption = convert_form = convert_p

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: Parents) -> str:  # noqa: N802
        return self.convert_p(el, self._marked("**", SPACES.sub(" ", text)), parent_tags)

    def convert_br(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return " " if "_inline" in parent_tags else "\n"

    def convert_hr(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return "\n\n"

    def convert_tr(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return f"{text.strip()}\n"

    def convert_td(self, el: Tag, text: str, parent_tags: Parents) -> str:
        text = SPACES.sub(" ", text).strip()
        return f"{text} | " if el.find_next_sibling(True) is not None else text

    convert_th = convert_td

    def convert_b(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return text if "_noformat" in parent_tags else self._marked("**", text)

    convert_strong = convert_b

    def convert_em(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return text if "_noformat" in parent_tags else self._marked("*", text)

    convert_i = convert_cite = convert_em

    def convert_del(self, el: Tag, text: str, parent_tags: Parents) -> str:
        """Posts have no mark for it, but readers know the characters."""
        return text if "_noformat" in parent_tags else self._marked("~~", text)

    convert_s = convert_strike = convert_del

    def convert_q(self, el: Tag, text: str, parent_tags: Parents) -> str:
        return text

    convert_sub = convert_sup = convert_video = convert_audio = convert_q

    def convert_a(self, el: Tag, text: str, parent_tags: Parents) -> str:
        label = SPACES.sub(" ", text).strip()
        href = safe_url(str(el.get("href") or "").strip())
        if not href or not self.has_marks or "_noformat" in parent_tags or not 0 < len(label) <= LABEL_MAX:
            return text
        if href in {label, f"{label}/"} and bare_url(label, 0, len(label)) in {label, ""}:
            return label
        return f"{_outer(text, 0)}[{label}](<{href}>){_outer(text, -1)}"

    def convert_img(self, el: Tag, text: str, parent_tags: Parents) -> str:
        """Posts show no images: a link to it."""
        label = SPACES.sub(" ", str(el.get("alt") or "")).strip()[:LABEL_MAX]
        href = safe_url(str(el.get("src") or "").strip())
        if label:
            self.texts.append(label)
            shown = label if "_noformat" in parent_tags else escape(label)
            is_link = href and self.has_marks and not {"a", "_noformat"} & parent_tags
            return f"[{shown}](<{href}>)" if is_link else shown
        self.texts.append(href)
        return href

    def convert_code(self, el: Tag, text: str, parent_tags: Parents) -> str:
        if "_noformat" in parent_tags:
            return text
        if not self.has_marks:
            return escape(text)
        text = SPACES.sub(" ", text).strip()
        mark = "`" * (_longest_run(text) + 1)
        pad = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{mark}{pad}{text}{pad}{mark}" if text else ""

    convert_kbd = convert_samp = convert_tt = convert_code

    def convert_pre(self, el: Tag, text: str, parent_tags: Parents) -> str:
        if not text.strip():
            return ""
        fence = "`" * max(3, _longest_run(text) + 1)
        return f"\n\n{fence}\n{text.strip(chr(10))}\n{fence}\n\n"

    def convert_blockquote(self, el: Tag, text: str, parent_tags: Parents) -> str:
        text = text.strip()
        if not text or "_inline" in parent_tags:
            return f" {text} "
        return "\n\n{}\n\n".format("\n".join(f"> {line}" if line else ">" for line in text.split("\n")))

    def convert_ul(self, el: Tag, text: str, parent_tags: Parents) -> str:
        text = text.strip("\n")
        return f"\n{text}\n" if "li" in parent_tags else f"\n\n{text}\n\n"

    convert_ol = convert_menu = convert_list = convert_ul

    def convert_li(self, el: Tag, text: str, parent_tags: Parents) -> str:
        bullet = self._bullet(el.parent)
        first, *others = text.strip().split("\n")
        lines = (f"{' ' * len(bullet)}{line}" if line else "" for line in others)
        return "\n".join((bullet + first, *lines)) + "\n" if text.strip() else ""

    def _bullet(self, parent: Tag | None) -> str:
        if parent is None or parent.name != "ol":
            return "- "
        start = str(parent.get("start") or "")
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
        number = self.numbers.setdefault(id(parent), first)
        self.numbers[id(parent)] = number + 1
        return f"{number}. "

    def _marked(self, mark: str, text: str) -> str:
        inner = text.strip()
        if not inner or not self.has_marks:
            return text
        return f"{_outer(text, 0)}{mark}{inner}{mark}{_outer(text, -1)}"


def _whole_address(el: NavigableString) -> str:
    """The address of a link whose text is its begin and an ellipsis, as Disqus shows long ones; else ""."""
    parent, text = el.parent, str(el).strip()
    begin = text.rstrip(".…")
    if parent is None or parent.name != "a" or len(parent.contents) > 1 or begin == text or len(begin) < BEGIN_MIN:
        return ""
    href = safe_url(str(parent.get("href") or "").strip())
    return href if href.startswith((begin, f"https://{begin}", f"http://{begin}")) else ""


def _is_edge(sibling: Any, parent: Tag | None) -> bool:
    """A text ends there at a block or at a line break."""
    neighbour = parent if sibling is None else sibling
    return BLOCK.fullmatch(getattr(neighbour, "name", None) or "") is not None


def _outer(text: str, index: int) -> str:
    """The space outside of marks, which are none if a space is inside of them."""
    return " " if text[index].isspace() else ""


def _longest_run(text: str) -> int:
    return max(map(len, BACKTICKS.findall(text)), default=0)
