/** Which addresses are links. */

const URL_MAX = 2048;
/**
 * The CJK characters of the discussion that rules.js names: those of double or half width in East Asian texts, and all
 * of Hangul, without emoji.
 */
export const CJK = String.raw`\u1100-\u11ff\u20a9\u2329\u232a\u2e80-\u303e\u3041-\ua4c6\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uffee\u{16fe0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}`;
// And Thai, Lao, Myanmar and Khmer: scripts in which a word follows an address without a space.
const UNSPACED = CJK + String.raw`\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff`;
// Punctuation and invisible characters inside the words of some languages, and among them those that hosts may have.
const INSIDE_HOSTS = "\u00b7\u05f3\u05f4\u200c\u200d\u30fb";
const INSIDE = INSIDE_HOSTS + "\u05be\u0f0b\u2010\u2011\u2012\u2013\u2019\u2027\uff65";
// All other punctuation between ASCII and U+FFFF ends an address, and so do spaces, controls, and ＜, ＞ and ｜.
const OTHER = String.raw`[^\0-\x7f\p{P}\p{Z}\p{Cc}\p{Cf}＜＞｜]|[\u{10000}-\u{10ffff}]`;
const BARE = new RegExp(
  `^([hH][tT][tT][pP][sS]?://(?:[\\w%.:@${INSIDE_HOSTS}-]|${OTHER})+)(?:[/?#](?:[!#-;=?-Z_a-z~${INSIDE}]|${OTHER})*)?`,
  "u",
);
// Where text without a space follows a host or its port. A label such as that of `shopカフェ.jp` goes on.
const END_OF_HOST = new RegExp(
  `[/.@][A-Za-z0-9-]*[A-Za-z0-9](?=[${UNSPACED}])(?![${UNSPACED}]+(?:\\.[A-Za-z0-9-]+)+(?::[0-9]*)?$)|:[0-9]+(?=[${UNSPACED}])`,
  "u",
);
const TRAILING = ".,;:!?'*_~" + INSIDE;
// Browsers differ in what they accept as a host.
const SAFE = /^(?:https?:\/\/[a-z0-9._:@[\]\u00a1-\uffff-]+(?:[/?#]|$)|mailto:[^?#]+@)/i;

/**
 * The URL with which a text begins, without the punctuation of its sentence; "" if there is none, or a longer one than
 * URL_MAX. A text may have thousands of addresses in one: each is read to this length only.
 */
export function bareUrl(text) {
  const [all = "", host = ""] = text.slice(0, URL_MAX + 1).match(BARE) || [];
  const hostEnd = host.match(END_OF_HOST);
  const found = hostEnd ? host.slice(0, hostEnd.index + hostEnd[0].length) : all;
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
