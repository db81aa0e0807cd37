/*
 * Community embed loader, version 1.
 *
 *   <script async src="https://app.example/embed/v1.js" data-service-id="EMBED_ID"></script>
 *
 * Optional: data-lang ("de"), data-page-url (the page whose thread is shown, instead of the current URL).
 * Until the first click it sends two requests, for this script and the embed's config; it sets no cookie and stores
 * nothing.
 * Its only global is `CommunityEmbed`: { version, mount(script), open(id), close(id), destroy([id]) }.
 */
(function () {
  "use strict";

  const GLOBAL = "CommunityEmbed";
  const STRINGS = {/*strings*/};
  // Milliseconds after which a loaded frame without a message counts as blocked.
  const SILENCE = 1500;
  // Milliseconds after which such a frame is loaded again. The pauses grow by as much.
  const RETRY = 4000;
  const CSS = "/*styles*/";

  const embeds = new Map();
  let sheet = null;
  let unfollow = null;
  // The id of the post in the URL, once an embed has opened at it.
  let linked;

  /** Wrap a function so that none of its exceptions reaches the page. */
  function safely(work) {
    return function () {
      try {
        return work.apply(this, arguments);
      } catch (error) {
        console.warn("[community-embed] internal_error", error);
      }
    };
  }

  function report(reason, id) {
    console.info("[community-embed] not shown:", reason, id || "");
  }

  /* ---- rules, tested with the same cases as those of the server: tests/embeds/data ---- */

  /** `*` matches any run of characters. Only the last star is retried, so the time is at most quadratic. */
  function pathMatches(pattern, path) {
    let p = 0, s = 0, star = -1, mark = 0;
    while (s < path.length) {
      if (pattern[p] === "*") {
        star = p++;
        mark = s;
      } else if (pattern[p] === path[s]) {
        p++;
        s++;
      } else if (star >= 0) {
        p = star + 1;
        s = ++mark;
      } else {
        return false;
      }
    }
    while (pattern[p] === "*") p++;
    return p === pattern.length;
  }

  function pageAllowed(rules, path) {
    const type = rules && rules.type;
    if (type !== "patterns" && type !== "exclude") return true;
    let readable = path;
    try {
      readable = decodeURIComponent(path);
    } catch (error) {
      // Not percent-encoded UTF-8: the path is compared unchanged.
    }
    const hit = (rules.patterns || []).some((pattern) => pathMatches(pattern, path) || pathMatches(pattern, readable));
    return hit === (type === "patterns");
  }

  /** Parse a host with its port by the browser's rules for case and IDNA. */
  function parseHost(text) {
    const port = (/:(\d+)$/.exec(text) || [])[1] || "";
    let name = text.replace(/:\d+$|^\*\./g, "");
    try {
      name = new URL("https://" + name).hostname;
    } catch (error) {
      // Not a host: it equals only itself.
    }
    return { name: name.replace(/\.$/, ""), port, wild: text[0] === "*" };
  }

  function hostAllowed(whitelist, origin) {
    if (!whitelist || !whitelist.length) return true;
    if (origin === "null") return false;
    const here = parseHost(origin.replace(/^\w+:\/\//, ""));
    return whitelist.some((text) => {
      const entry = parseHost(text);
      if (entry.port && !(here.port ? here.port === entry.port : /^(80|443)$/.test(entry.port))) return false;
      return entry.wild ? here.name.endsWith("." + entry.name) : here.name === entry.name || here.name === "www." + entry.name;
    });
  }

  /** Black or white, the one with more contrast: at least 4.5 to 1 on every colour. */
  function textOn(color) {
    const hex = color.length === 4 ? color.replace(/\w/g, "$&$&") : color;
    const light = [1, 3, 5].map((at) => {
      const part = parseInt(hex.substr(at, 2), 16) / 255;
      return part > 0.04045 ? Math.pow((part + 0.055) / 1.055, 2.4) : part / 12.92;
    });
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? "#000" : "#fff";
  }

  function pickLanguage(requested) {
    const tags = [requested, document.documentElement.lang].concat(navigator.languages || []);
    return tags.map((tag) => (tag || "").toLowerCase().split(/[-_]/)[0]).find((tag) => tag in STRINGS) || "en";
  }

  /** The URL without its fragment, except `#!` and `#/`, which are routes of single-page sites. */
  function currentPage() {
    return location.href.split("#")[0] + (/^#[!/]/.test(location.hash) ? location.hash : "");
  }

  function make(tag, props, parent) {
    const node = Object.assign(document.createElement(tag), props);
    if (parent) parent.append(node);
    return node;
  }

  function icon(path, parent) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    svg.append(document.createElementNS(space, "path"));
    svg.firstChild.setAttribute("d", path);
    parent.append(svg);
  }

  class Embed {
    constructor(script, id) {
      this.script = script;
      this.id = id;
      this.app = new URL(script.src, location.href).origin;
      this.lang = pickLanguage(script.getAttribute("data-lang"));
      this.words = STRINGS[this.lang] || {};
      this.queue = [];
      this.reported = {};
      this.tries = 0;
    }

    start() {
      const url = this.app + "/api/embeds/config/" + encodeURIComponent(this.id);
      const configure = safely((config) => this.configure(config));
      fetch(url, { credentials: "omit" }).then(
        (response) => (response.ok ? response.json().then(configure, () => this.report("config_invalid")) : this.refuse(response.status)),
        () => this.report("config_unreachable"),
      );
    }

    report(reason) {
      if (!this.reported[reason]) report(reason, this.id);
      this.reported[reason] = true;
    }

    refuse(status) {
      this.report({ 403: "domain_not_allowed", 404: "embed_not_found" }[status] || "config_unreachable");
    }

    configure(config) {
      if (this.destroyed) return;
      if (!config || !config.status) return this.report("config_invalid");
      if (config.status !== "active") return this.report("embed_" + config.status);
      if (!hostAllowed(config.domainWhitelist, window.origin)) return this.report("domain_not_allowed");
      this.config = config;
      this.track("embed_load");
      this.update();
    }

    /** Called after the config is loaded and on every navigation of a single-page site. */
    update() {
      if (!this.config) return;
      const page = currentPage();
      if (page === this.page) return this.shown && this.arrive();
      this.page = page;
      this.shown = pageAllowed(this.config.pageRules, location.pathname);
      if (!this.shown) {
        this.report("page_not_allowed");
        this.close();
        if (this.host) this.host.remove();
        return;
      }
      if (!this.host) this.paint();
      this.attach();
      this.track("trigger_view");
      this.arrive();
      this.tell();
    }

    /** Open the panel at the post that the URL names (`/p/{id}` leads there). Of several embeds, the first does. */
    arrive() {
      const id = location.hash.split("#community-post-")[1];
      if (id === linked) return;
      this.target = linked = id;
      if (id) this.open();
      this.tell();
    }

    /** Tell the panel its page, and the post to show. */
    tell() {
      this.post({ type: "page", url: this.pageUrl(), id: this.target });
    }

    pageUrl() {
      return this.script.getAttribute("data-page-url") || this.page;
    }

    paint() {
      const look = this.config.triggerConfig || {};
      const kind = look.type || "corner-tab";
      const color = look.color || "#2f5bd0";
      const corner = (look.position || "bottom-right").replace("-", " ");
      const label = look.message || this.words.open;
      this.inline = kind === "inline";
      this.corner = this.inline ? null : corner;
      this.host = make("community-embed", { className: this.inline ? "" : "float", dir: this.lang === "ar" ? "rtl" : "ltr" });
      // A custom message is in the language of the site.
      if (!look.message) this.host.lang = this.lang;
      this.host.setAttribute("role", "complementary");
      this.host.setAttribute("aria-label", label);
      const root = this.host.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [styles()];
      this.box = make("div", { className: [kind, look.size, this.inline ? "" : "float " + corner].join(" ") }, root);
      this.box.style.setProperty("--back", color);
      this.box.style.setProperty("--text", textOn(color));
      this.box.style.setProperty("--nth", [...embeds.values()].filter((other) => other !== this && other.corner === corner).length);
      this.trigger = make("button", { type: "button", className: "trigger", onclick: safely(() => this.toggle()) }, this.box);
      this.trigger.setAttribute("aria-haspopup", "dialog");
      this.trigger.setAttribute("aria-expanded", "false");
      icon("M21 12a8 8 0 0 1-8 8H4l1.8-3A8 8 0 1 1 21 12z", this.trigger);
      make("span", { textContent: label, dir: "auto" }, this.trigger);
    }

    /** Append the host outside the body, which single-page sites replace; an inline trigger follows its script. */
    attach() {
      if (this.host.isConnected) return;
      const spot = this.script;
      if (this.inline && document.body && document.body.contains(spot)) spot.after(this.host);
      else (this.inline && document.body || document.documentElement).append(this.host);
    }

    toggle() {
      if (this.opened) return this.close();
      this.clicked = true;
      this.track("trigger_click");
      this.open();
    }

    open() {
      if (this.opened || !this.host || !this.host.isConnected) return;
      this.turn(true);
      if (this.panel) this.retry();
      else this.build();
      // On a small screen the panel covers the page, so the page behind it is inert.
      if (!this.inline && matchMedia("(max-width:480px),(max-height:480px)").matches) this.panel.showModal();
      else this.panel.show();
      if (this.ready) this.frame.focus();
      this.post({ type: "open" });
      this.track("panel_open");
    }

    close() {
      if (!this.opened) return;
      this.turn(false);
      this.panel.close();
      // The dialog gives focus back by itself only where a click had focused the trigger, which Safari does not do.
      this.trigger.focus();
      this.post({ type: "close" });
      this.track("panel_close");
    }

    turn(opened) {
      this.clicked = true;
      this.opened = opened;
      this.box.classList.toggle("opened", opened);
      this.trigger.setAttribute("aria-expanded", opened);
    }

    build() {
      const label = this.host.getAttribute("aria-label");
      this.panel = make("dialog", { className: "panel", lang: this.lang, onclose: safely(() => this.close()) }, this.box);
      this.panel.setAttribute("aria-label", label);
      this.panel.onkeydown = safely((event) => { if (event.key === "Escape") this.close(); });
      const close = make("button", { type: "button", className: "close", title: this.words.close, onclick: safely(() => this.close()) }, this.panel);
      close.setAttribute("aria-label", this.words.close);
      icon("M6 6l12 12M18 6L6 18", close);
      const hash = new URLSearchParams({ pageUrl: this.pageUrl(), origin: window.origin });
      const query = new URLSearchParams({ serviceId: this.id, lang: this.lang, host: location.host });
      this.frame = make("iframe", { title: label, referrerPolicy: "no-referrer" });
      // allow-same-origin for API calls, popups for sign-in and links; the frame cannot navigate the page around it.
      this.frame.allow = "clipboard-write";
      this.frame.sandbox = "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox";
      this.frame.src = this.app + "/embed/panel?" + query + "#" + hash;
      this.frame.onload = () => setTimeout(safely(() => this.check()), SILENCE);
      this.panel.append(this.frame);
      this.failed = make("div", { className: "failed", hidden: true, role: "alert" }, this.panel);
      make("span", { textContent: this.words.offline }, this.failed);
      make("a", { href: this.frame.src, target: "_blank", rel: "noopener", textContent: this.words.tab }, this.failed);
    }

    /** A frame without a message is blocked, or could not be loaded. */
    check() {
      this.failed.hidden = !!this.ready;
      setTimeout(safely(() => this.retry()), RETRY * ++this.tries);
    }

    /** Load the frame again by inserting it again. */
    retry() {
      if (this.opened && !this.ready) this.failed.before(this.frame);
    }

    /** Handle a message of the panel, identified by its window and its origin. */
    receive(event) {
      if (!this.frame || event.source !== this.frame.contentWindow || event.origin !== this.app) return;
      const type = event.data && event.data.type;
      if (type === "close") this.close();
      if (type !== "ready") return;
      this.ready = true;
      this.failed.hidden = true;
      if (this.opened) this.frame.focus();
      this.tell();
    }

    post(message) {
      if (this.ready) this.frame.contentWindow.postMessage(message, this.app);
    }

    /** Queue an event until the first click or the end of the visit: a visit without a click sends no early request. */
    track(event) {
      if (navigator.globalPrivacyControl) return;
      const pageUrl = location.href.split(/[?#]/)[0];
      this.queue.push(JSON.stringify({ serviceId: this.id, event, pageUrl }));
      if (this.clicked) this.flush();
    }

    flush() {
      const url = this.app + "/api/embeds/analytics/events";
      this.queue.splice(0).forEach((body) => navigator.sendBeacon(url, new Blob([body], { type: "text/plain" })));
    }

    destroy() {
      this.close();
      this.flush();
      this.destroyed = true;
      if (this.host) this.host.remove();
      embeds.delete(this.id);
    }
  }

  function styles() {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(CSS);
    }
    return sheet;
  }

  const each = (name) => safely((value) => embeds.forEach((embed) => embed[name](value)));

  /** Listen to messages, navigation and the end of the visit; returns the function that stops it. */
  function follow() {
    const update = each("update"), flush = each("flush");
    const stops = [];
    const on = (target, type, work) => {
      target.addEventListener(type, work);
      stops.push(() => target.removeEventListener(type, work));
    };
    on(window, "message", each("receive"));
    on(window, "pagehide", flush);
    on(document, "visibilitychange", () => { if (document.visibilityState === "hidden") flush(); });
    if (window.navigation) {
      on(window.navigation, "currententrychange", update);
    } else {
      on(window, "popstate", update);
      ["pushState", "replaceState"].forEach((name) => {
        const original = history[name];
        const wrapped = function () {
          const result = original.apply(this, arguments);
          update();
          return result;
        };
        history[name] = wrapped;
        stops.push(() => { if (history[name] === wrapped) history[name] = original; });
      });
    }
    return () => stops.forEach((stop) => stop());
  }

  function mount(script) {
    const id = script && script.getAttribute("data-service-id");
    if (!id) return report("no_service_id");
    if (embeds.has(id)) return embeds.get(id).report("already_included");
    if (!("adoptedStyleSheets" in document && window.HTMLDialogElement)) return report("unsupported_browser", id);
    if (!unfollow) unfollow = follow();
    embeds.set(id, new Embed(script, id));
    embeds.get(id).start();
  }

  function destroy(id) {
    embeds.forEach((embed) => { if (id === undefined || embed.id === id) embed.destroy(); });
    if (embeds.size || !unfollow) return;
    unfollow();
    unfollow = null;
  }

  const call = (name) => safely((id) => { if (embeds.has(id)) embeds.get(id)[name](); });

  safely(() => {
    const own = document.currentScript;
    const scripts = own ? [own] : document.querySelectorAll('script[data-service-id][src*="/embed/v1.js"]');
    if (!window[GLOBAL]) {
      window[GLOBAL] = { version: "1.0.0", mount: safely(mount), open: call("open"), close: call("close"), destroy: safely(destroy) };
    }
    scripts.forEach(window[GLOBAL].mount);
  })();
})();
