// The preview of a site's look: the real loader, which gets its configuration from the form beside this frame.
// A classic script before the loader, because it replaces what the loader calls.
(() => {
  const config = JSON.parse(document.getElementById("config").textContent);
  const request = window.fetch.bind(window);
  let isInPage = false;
  const src = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "src");

  window.fetch = (url, options) => String(url).includes("/api/embeds/config/")
    ? Promise.resolve(new Response(JSON.stringify({ ...config, ink: inkOn(config.triggerConfig.color) })))
    : request(url, options);
  // A preview is no visit. The panel reads the rest of its fragment (static/embed/panel/host.js).
  navigator.sendBeacon = () => true;
  Object.defineProperty(HTMLIFrameElement.prototype, "src", { ...src, set(url) { src.set.call(this, `${url}&preview=1`); } });

  /** Black or white: the one with more contrast, as the service computes it (embeds/widget/ink.py). */
  function inkOn(color) {
    const digits = color.length === 4 ? [...color.slice(1)].map((digit) => digit + digit) : color.slice(1).match(/../g);
    const [red, green, blue] = digits.map((pair) => parseInt(pair, 16) / 255)
      .map((part) => (part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
  }

  addEventListener("message", (event) => {
    if (event.origin !== location.origin || event.source !== parent || event.data?.type !== "look") return;
    const { type, ...look } = event.data.look;
    isInPage = type === "in-page";
    config.triggerConfig = isInPage ? look : { type, ...look };
    // The form may send its look before this page is read to its end.
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", show, { once: true });
    else show();
  });

  function show() {
    const script = document.querySelector("script[data-preview]");
    // The rest of a look changes nothing of a discussion in the page, which would load again.
    if (isInPage && script.dataset.mode) return;
    if (isInPage) script.dataset.mode = "inline";
    else delete script.dataset.mode;
    if (!window.CommunityEmbed) return;
    window.CommunityEmbed.destroy();
    window.CommunityEmbed.mount(script);
  }
})();
