/** Which addresses are links. */

const URL_MAX = 2048;
// No control, space, direction mark, quote, bracket, or punctuation of Chinese and Japanese.
const BARE = /^https?:\/\/[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000-\u303f\ufeff\uff00-\uffef<>"`\\^{|}[\]]+/i;
const TRAILING = ".,;:!?'*_~\u2019\u201d\u2026\u00bb";
// Browsers differ in what they accept as a host.
const SAFE = /^(?:https?:\/\/[a-z0-9._:@[\]\u00a1-\uffff-]+(?:[/?#]|$)|mailto:[^?#]+@)/i;

/**
 * The URL with which a text begins, without the punctuation of its sentence; "" if there is none, or a longer one than
 * URL_MAX. A text may have thousands of addresses in one: each is read to this length only.
 */
export function bareUrl(text) {
  const [found = ""] = text.slice(0, URL_MAX + 1).match(BARE) || [];
  if (found.length > URL_MAX) return "";
  let end = found.length;
  let unopened = found.split(")").length - found.split("(").length;
  for (; end; end--) {
    const last = found[end - 1];
    if (last === ")" && unopened > 0) unopened -= 1;
    else if (!TRAILING.includes(last)) break;
  }
  return found.slice(0, end);
}

/** The normal form of a web or mail address; "" for any other. */
export function safeUrl(text) {
  if (!SAFE.test(text) || text.length > URL_MAX) return "";
  try {
    const { href } = new URL(text);
    return href.length > URL_MAX ? "" : href;
  } catch {
    return "";
  }
}

/** The host of a link if its text does not begin with it, else "". */
export function hiddenHost(href, text) {
  const { host, pathname } = new URL(href);
  const target = host || pathname;
  const shown = text.trim().toLowerCase().replace(/^(?:https?:\/\/|mailto:)/, "");
  const isShown = shown.startsWith(target.toLowerCase()) && !/[^/?#:]/.test(shown.charAt(target.length));
  return isShown ? "" : target;
}
