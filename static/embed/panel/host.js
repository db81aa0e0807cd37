/** The page that holds the panel. Only its window and its origin, as the loader named it, are listened to. */

const params = new URLSearchParams(location.search.slice(1) + "&" + location.hash.slice(1));
const origin = params.get("origin");
export const embedded = window.parent !== window;
export const firstPageUrl = params.get("pageUrl");

function tell(message) {
  if (embedded && origin) window.parent.postMessage(message, origin === "null" ? "*" : origin);
}

export const tellReady = () => tell({ type: "ready" });
export const askToClose = () => tell({ type: "close" });

/** `handlers`: page(url), open(), close(). */
export function listen(handlers) {
  addEventListener("message", (event) => {
    if (!embedded || event.source !== window.parent || event.origin !== origin) return;
    const { type, url } = event.data || {};
    if (Object.hasOwn(handlers, type)) handlers[type](url);
  });
}
