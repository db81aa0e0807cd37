/** Forms that ask a passkey: `data-passkey` is "create", "get" (options in the page) or "sign-in" (options from the action). */

const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const toText = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** The options with bytes where the browser wants them. */
function decoded({ publicKey }) {
  const options = structuredClone(publicKey);
  options.challenge = toBytes(options.challenge);
  if (options.user) options.user.id = toBytes(options.user.id);
  for (const list of [options.excludeCredentials, options.allowCredentials]) list?.forEach((each) => { each.id = toBytes(each.id); });
  return options;
}

/** What the browser answers, as JSON of WebAuthn Level 3. */
function encoded(credential) {
  const { response } = credential;
  const names = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const fields = names.filter((name) => response[name]).map((name) => [name, toText(response[name])]);
  return {
    id: credential.id, rawId: toText(credential.rawId), type: credential.type, response: Object.fromEntries(fields),
    authenticatorAttachment: credential.authenticatorAttachment, clientExtensionResults: credential.getClientExtensionResults(),
  };
}

async function optionsOf(form) {
  if (form.dataset.passkey !== "sign-in") return JSON.parse(document.getElementById("passkey-options").textContent);
  return (await fetch(form.action, { headers: { Accept: "application/json" } })).json();
}

async function ask(event) {
  const form = event.target;
  event.preventDefault();
  const problem = form.querySelector("[role=alert]");
  problem.hidden = true;
  try {
    const publicKey = decoded(await optionsOf(form));
    const isNew = form.dataset.passkey === "create";
    const credential = await navigator.credentials[isNew ? "create" : "get"]({ publicKey });
    form.elements.credential.value = JSON.stringify(encoded(credential));
    form.submit();
  } catch {
    problem.hidden = false;
  }
}

if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll("[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", ask);
  }
}
