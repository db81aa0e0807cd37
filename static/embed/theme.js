/*
 * The theme of a site: its style sheet of variables, `data-theme`. The loader imports this module for sites that have one.
 * The sheet is an ordinary one of the page, so rules for dark colours and switches of the site work as everywhere in it.
 * The texts of the eight variables are sent to the panel, which checks them.
 */

const VARIABLES = ["accent", "background", "surface", "text", "muted", "border", "radius", "font"];
const LENGTH_MAX = 200;

/** Add the style sheet. When it is loaded, or could not be, this embed has its theme, unless that is destroyed. */
export function follow(embed) {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: embed.theme });
  const loaded = new Promise((resolve) => {
    link.onload = link.onerror = resolve;
  });
  document.head.append(link);
  return loaded.then(() => {
    if (embed.destroyed) link.remove();
    else Object.assign(embed, { theme: "site", site: new Theme(embed, link) });
  });
}

class Theme {
  constructor(embed, link) {
    Object.assign(this, { embed, link, sent: "", ended: new AbortController() });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.apply(), { signal: this.ended.signal });
    // A site's switch of its colours sets an attribute of one of these.
    const observer = new MutationObserver(() => this.apply());
    for (const node of [document.documentElement, document.body]) if (node) observer.observe(node, { attributes: true });
    this.observer = observer;
  }

  /** The variables as the host element inherits them. */
  values() {
    const style = getComputedStyle(this.embed.host);
    return Object.fromEntries(VARIABLES.map((name) => [name, style.getPropertyValue(`--community-${name}`).trim().slice(0, LENGTH_MAX)]));
  }

  /** The values as JSON, which the page's own may spoil. */
  encoded() {
    const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&").replace(/[\n\r\f\t]/g, " ")}"`;
    return `{${Object.entries(this.values()).map((entry) => entry.map(quoted).join(":"))}}`;
  }

  apply() {
    const { embed } = this;
    if (!embed.host || !embed.host.isConnected) return;
    const values = this.values();
    this.paint(values);
    embed.post({ type: "theme", values });
  }

  /** Colour the trigger, and what the loader writes on the background. A value that is no opaque colour changes nothing. */
  paint({ accent, background }) {
    const { style } = this.embed.box;
    const [button, paper] = [accent, background].map((text) => this.parse(text));
    style.setProperty("--ink", paper ? paper.ink : "");
    if (!button) return;
    style.setProperty("--back", button.color);
    style.setProperty("--text", button.ink);
  }

  /** An opaque colour with the ink that is legible on it, or null. */
  parse(text) {
    const probe = document.createElement("i");
    this.embed.box.append(probe);
    probe.style.color = "#010203";
    probe.style.color = `color-mix(in srgb, ${text}, ${text})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    const match = /^color\(srgb ([^/]+)\)$/.exec(color);
    return match && { color, ink: inkOn(match[1].split(" ").map(Number)) };
  }

  /** Called when the embed is destroyed. */
  stop() {
    this.ended.abort();
    this.observer.disconnect();
    this.link.remove();
  }
}

/** Black or white, the one with more contrast: at least 4.5 to 1 on every colour. */
function inkOn(parts) {
  const [red, green, blue] = parts.map((part) => (part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}
