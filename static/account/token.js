// Writes the new token into the commands and configurations below it, so that they can be copied as they are.
const token = document.querySelector("#token").textContent.trim();
const snippets = document.querySelector("[data-placeholder]");
for (const code of snippets.querySelectorAll("code")) {
  code.textContent = code.textContent.replaceAll(snippets.dataset.placeholder, token);
}
for (const hint of document.querySelectorAll(".no-script")) hint.hidden = true;
