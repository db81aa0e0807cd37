/**
 * The small Markdown of posts: markdown-it with few of its rules. What they do not match stays text as typed.
 *
 * messaging/markdown/rules.py has the same rules; tests/markdown/ compares both.
 */

import { CJK, bareUrl, safeUrl } from "./addresses.js";

const { ParserBlock, ParserInline, helpers, hr, blockquote, list } = markdownIt;
// The deepest block of a quote or a list; a list is two levels. What is deeper is a paragraph with its marks.
const LEVEL_MAX = 10;
// The longest text of a link.
const LABEL_MAX = 500;
// How often, on average, a character is read in search of the ends of such texts.
const LABEL_READS = 10;
const BLOCKS = ["fence", "blockquote", "hr", "list", "paragraph"];
const INLINES = ["text", "address", "newline", "escape", "backticks", "emphasis", "link", "image"];
const PAIRS = ["balance_pairs", "emphasis", "fragments_join"];
const IMAGE = /!\[[^\][\n]{0,500}\]\([^()\n]{0,2048}\)/y;
// Beside marks, and at the ends of a paragraph, as markdown-it-py has them.
const SPACE = /[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
// A CJK character at the end of a text, with a variation selector or as one, and at its beginning.
const AFTER_CJK = new RegExp(`(?:[${CJK}][\\ufe00-\\ufe0e]?|[\\u2018\\u2019\\u201c\\u201d]\\ufe01|[\\u{e0100}-\\u{e01ef}])$`, "u");
const BEFORE_CJK = new RegExp(`[${CJK}]`, "uy");
const SCHEME = /(?:^|[^a-z0-9])(https?)$/i;

/** Returns the tokens of a text. */
export function tokenize(text) {
  const tokens = [];
  const env = { labelReads: LABEL_READS * text.length };
  const source = text.replace(/\r\n?/g, "\n").replace(/\0/g, "\ufffd");
  rules.block.parse(source, rules, env, tokens);
  for (const token of tokens) {
    if (token.type === "inline") rules.inline.parse(trim(token.content), rules, env, (token.children = []));
  }
  return tokens;
}

function trim(text) {
  let [start, end] = [0, text.length];
  while (start < end && SPACE.test(text[start])) start += 1;
  while (start < end && SPACE.test(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/** A line such as `* * *` is no list of empty items but a paragraph. */
function ruler(state, start, end, silent) {
  if (silent || !hr(state, start, end, true)) return false;
  state.line = start + 1;
  state.push("paragraph_open", "p", 1);
  state.push("inline", "", 0).content = state.getLines(start, start + 1, state.blkIndent, false).trim();
  state.push("paragraph_close", "p", -1);
  return true;
}

const bounded = (rule) => (state, start, end, silent) => state.level < LEVEL_MAX && rule(state, start, end, silent);

/** A line break stays one, and the spaces after it stay as well. */
function newline(state, silent) {
  if (state.src[state.pos] !== "\n") return false;
  if (!silent) state.push("softbreak", "br", 0);
  state.pos += 1;
  return true;
}

/** Where the last run of each number of backticks begins. */
function lastRuns(text) {
  const runs = new Map();
  for (const { 0: { length }, index } of text.matchAll(/`+/g)) runs.set(length, index);
  return runs;
}

/**
 * The rule of markdown-it-py. That of markdown-it searches beyond the text of a link, and takes a run that a lookahead
 * has passed for the last one.
 */
function code(state, silent) {
  const { src, pos: start, posMax: max } = state;
  if (src[start] !== "`") return false;
  state.runs ||= lastRuns(src);
  const runEnd = (from, limit) => {
    while (from < limit && src[from] === "`") from += 1;
    return from;
  };
  const open = runEnd(start, max);
  if ((state.runs.get(open - start) ?? -1) >= open) {
    let at = src.indexOf("`", open);
    while (at !== -1 && at < max) {
      const end = runEnd(at, src.length);
      if (end > max) break;
      if (end - at === open - start) {
        if (!silent) state.push("code_inline", "code", 0).content = src.slice(open, at).replace(/\n/g, " ").replace(/^ (.*[^ ].*) $/, "$1");
        state.pos = end;
        return true;
      }
      at = src.indexOf("`", end);
    }
  }
  if (!silent) state.pending += src.slice(start, open);
  state.pos = open;
  return true;
}

function imageAsText(state, silent) {
  IMAGE.lastIndex = state.pos;
  const [typed] = (state.src[state.pos] === "!" && state.src.slice(0, state.posMax).match(IMAGE)) || [];
  if (!typed) return false;
  if (!silent) state.pending += typed;
  state.pos += typed.length;
  return true;
}

/** A URL in the text. In the lookahead for the end of a link's text, it is text. */
function address(state, silent) {
  const { src, pos } = state;
  if (silent || state.linkLevel || !src.startsWith("://", pos)) return false;
  const [, scheme] = src.slice(Math.max(0, pos - 6), pos).match(SCHEME) || [];
  if (!scheme || !state.pending.endsWith(scheme)) return false;
  const url = bareUrl(src.slice(pos - scheme.length, state.posMax));
  const href = safeUrl(url);
  if (!href) return false;
  state.pending = state.pending.slice(0, -scheme.length);
  state.push("link_open", "a", 1).attrs = [["href", href]];
  state.push("text", "", 0).content = url;
  state.push("link_close", "a", -1);
  state.pos += url.length - scheme.length;
  return true;
}

/** The end of the text of a link, if it is near. What many brackets without ends leave no reads for is no link. */
function parseLinkLabel(state, start, disableNested) {
  if (state.env.labelReads <= 0) return -1;
  const max = state.posMax;
  const near = Math.min(max, start + LABEL_MAX);
  state.posMax = near;
  const end = helpers.parseLinkLabel(state, start, disableNested);
  state.posMax = max;
  state.env.labelReads -= (end < 0 ? near : end) - start;
  return end;
}

/** Entities in an address stay as typed, as in texts. */
function parseLinkDestination(text, start, max) {
  const found = helpers.parseLinkDestination(text, start, max);
  if (!found.ok) return found;
  const raw = text[start] === "<" ? text.slice(start + 1, found.pos - 1) : text.slice(start, found.pos);
  return { ...found, str: raw.replace(/\\([!-/:-@[-`{-~])/g, "$1") };
}

class State extends ParserInline.prototype.State {
  /**
   * Asterisks beside CJK begin and end marks, although neither spaces nor punctuation surround the words: the rule of
   * https://github.com/commonmark/commonmark-spec/issues/650.
   */
  scanDelims(start, canSplitWord) {
    const { src, posMax } = this;
    const found = super.scanDelims(start, canSplitWord);
    const end = start + found.length;
    if (!canSplitWord || found.can_open === found.can_close || !start || end >= posMax) return found;
    if (SPACE.test(src[start - 1]) || SPACE.test(src[end])) return found;
    BEFORE_CJK.lastIndex = end;
    const isBeside = AFTER_CJK.test(src.slice(Math.max(0, start - 4), start)) || BEFORE_CJK.test(src);
    return isBeside ? { ...found, can_open: true, can_close: true } : found;
  }
}

function createRules() {
  const block = new ParserBlock();
  const inline = new ParserInline();
  inline.State = State;
  block.ruler.at("hr", ruler);
  block.ruler.at("blockquote", bounded(blockquote), { alt: ["paragraph", "blockquote", "list"] });
  block.ruler.at("list", bounded(list), { alt: ["paragraph", "blockquote"] });
  inline.ruler.at("newline", newline);
  inline.ruler.at("backticks", code);
  inline.ruler.at("image", imageAsText);
  inline.ruler.after("text", "address", address);
  block.ruler.enableOnly(BLOCKS);
  inline.ruler.enableOnly(INLINES);
  inline.ruler2.enableOnly(PAIRS);
  return {
    block,
    inline,
    options: { maxNesting: 20 },
    helpers: { ...helpers, parseLinkLabel, parseLinkDestination },
    normalizeLink: safeUrl,
    validateLink: (url) => url !== "",
  };
}

const rules = createRules();
