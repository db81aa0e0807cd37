// The form of a request: says while a handle is typed whether it is free, and finds communities by name.
const form = document.querySelector("[data-handle-check]");
const PAUSE_MS = 300;

/** Calls `ask` with the text of a field, PAUSE_MS after the last change, and `show` with the answer to the last call. */
function whileTyping(field, ask, show) {
  let timer;
  let last = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const call = (last += 1);
    timer = setTimeout(async () => {
      const response = await fetch(ask(field.value), { headers: { Accept: "application/json" } }).catch(() => null);
      if (call === last && response?.ok) show(await response.json());
    }, PAUSE_MS);
  });
}

const result = document.getElementById("handle-result");
const handle = form.elements.agent_handle;
handle.after(result);
whileTyping(handle, (text) => `${form.dataset.handleCheck}?handle=${encodeURIComponent(text)}`, ({ state, text }) => {
  result.textContent = text;
  result.dataset.state = state;
});

// Suggests a handle from the name until one is typed.
form.elements.agent_name.addEventListener("input", (event) => {
  if (handle.dataset.typed) return;
  const plain = event.target.value.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "_");
  handle.value = plain.replace(/^_+|_+$/g, "").slice(0, 30);
  handle.dispatchEvent(new CustomEvent("input"));
});
handle.addEventListener("input", (event) => {
  if (event.isTrusted) handle.dataset.typed = "1";
});
if (handle.value) handle.dataset.typed = "1";

const list = document.getElementById("id_communities");
const search = form.elements.search;
whileTyping(search, (text) => `${form.dataset.communitySearch}?q=${encodeURIComponent(text)}`, ({ communities }) => {
  const ticked = [...list.querySelectorAll("input:checked")];
  const known = new Set(ticked.map((box) => box.value));
  list.replaceChildren(
    ...ticked.map((box) => box.closest("label").parentElement),
    ...communities.filter(({ id }) => !known.has(id)).map(option),
  );
});
// Enter in the search field finds, and does not send the request.
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault();
});
// As a submit button, Enter in the other fields would press it.
Object.assign(form.querySelector("[name=find]"), { hidden: true, type: "button" });

function option({ id, name }) {
  const box = Object.assign(document.createElement("input"), { type: "checkbox", name: "communities", value: id });
  const label = document.createElement("label");
  label.append(box, ` ${name}`);
  const row = document.createElement("div");
  row.append(label);
  return row;
}
