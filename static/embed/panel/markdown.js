/** The small Markdown of posts as nodes. Its parser is a script of its own, loaded for the first text that has marks. */

import { fill, h } from "./dom.js";
import { importScript } from "./scripts.js";
import { settings } from "./words.js";

// A text without these is paragraphs, also for the parser.
const MARKS = /[*_`[\\]|:\/\/|^[ \t]*(?:[-+>~]|\d{1,9}[.)])/m;
const PATIENCE_MS = 3000;
const REL = "ugc nofollow noopener";
const WITH_DIRECTION = ["p", "li", "blockquote"];
// By the rule of the service: messaging/inbox/events.py.
const MENTION = /(?<!\w)([@\uff20]\w{3,30})(?!\w)/;
// In them a handle is no mention.
const LITERAL = ["code", "pre", "a"];

let parser = null;
let loading = null;

const needsParser = (text) => !parser && Boolean(text) && MARKS.test(text);

function loadParser() {
  loading ||= importScript(settings.markdownUrl).then((module) => { parser = module; }, () => { loading = null; });
  return loading;
}

/** Load the parser if one of the texts has marks. It is waited for so that texts do not change after they are shown. */
export async function prepare(texts) {
  if (texts.some(needsParser)) await Promise.race([loadParser(), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}

/** The texts of a message that are shown. */
export const textsOf = ({ content, topReply, quote }) => [content, topReply?.content, quote?.content];

/** An element with the text. Until the parser is loaded, the marks are shown. */
export function textElement(text, props) {
  const element = h("div", props, nodes(text));
  if (needsParser(text)) loadParser().then(() => parser && fill(element, nodes(text)));
  return element;
}

/** The text without marks. */
export function plainText(text) {
  return parser && MARKS.test(text) ? parser.lines(parser.parse(text)).join("\n") : text;
}

function nodes(text) {
  return (parser && MARKS.test(text) ? parser.parse(text) : paragraphs(text)).map((child) => node(child));
}

/** What the parser returns for a text without marks. */
function paragraphs(text) {
  const parts = text.replace(/\r\n?/g, "\n").split(/\n[ \t]*(?:\n[ \t]*)*\n/).map((part) => part.trim());
  return parts.filter(Boolean).map((part) => ["p", [part], {}]);
}

/** A text as strings and marked handles. */
function withMentions(text) {
  return text.split(MENTION).map((part, at) => (at % 2 ? h("bdi", { class: "mention" }, part) : part));
}

function node(child, isLiteral = false) {
  if (typeof child === "string") return isLiteral ? child : withMentions(child);
  const [tag, children, { href, host, start }] = child;
  const content = children.map((each) => node(each, isLiteral || LITERAL.includes(tag)));
  if (tag === "pre") return h("pre", { dir: "ltr" }, h("code", {}, content));
  if (tag === "a") return [h("a", { href, rel: REL, target: "_blank" }, content), host && h("span", { class: "host" }, ` (${host})`)];
  return h(tag, { dir: WITH_DIRECTION.includes(tag) && "auto", start }, content);
}
