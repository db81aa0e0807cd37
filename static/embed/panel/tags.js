/** Smart tags as cards. A payload may have any shape: every field is checked, and unknown fields are shown as text. */

import { fill, h, userText, webLink } from "./dom.js";
import { date, dateAndTime, has, number, percent, t } from "./words.js";

const STARS = 5;
const DEEPEST = 4;

const isText = (value) => typeof value === "string" && value.trim() !== "";
const isFraction = (value) => typeof value === "number" && value >= 0 && value <= 1;
const items = (value) => (Array.isArray(value) ? value.filter(isText) : []);
const main = (value) => isText(value) && userText("p", value, { class: "tag-main" });

/** The content of the card by type, besides its title and its rationale. */
const CARDS = {
  claim: (p) => [main(p.statement), meter("confidence", p.confidence), sources(p.sources)],
  evidence: (p) => [
    isText(p.stance) && h("p", { class: `stance ${p.stance}` }, label(`stance_${p.stance}`, p.stance)),
    isText(p.url) ? h("p", { class: "tag-main" }, webLink(p.url, isText(p.title) ? p.title : "")) : main(p.title),
    isText(p.excerpt) && userText("blockquote", p.excerpt),
    isText(p.publishedOn) && fact("published", date(p.publishedOn)),
  ],
  question: (p) => [main(p.question), topics(p.topics)],
  answer: (p) => [main(p.answer), meter("confidence", p.confidence), sources(p.sources)],
  correction: (p) => [
    isText(p.original) && h("p", {}, h("span", { class: "key" }, t("tag.original")), userText("del", p.original)),
    isText(p.corrected) && h("p", {}, h("span", { class: "key" }, t("tag.corrected")), userText("ins", p.corrected)),
    sources(p.sources),
  ],
  review: (p) => [isText(p.subject) && main(p.subject), stars(p.rating), list("pros", p.pros), list("cons", p.cons)],
  prediction: (p) => [
    main(p.statement),
    meter("probability", p.probability),
    isText(p.dueDate) && fact("due", date(p.dueDate)),
  ],
  poll: (p) => [
    main(p.question),
    h("ul", { class: "options" }, items(p.options).map((option) => userText("li", option))),
    p.multiple === true && h("p", { class: "fact" }, t("tag.multiple")),
    isText(p.closesAt) && fact("closes", dateAndTime(p.closesAt)),
  ],
  summary: (p) => [
    isText(p.scope) && h("p", { class: "fact" }, label(`scope_${p.scope}`, p.scope)),
    points(p.points),
  ],
  highlight: (p) => [main(p.comment)],
};

/** A post's tag as an element, null for a post without one. */
export function tagCard({ tagType, payload }) {
  if (!tagType) return null;
  const data = payload && typeof payload === "object" ? payload : {};
  const title = label(tagType, tagType);
  const card = h("div", { class: `tag ${Object.hasOwn(CARDS, tagType) ? tagType : "other"}`, role: "group", "aria-label": title });
  const body = Object.hasOwn(CARDS, tagType) ? CARDS[tagType](data) : other(data);
  return fill(card, h("p", { class: "tag-title" }, title), body, rationale(data.rationale));
}

/** The passage of the page that a post is about, in the colour of a highlight. */
export function anchor({ anchorText, tagType, payload }) {
  if (!anchorText) return null;
  const color = tagType === "highlight" && payload && isText(payload.color) ? payload.color : "";
  return h("figure", { class: `anchor ${/^\w+$/.test(color) ? color : ""}` },
    h("figcaption", {}, t("panel.about")), h("blockquote", {}, userText("span", anchorText, { class: "mark" })));
}

function label(key, fallback) {
  return has(`tag.${key}`) ? t(`tag.${key}`) : fallback;
}

function fact(key, value) {
  return h("p", { class: "fact" }, h("span", { class: "key" }, t(`tag.${key}`)), " ", value);
}

function meter(key, value) {
  if (!isFraction(value)) return null;
  const bar = h("meter", { min: 0, max: 1, value, "aria-label": t(`tag.${key}`) });
  return h("p", { class: "fact meter" }, h("span", { class: "key" }, t(`tag.${key}`)), bar, percent(value));
}

function stars(rating) {
  if (typeof rating !== "number") return null;
  const share = Math.max(0, Math.min(1, rating / STARS));
  const full = h("span", { class: "full" }, "★".repeat(STARS));
  full.style.inlineSize = `${share * 100}%`;
  const row = h("span", { class: "stars", "aria-hidden": true }, "★".repeat(STARS), full);
  return h("p", { class: "fact" }, row, h("strong", {}, t("tag.rating", { rating: number(rating), best: STARS })));
}

function list(key, value) {
  return items(value).length > 0 && h("div", { class: `list ${key}` }, h("p", { class: "key" }, t(`tag.${key}`)), points(value));
}

/** The bullets are on the side of the reader's language; each text has its own direction. */
function points(value) {
  return items(value).length > 0 && h("ul", {}, items(value).map((text) => h("li", {}, userText("span", text))));
}

function topics(value) {
  return items(value).length > 0 && h("ul", { class: "chips" }, items(value).map((topic) => userText("li", topic)));
}

function sources(value) {
  const links = items(value);
  return links.length > 0 && h("div", { class: "list" }, h("p", { class: "key" }, t("tag.sources")), h("ul", {}, links.map((link) => h("li", {}, webLink(link)))));
}

function rationale(value) {
  return isText(value) && h("details", {}, h("summary", {}, t("tag.rationale")), userText("p", value));
}

function other(data) {
  const entries = Object.entries(data).filter(([name]) => name !== "rationale");
  return entries.length > 0 && pairs(entries, 1);
}

function pairs(entries, depth) {
  return h("dl", {}, entries.map(([name, value]) => [userText("dt", name), h("dd", {}, shown(value, depth))]));
}

function shown(value, depth) {
  if (value === null || typeof value !== "object") return userText("span", String(value));
  if (depth >= DEEPEST) return userText("code", JSON.stringify(value).slice(0, 500));
  return pairs(Object.entries(value), depth + 1);
}
