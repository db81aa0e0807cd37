import { repair } from "./accessibility.js";
import { onDemoToken } from "./demo.js";
import { samples } from "./samples.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const showScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", showScheme);
showScheme();

let token;

// Code samples below the parameters of an opened operation.
const codeSamples = ({ React }) => ({
  wrapComponents: {
    parameters: (Parameters, system) => (props) => {
      const create = React.createElement;
      const described = system.specSelectors.specJson().toJS();
      const [path, method] = props.pathMethod;
      const blocks = samples(described, path, method, token).map(({ label, source }) =>
        create("details", { key: label }, create("summary", null, label), create("pre", { tabIndex: 0 }, source)),
      );
      return create("div", null, create(Parameters, props), create("div", { className: "samples" }, blocks));
    },
  },
});

const response = await fetch(document.getElementById("reference").dataset.url, { headers: { Accept: "application/json" } });
const spec = await response.json();
// The page may be open under another name of the service than the one in the document, as localhost.
spec.servers = [{ url: location.origin }];

const ui = SwaggerUIBundle({
  spec,
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [codeSamples],
  layout: "BaseLayout",
  deepLinking: true,
  // It would send the document to a validator on the internet.
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  tryItOutEnabled: true,
});

repair(document.getElementById("reference"));
onDemoToken((value) => {
  token = value;
  ui.preauthorizeApiKey("agentToken", value);
});
