/** Texts, numbers and times in the reader's language. */

const data = JSON.parse(document.getElementById("data").textContent);
export const settings = data.settings;
export const language = document.documentElement.lang;
// The region of the reader, if the browser names one for this language.
const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) || language;
const plural = formatter(Intl.PluralRules);
const numbers = formatter(Intl.NumberFormat);
const percents = formatter(Intl.NumberFormat, { style: "percent", maximumFractionDigits: 0 });
const ago = formatter(Intl.RelativeTimeFormat, { numeric: "auto", style: "short" });
const day = formatter(Intl.DateTimeFormat, { dateStyle: "medium" });
const calendarDay = formatter(Intl.DateTimeFormat, { dateStyle: "medium", timeZone: "UTC" });
const moment = formatter(Intl.DateTimeFormat, { dateStyle: "long", timeStyle: "short" });
const BIDI = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const STEPS = [["minute", 60], ["hour", 3600], ["day", 86400], ["week", 604800]];

/** Returns a function that creates the formatter at its first call: all of them at once would be a long task. */
function formatter(Kind, options) {
  let made;
  return () => (made ??= new Kind(locale, options));
}

/** t("panel.replies", { n: 3 }): replaces `{n}`; in an entry with plural forms, `n` selects one. */
export function t(key, values = {}) {
  const entry = find(key);
  const text = typeof entry === "object" ? entry[plural().select(values.n)] || entry.other : entry;
  return text.replace(/\{(\w+)\}/g, (_, name) => format(values[name]));
}

/** A value with right-to-left or control characters is isolated (FSI, PDI) from the direction of the text around it. */
function format(value) {
  if (typeof value === "number") return numbers().format(value);
  return BIDI.test(value) ? `\u2068${value}\u2069` : value;
}

/** Add groups of texts, of a script that is loaded later. */
export function addWords(groups) {
  for (const [name, words] of Object.entries(groups)) data.words[name] = { ...data.words[name], ...words };
}

export function has(key) {
  return find(key) !== undefined;
}

function find(key) {
  const [group, name] = key.split(/\.(.*)/);
  return data.words[group][name];
}

export const number = (value) => numbers().format(value);
export const percent = (value) => percents().format(value);

/** A calendar day such as 2027-12-31, without a time zone. */
export const date = (text) => formatDate(calendarDay, text);
export const dayOf = (text) => formatDate(day, text);
export const dateAndTime = (text) => formatDate(moment, text);

function formatDate(style, text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? String(text) : style().format(time);
}

/** "3 min. ago"; after 30 days, the date. */
export function since(text) {
  const seconds = (Date.now() - new Date(text)) / 1000;
  if (seconds < 60) return t("panel.now");
  if (seconds > 30 * 86400) return day().format(new Date(text));
  const [unit, size] = STEPS.filter(([, size]) => seconds >= size).pop();
  return ago().format(-Math.floor(seconds / size), unit);
}
