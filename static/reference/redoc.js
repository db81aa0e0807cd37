import { repair } from "./accessibility.js";
import { onDemoToken } from "./demo.js";
import { samples } from "./samples.js";

const target = document.getElementById("reference");
const dark = matchMedia("(prefers-color-scheme: dark)");
const response = await fetch(target.dataset.url, { headers: { Accept: "application/json" } });
const described = await response.json();

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const LIGHT = { ink: "#1b1d22", muted: "#5a606b", paper: "#fff", raised: "#f5f6f8", line: "#e1e4e9", link: "#1f4bb0" };
const DARK = { ink: "#eceef2", muted: "#a5abb7", paper: "#16171b", raised: "#212329", line: "#33363e", link: "#9db9ff" };

function theme({ ink, muted, raised, line, link }) {
  return {
    colors: { primary: { main: link }, text: { primary: ink, secondary: muted }, border: { dark: line, light: line } },
    typography: {
      fontFamily: FONT,
      headings: { fontFamily: FONT },
      code: { color: ink, backgroundColor: raised },
      links: { color: link, visited: link, hover: link },
    },
    sidebar: { backgroundColor: raised, textColor: ink, activeTextColor: link },
    schema: { nestedBackground: raised, linesColor: line, typeNameColor: muted, typeTitleColor: muted },
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
