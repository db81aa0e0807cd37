// Repairs what Swagger UI and Redoc leave unclear to assistive technology: names, levels of headings, nested controls.

const NAMES = {
  "textarea.body-param__text": "Request body",
  "select#servers": "Server",
  ".content-type": "Media type",
  ".parameters-col_description select": "Value",
};

// What Swagger UI has outside its `main`.
const REGIONS = { ".information-container": "About this API", ".scheme-container": "Servers and credentials" };
// The levels of headings, which both skip.
const LEVELS = { ".opblock-tag": 2, ".opblock h4": 3, ".models h4": 2, "[id^='tag/'] h5": 3 };

export function repair(root) {
  const once = () => {
    for (const [selector, name] of Object.entries(NAMES)) {
      for (const each of root.querySelectorAll(`${selector}:not([aria-label])`)) each.setAttribute("aria-label", name);
    }
    // A link in a button: a click on the button sets the same fragment.
    for (const link of root.querySelectorAll(".opblock-summary-control a[href]")) link.removeAttribute("href");
    for (const [selector, level] of Object.entries(LEVELS)) {
      for (const each of root.querySelectorAll(`${selector}:not([aria-level])`)) each.setAttribute("aria-level", level);
    }
    for (const [selector, name] of Object.entries(REGIONS)) {
      for (const each of root.querySelectorAll(`${selector}:not([role])`)) {
        each.setAttribute("role", "region");
        each.setAttribute("aria-label", name);
      }
    }
    for (const code of root.querySelectorAll("pre:not([tabindex])")) code.tabIndex = 0;
  };
  new MutationObserver(once).observe(root, { childList: true, subtree: true });
  once();
}
