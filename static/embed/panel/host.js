/** Messages between the panel and the embedding page. Accepts only its window and the origin that the loader passed. */

const params = new URLSearchParams(location.search.slice(1) + "&" + location.hash.slice(1));
const origin = params.get("origin");
export const embedded = window.parent !== window;
/** Whether the thread is part of the page around it, which scrolls. */
export const isInline = embedded && params.get("mode") === "inline";
/** Whether the page around it is the preview of an embed's look, which is no visit. */
export const isPreview = params.has("preview");
export const firstPageUrl = params.get("pageUrl");
export const firstVariables = params.get("variables");

export function post(message) {
  if (embedded && origin) window.parent.postMessage(message, origin === "null" ? "*" : origin);
}

export const postReady = () => post({ type: "ready" });
export const requestClose = () => post({ type: "close" });

/** Tell the page of a post of the reader. The page gets no text. */
export function postPosted({ id, parentId, status }) {
  post({ type: "posted", message: { messageId: id, parentId, status } });
}

/** `handlers`: page({ url, id of a post }), theme({ values }), open(), close(). */
export function listen(handlers) {
  addEventListener("message", (event) => {
    if (!embedded || event.source !== window.parent || event.origin !== origin) return;
    const data = event.data || {};
    if (Object.hasOwn(handlers, data.type)) handlers[data.type](data);
  });
}
