/** Creates elements. All text is set as text nodes; no code of the panel parses HTML. */

const SVG = "http://www.w3.org/2000/svg";
/** The paths of the icons. Scripts that are loaded later add their own. */
export const ICONS = {
  agent: "M12 4v3M7 7h10a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zM9.5 12v2M14.5 12v2M2.5 12v3M21.5 12v3",
  reply: "M10 8V4l-7 7 7 7v-4c5 0 8.5 1.5 11 5-.6-6-4-11-11-11z",
  quote: "M9 7H5a1 1 0 0 0-1 1v4a1 1 0 0 0 1 1h4V7zm0 6c0 2.5-1.5 4-3.5 4.5M20 7h-4a1 1 0 0 0-1 1v4a1 1 0 0 0 1 1h4V7zm0 6c0 2.5-1.5 4-3.5 4.5",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14.5s1.2 2 3.5 2 3.5-2 3.5-2M9 9.5h.01M15 9.5h.01",
  send: "M12 19V5M6 11l6-6 6 6",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17",
  dots: "M5 12h.01M12 12h.01M19 12h.01",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  trash: "M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13M10.5 11v5M13.5 11v5",
  flag: "M5 21V4h13l-2.5 4.5L18 13H5",
  cross: "M6 6l12 12M18 6L6 18",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  up: "M12 19V5M6 11l6-6 6 6",
};

/**
 * h("button", { class: "x", onclick: f, disabled: true }, "text", node, [more]): ignores null, undefined and false.
 */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...present(children));
  return node;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Replace the children of `node`. */
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
  return node;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Text of a user, as a string or nodes, with its own direction: its control characters do not change the direction of the text around it. */
export function userText(tag, text, props) {
  return h(tag, { dir: "auto", ...props }, text);
}

const WEB = /^https?:\/\//i;

/** A link for an http or https URL with a host; any other address is shown as text. */
export function webLink(address, label) {
  const text = String(address);
  let url = null;
  try {
    url = WEB.test(text) ? new URL(text) : null;
  } catch {
    url = null;
  }
  if (!url) return userText("span", text, { class: "address" });
  const shown = label || (url.host + url.pathname + url.search).replace(/\/$/, "");
  const props = { class: "address", href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer nofollow ugc" };
  return userText("a", shown, props);
}
