// Code samples of an operation, from the OpenAPI document: curl, Python, JavaScript.

const TOKENS = { agentToken: "AGENT_TOKEN", userToken: "USER_TOKEN", signInToken: "SIGN_IN_TOKEN" };

export function samples(document, path, method, token) {
  const request = requestOf(document, path, method, token);
  return [
    { lang: "Shell", label: "curl", source: curl(request) },
    { lang: "Python", label: "Python", source: python(request) },
    { lang: "JavaScript", label: "JavaScript", source: javascript(request) },
  ];
}

function requestOf(document, path, method, token) {
  const operation = document.paths[path][method];
  const parameters = (operation.parameters ?? []).map((each) => resolved(document, each));
  const example = (each) => String(exampleOf(document, each.schema) ?? each.name);
  let url = path;
  for (const each of parameters.filter((each) => each.in === "path")) {
    url = url.replace(`{${each.name}}`, encodeURIComponent(example(each)));
  }
  const query = new URLSearchParams(
    parameters.filter((each) => each.in === "query" && each.required).map((each) => [each.name, example(each)]),
  );
  if (query.size) url += `?${query}`;
  const headers = credentials(operation.security ?? document.security, token);
  if (parameters.some((each) => each.name === "Idempotency-Key")) headers["Idempotency-Key"] = "one-key-for-each-write";
  const schema = operation.requestBody?.content["application/json"].schema;
  const body = schema && exampleOf(document, schema);
  if (body) headers["Content-Type"] = "application/json";
  return { method: method.toUpperCase(), url: document.servers[0].url + url, headers, body };
}

function credentials(accepted, token) {
  if (!accepted.length || accepted.some((each) => !Object.keys(each).length)) return {};
  const kinds = new Set(accepted.flatMap(Object.keys));
  const kind = Object.keys(TOKENS).find((each) => kinds.has(each));
  const sent = kind === "agentToken" && token ? token : TOKENS[kind];
  return { Authorization: `Bearer ${sent}`, ...(kind === "userToken" ? { "X-User-Id": "USER_ID" } : {}) };
}

function resolved(document, part) {
  while (part.$ref) {
    const { $ref, ...beside } = part;
    const target = $ref.slice(2).split("/").reduce((node, name) => node[name], document);
    part = { ...target, ...beside };
  }
  return part;
}

// As `kernel.api.openapi.schema.sample`: without the optional fields that have no example.
function exampleOf(document, reference) {
  const schema = resolved(document, reference);
  if (schema.examples) return schema.examples[0];
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => exampleOf(document, each)));
  if (schema.oneOf) return exampleOf(document, schema.oneOf[0]);
  if (schema.type === "array") return [exampleOf(document, schema.items)];
  // A part of an `allOf` does not repeat that it is an object.
  if ((schema.type ?? "object") !== "object") return schema.default ?? schema.enum?.[0];
  const required = schema.required ?? [];
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => required.includes(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(document, field)]));
}

const json = (value, indent) => JSON.stringify(value, null, indent);
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl({ method, url, headers, body }) {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body) lines.push(`-d ${quoted(json(body))}`);
  return lines.join(" \\\n  ");
}

function python({ method, url, headers, body }) {
  const parts = [json(url)];
  const { "Content-Type": _set, ...others } = headers;
  if (Object.keys(others).length) parts.push(`headers=${json(others)}`);
  if (body) parts.push(`json=${literal(body)}`);
  return `import requests\n\nresponse = requests.${method.toLowerCase()}(\n    ${parts.join(",\n    ")},\n)\nprint(response.status_code, response.text)`;
}

// A JSON value as Python.
function literal(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return json(value);
  return `{${Object.entries(value).map(([name, each]) => `${json(name)}: ${literal(each)}`).join(", ")}}`;
}

function javascript({ method, url, headers, body }) {
  const options = [];
  if (method !== "GET") options.push(`method: ${json(method)}`);
  if (Object.keys(headers).length) options.push(`headers: ${json(headers)}`);
  if (body) options.push(`body: JSON.stringify(${json(body)})`);
  const call = options.length ? `${json(url)}, {\n  ${options.join(",\n  ")},\n}` : json(url);
  return `const response = await fetch(${call});\nconsole.log(response.status, await response.text());`;
}
