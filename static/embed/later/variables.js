/**
 * Applies a site's variables. Values that are no colours, lengths or font families are ignored; a colour that contrasts too
 * little with its background is mixed with black or white until it has the contrast of WCAG AA.
 */

import { h } from "../panel/dom.js";
import { settings } from "../panel/words.js";

// Slightly more than 4.5, as colours are rounded; black or white has at least 4.58 on every colour.
const TEXT_CONTRAST = 4.55;
const SHAPE_CONTRAST = 3.05;
const BLACK = [0, 0, 0];
const WHITE = [1, 1, 1];
const LENGTH = /^\d{1,3}(\.\d+)?(px|rem|em)$|^0$/;
// What the computed value of a mixture looks like.
const MIXED = /^color\(srgb (\S+) (\S+) (\S+?)(?: \/ (\S+))?\)$/;
const COLORS = ["--paper", "--raised", "--ink", "--muted", "--line", "--strong-line", "--focus", "--bad", "--good"];
const root = document.documentElement;
const { style } = root;

/** `given`: texts by name; see VARIABLES of the loader's theme.js. */
export function applyVariables(given) {
  setColors(given);
  const accent = parse(given.accent) || parse(settings.accent);
  set("--accent", accent);
  set("--on-accent", poleOn(accent));
  style.setProperty("--round", LENGTH.test(given.radius) ? `min(24px, ${given.radius})` : "");
  const font = String(given.font || "");
  document.body.style.fontFamily = font && !font.includes("(") ? `${font}, system-ui, sans-serif` : "";
}

function setColors(given) {
  for (const name of [...COLORS, "color-scheme"]) style.removeProperty(name);
  if (!["background", "surface", "text", "muted", "border"].some((name) => given[name])) return;
  const usual = Object.fromEntries(COLORS.map((name) => [name, parse(getComputedStyle(root).getPropertyValue(name))]));
  const background = parse(given.background);
  const paper = background || usual["--paper"];
  const pole = poleOn(paper);
  const surface = parse(given.surface, paper) || (background ? mix(paper, pole, 0.05) : usual["--raised"]);
  const raised = contrast(pole, surface) < TEXT_CONTRAST ? paper : surface;
  const readable = (color, least) => {
    const mixtures = Array.from({ length: 11 }, (_, tenth) => mix(color, pole, tenth / 10));
    return mixtures.find((mixture) => contrast(mixture, paper) >= least && contrast(mixture, raised) >= least);
  };
  set("--paper", paper);
  set("--raised", raised);
  set("--ink", readable(parse(given.text, paper) || usual["--ink"], TEXT_CONTRAST));
  set("--muted", readable(parse(given.muted, paper) || usual["--muted"], TEXT_CONTRAST));
  set("--line", parse(given.border, paper) || mix(paper, pole, 0.15));
  set("--strong-line", readable(usual["--strong-line"], SHAPE_CONTRAST));
  // Links have the colour of the focus.
  for (const name of ["--focus", "--bad", "--good"]) set(name, readable(usual[name], TEXT_CONTRAST));
  style.colorScheme = pole === WHITE ? "dark" : "light";
}

function set(name, color) {
  style.setProperty(name, `rgb(${color.map((part) => Math.round(255 * part)).join(" ")})`);
}

/** Red, green and blue from 0 to 1, or null. Without a background, a colour has to be opaque. */
function parse(text, background) {
  const probe = h("i", {});
  probe.style.color = text ? `color-mix(in srgb, ${text}, ${text})` : "";
  if (!probe.style.color) return null;
  document.body.append(probe);
  const found = MIXED.exec(getComputedStyle(probe).color);
  probe.remove();
  if (!found) return null;
  const [red, green, blue, alpha = 1] = found.slice(1).map((part) => part && Math.min(1, Math.max(0, parseFloat(part) || 0)));
  if (alpha < 1 && !background) return null;
  return mix([red, green, blue], background || BLACK, 1 - alpha);
}

const mix = (color, other, share) => color.map((part, at) => part * (1 - share) + other[at] * share);

/** Black or white, the one with more contrast: at least 4.5 to 1 on every colour. */
const poleOn = (color) => (contrast(BLACK, color) >= contrast(WHITE, color) ? BLACK : WHITE);

/** The contrast ratio of WCAG 2. */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color) {
  const [red, green, blue] = color.map((part) => (part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
