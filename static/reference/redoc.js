import { repair } from "./accessibility.js";
import { onDemoToken } from "./demo.js";
import { samples } from "./samples.js";

const target = document.getElementById("reference");
const dark = matchMedia("(prefers-color-scheme: dark)");
const response = await fetch(target.dataset.url, { headers: { Accept: "application/json" } });
const described = await response.json();
// The page may be open under another name of the service than the one in the document, as localhost.
described.servers = [{ url: location.origin }];

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const [GOOD, BAD, OTHER] = ["#7ddb9b", "#ff9d9d", "#f0c274"];
const LIGHT = { ink: "#1b1d22", muted: "#5a606b", paper: "#fff", raised: "#f5f6f8", line: "#e1e4e9", link: "#1f4bb0" };
const DARK = { ink: "#eceef2", muted: "#a5abb7", paper: "#16171b", raised: "#212329", line: "#33363e", link: "#9db9ff" };

// The colors of statuses on dark paper; those of Redoc are for white paper.
function statuses({ raised }) {
  const response = (color) => ({ color, backgroundColor: raised, tabTextColor: color });
  return { success: response(GOOD), error: response(BAD), redirect: response(OTHER), info: response(OTHER) };
}

function theme(colors) {
  const { ink, muted, raised, line, link } = colors;
  const isDark = colors === DARK;
  return {
    colors: {
      primary: { main: link },
      text: { primary: ink, secondary: muted },
      border: { dark: line, light: line },
      ...(isDark && { responses: statuses(colors) }),
    },
    typography: {
      fontFamily: FONT,
      headings: { fontFamily: FONT },
      code: { color: ink, backgroundColor: raised },
      links: { color: link, visited: link, hover: link },
    },
    sidebar: { backgroundColor: raised, textColor: ink, activeTextColor: link },
    schema: { nestedBackground: raised, linesColor: line, typeNameColor: muted, typeTitleColor: muted, ...(isDark && { requireLabelColor: BAD }) },
  };
}

function withSamples(token) {
  const document = structuredClone(described);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      operation["x-codeSamples"] = samples(described, path, method, token);
    }
  }
  return document;
}

let token;
function show() {
  const options = { hideDownloadButtons: false, theme: theme(dark.matches ? DARK : LIGHT), nativeScrollbars: true };
  Redoc.init(withSamples(token), options, target);
}

repair(target);
dark.addEventListener("change", show);
onDemoToken((value) => {
  token = value;
  show();
});
show();
