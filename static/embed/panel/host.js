/** Messages between the panel and the embedding page. Accepts only its window and the origin that the loader passed. */

const params = new URLSearchParams(location.search.slice(1) + "&" + location.hash.slice(1));
const origin = params.get("origin");
export const embedded = window.parent !== window;
export const firstPageUrl = params.get("pageUrl");

function post(message) {
  if (embedded && origin) window.parent.postMessage(message, origin === "null" ? "*" : origin);
}

export const postReady = () => post({ type: "ready" });
export const requestClose = () => post({ type: "close" });

/** `handlers`: page(url, id of a post), open(), close(). */
export function listen(handlers) {
  addEventListener("message", (event) => {
    if (!embedded || event.source !== window.parent || event.origin !== origin) return;
    const { type, url, id } = event.data || {};
    if (Object.hasOwn(handlers, type)) handlers[type](url, id);
  });
}
