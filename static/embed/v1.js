/*
 * Community embed loader, version 1.
 *
 *   <script async src="https://app.example/embed/v1.js" data-service-id="EMBED_ID"></script>
 *
 * Optional attributes: data-lang, data-page-url, data-theme, data-mode, data-target, data-count, data-user;
 * docs/embedding.md describes them, the events and the counts.
 * Until the first click it sends two requests, for this script and the embed's config; a third one for counts, or for
 * the frame of a discussion inside the page. It sets no cookie and stores nothing.
 * Its only global is `CommunityEmbed`: { version, mount(script), open(id), close(id), destroy([id]), counts(urls) }.
 */
(function () {
  // Those of its start: what a page replaces later is not used.
  const { CustomEvent, Map, URLSearchParams, fetch, setTimeout } = window;
  const LANGUAGES = "/*languages*/".split(" ");

  const embeds = new Map();
  // The embed and the URL whose count an element or the button of an embed has.
  const counted = new WeakMap();
  // The counts of the page `countedPage` by embed and URL. On that page, no URL is requested again, not even after a failure.
  let totals, countedPage;
  let isFollowing;
  // The id of the post in the URL, once an embed has opened at it.
  let linked;
  // The ids of imported posts by the URLs that name their comments in the system before.
  const imported = new Map();

  /** Wrap a function so that none of its exceptions reaches the page. */
  function safely(work) {
    return (...values) => {
      try {
        return work(...values);
      } catch (error) {
        console.warn("[community-embed] internal_error", error);
      }
    };
  }

  function report(reason, id) {
    console.info("[community-embed] not shown:", reason, id || "");
  }

  /* ---- rules, tested with the same cases as those of the server: tests/embeds/data ---- */

  /**
   * `*` matches any run of characters: each part between stars is found at its first place after the one before. The half
   * of a surrogate pair, which no path has, is the begin and the end of both.
   */
  function pathMatches(pattern, path) {
    const whole = (text) => "\ud800" + text + "\ud800";
    let at = 0;
    return whole(pattern).split("*").every((part) => (at = whole(path).indexOf(part, at) + part.length) >= part.length);
  }

  function pageAllowed(rules, path) {
    if (!/^(patterns|exclude)$/.test(rules?.type)) return true;
    let readable = path;
    try {
      readable = decodeURIComponent(path);
    } catch {
      // Not percent-encoded UTF-8: the path is compared unchanged.
    }
    const hit = (rules.patterns || []).some((pattern) => pathMatches(pattern, path) || pathMatches(pattern, readable));
    return hit === (rules.type === "patterns");
  }

  function pickLanguage(requested) {
    return [requested, document.documentElement.lang, ...navigator.languages]
      .map((tag) => (tag || "").toLowerCase().split(/[-_]/)[0]).find((tag) => LANGUAGES.includes(tag)) || "en";
  }

  /** The URL without its fragment, except `#!` and `#/`, which are routes of single-page sites. */
  function currentPage() {
    return location.href.split("#")[0] + (/^#[!/]/.test(location.hash) ? location.hash : "");
  }

  /** Whether the page declares its colour scheme, which the embed then inherits. */
  function hasScheme() {
    return getComputedStyle(document.documentElement).colorScheme !== "normal" || document.querySelector("[name=color-scheme]");
  }

  function make(tag, props, parent) {
    const node = Object.assign(document.createElement(tag), props);
    parent?.append(node);
    return node;
  }

  /** JSON of a URL. The page's own JSON may be replaced, or obey a `toJSON` of its arrays. */
  const quoted = (text) => '"' + text.replace(/["\\]/g, "\\$&") + '"';

  class Embed {
    constructor(script, id) {
      const read = (name) => script.getAttribute("data-" + name);
      this.script = script;
      this.id = id;
      this.app = new URL(script.src, location.href).origin;
      this.lang = pickLanguage(read("lang"));
      this.theme = read("theme") || "auto";
      this.isInPage = read("mode") === "inline";
      this.target = read("target");
      this.hasCount = read("count") !== null;
      this.queue = [];
      this.reported = {};
      this.pause = 0;
    }

    start() {
      safely(() => this.create())();
      const url = this.app + "/api/embeds/config/" + encodeURIComponent(this.id) + "?lang=" + this.lang;
      const themed = this.loadTheme();
      fetch(url, { credentials: "omit" }).catch(() => ({})).then((response) => {
        if (!response.ok) return this.report({ 403: "domain_not_allowed", 404: "embed_not_found" }[response.status] || "config_unreachable");
        return response.json().catch(() => {}).then((config) => themed.then(safely(() => this.configure(config))));
      }).then(safely(() => {
        this.settled = true;
        if (!this.shown) this.host.remove();
        fillCounts();
      }));
    }

    /**
     * If `data-theme` is a URL, load that style sheet, by a script that only such sites load. Without it the embed has the
     * colours of its config.
     */
    async loadTheme() {
      if (!/^(auto|light|dark)$/.test(this.theme)) return this.extend("theme");
    }

    /** Import a module that only some sites or pages need. */
    extend(name) {
      return import(this.app + "/embed/" + name + ".js?v=/*theme*/").then((module) => module.follow(this, imported)).catch(() => this.report(name + "_unreachable"));
    }

    report(reason) {
      this.reported[reason] ||= !report(reason, this.id);
    }

    configure(config) {
      if (this.destroyed) return;
      if (!config?.status) return this.report("config_invalid");
      if (config.status !== "active") return this.report("embed_" + config.status);
      this.config = config;
      this.words = config.words || {};
      // For "both" and "own".
      if (config.signIn < "service") this.extend("accounts");
      this.track("embed_load");
      this.update();
    }

    /** Called after the config is loaded, and when a single-page site navigates or changes its elements. */
    update() {
      if (!this.config) return;
      const page = currentPage();
      if (page === this.page) {
        if (!this.shown) return;
        // A view that is replaced takes the host with it: move to the place in the new one, or back into one that the
        // site empties after it has changed the URL. A host that the site itself removes stays away.
        if (this.spot && !this.host.isConnected && (this.former || !this.spot.isConnected)) {
          this.former = null;
          this.attach(true);
        }
        return this.arrive();
      }
      this.former = this.page;
      this.page = page;
      this.shown = pageAllowed(this.config.pageRules, location.pathname);
      if (!this.shown) {
        this.report("page_not_allowed");
        this.close();
        this.host.remove();
        return;
      }
      if (!this.label) this.paint();
      this.attach(this.spot);
      if (this.trigger) this.track("trigger_view");
      this.arrive();
      this.showPage();
    }

    /** Open the panel at the post that the URL names (`/p/{id}` leads there). Of several embeds, the first does. */
    arrive() {
      const id = location.href.split("#community-post-")[1] || imported.get(location.href);
      // The number of a comment in another system: a script that only such pages load looks for the post that it became.
      if (!id && this.sought !== (this.sought = location.href) && /\d/.test(location.hash)) this.extend("links");
      if (id === linked) return;
      this.linked = linked = id;
      if (id) this.open();
      this.showPage();
    }

    /** Tell the panel its page, and the post to show. */
    showPage() {
      this.post({ type: "page", url: this.pageUrl(), id: this.linked });
      this.site?.apply();
    }

    pageUrl() {
      return this.script.getAttribute("data-page-url") || this.page;
    }

    /** A discussion in the page takes its place before the config is loaded: a reader may be there by then. */
    create() {
      this.host = make("community-embed", { role: "complementary", dir: this.lang === "ar" ? "rtl" : "ltr" });
      this.host.style.setProperty("--scheme", /^(light|dark)$/.test(this.theme) ? this.theme : hasScheme() ? "" : "light dark");
      const root = this.host.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("/*styles*/");
      root.adoptedStyleSheets = [sheet];
      this.box = make("div", { className: "in-page" }, root);
      if (!this.isInPage) return;
      this.panel = make("div", { className: "panel" }, this.box);
      this.attach(true);
    }

    paint() {
      const look = this.config.triggerConfig;
      const kind = look.type;
      this.label = look.message || this.words.open;
      // A custom message is in the language of the site.
      if (!look.message) this.host.lang = this.lang;
      this.host.ariaLabel = this.label;
      if (this.isInPage) return this.buildNearby();
      this.isFloating = kind !== "inline";
      this.nook = this.isFloating ? "float " + look.position.replace("-", " ") : "";
      if (this.isFloating) this.host.className = "float";
      this.box.className = [kind, look.size, this.nook].join(" ");
      this.box.style.setProperty("--back", look.color);
      this.box.style.setProperty("--text", this.config.ink);
      this.box.style.setProperty("--nth", [...embeds.values()].filter((other) => other !== this && other.nook === this.nook).length);
      this.trigger = make("button", { className: "trigger", ariaHasPopup: "dialog", ariaExpanded: "false", onclick: safely(() => this.toggle()) }, this.box);
      make("span", { textContent: this.label, dir: "auto" }, this.trigger);
      if (this.hasCount) this.badge = make("b", { hidden: true }, this.trigger);
    }

    /**
     * Append the host. One that floats is outside the body, which single-page sites replace; others are in their target, or
     * after their script. Without that place in the body they are at its end; with `isEarly` nowhere, since it may follow.
     */
    attach(isEarly) {
      if (this.host.isConnected) return;
      // A frame loads again where it is inserted: that of a closed panel is not, until it is opened.
      this.frame?.remove();
      this.ready = false;
      const spot = this.target ? document.querySelector(this.target) : this.script;
      const body = this.isFloating ? null : document.body;
      if (body?.contains(spot)) {
        // A target may stay while its content is replaced.
        this.spot = this.target && spot.lastChild || spot;
        if (this.target) spot.append(this.host);
        else spot.after(this.host);
      } else if (!isEarly) (body || document.documentElement).append(this.host);
      this.load();
    }

    tell(type, more) {
      document.dispatchEvent(new CustomEvent("community-embed:" + type, { detail: { id: this.id, page: this.pageUrl(), ...more } }));
    }

    toggle() {
      if (this.opened) return this.close();
      this.track("trigger_click");
      this.open();
    }

    open() {
      if (!this.host.isConnected) return;
      if (this.isInPage) return this.host.scrollIntoView();
      if (this.opened) return;
      this.turn(true);
      if (this.panel) this.load();
      else this.build();
      // On a small screen the panel covers the page, so the page behind it is inert.
      if (this.isFloating && matchMedia("(max-width:480px),(max-height:480px)").matches) this.panel.showModal();
      else this.panel.show();
      if (this.ready) this.frame.focus();
      this.post({ type: "open" });
      this.track("panel_open");
      this.tell("open");
    }

    close() {
      if (!this.opened || this.isInPage) return;
      this.turn(false);
      const { activeElement } = document;
      this.panel.close();
      // The dialog gives focus back by itself only where a click had focused the trigger, which Safari does not do.
      if (activeElement === this.host || activeElement === document.body) this.trigger.focus();
      this.post({ type: "close" });
      this.track("panel_close");
      this.tell("close");
    }

    turn(opened) {
      this.clicked = true;
      this.opened = opened;
      this.box.classList.toggle("opened", opened);
      this.trigger.ariaExpanded = opened;
    }

    /** Show the thread in the page, when its place is less than a screen away. Farther away, it reserves nothing more. */
    buildNearby() {
      const observer = new IntersectionObserver(safely((entries) => {
        if (!entries.at(-1).isIntersecting) return this.loaded && (this.box.style.minHeight = 0);
        if (this.frame) return;
        this.opened = true;
        this.buildFrame();
        this.track("panel_open");
        this.tell("open");
      }), { rootMargin: "100%" });
      observer.observe(this.host);
    }

    build() {
      this.panel = make("dialog", {
        className: "panel",
        lang: this.lang,
        ariaLabel: this.label,
        onclose: safely(() => this.close()),
        onkeydown: safely((event) => { if (event.key === "Escape") this.close(); }),
      }, this.box);
      make("button", { className: "close", title: this.words.close, ariaLabel: this.words.close, textContent: "\u00d7", onclick: safely(() => this.close()) }, this.panel);
      this.buildFrame();
    }

    buildFrame() {
      this.frame = make("iframe", {
        title: this.label,
        referrerPolicy: "no-referrer",
        allow: "clipboard-write",
        // allow-same-origin for API calls, popups for sign-in and links; the frame cannot navigate the page around it.
        sandbox: "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox",
        // A loaded frame that sends no message in these milliseconds counts as blocked.
        onload: () => { this.timer = setTimeout(safely(() => this.check()), 1500); },
      });
      this.failed = make("div", { className: "failed", hidden: true, role: "alert" }, this.panel);
      make("span", { textContent: this.words.offline }, this.failed);
      this.link = make("a", { target: "_blank", rel: "noopener", textContent: this.words.tab }, this.failed);
      this.load();
    }

    /** A frame without a message is blocked, or could not be loaded. It is loaded again; the pauses grow by 4 s. */
    check() {
      if (this.ready) return;
      this.failed.hidden = false;
      this.timer = setTimeout(safely(() => this.load()), this.pause += 4000);
    }

    /** Load the frame, or load it again, by inserting it. */
    load() {
      clearTimeout(this.timer);
      if (!this.opened || this.ready) return;
      this.frame.remove();
      const hash = new URLSearchParams({ pageUrl: this.pageUrl(), origin: window.origin });
      // Of the system's colour of text.
      const isDark = getComputedStyle(this.host).color !== "rgb(0, 0, 0)";
      const query = new URLSearchParams({ serviceId: this.id, lang: this.lang, host: location.host });
      if (this.isInPage) query.set("mode", "inline");
      if (this.theme !== "auto") query.set("theme", this.theme);
      // The frame follows the reader by itself.
      else if (isDark !== matchMedia("(prefers-color-scheme:dark)").matches) query.set("theme", isDark ? "dark" : "light");
      if (this.site) hash.set("variables", this.site.encoded());
      this.link.href = this.frame.src = this.app + "/embed/panel?" + query + "#" + hash;
      this.failed.before(this.frame);
    }

    /** Handle a message of the panel, identified by its window and its origin. */
    receive(event) {
      if (event.source !== this.frame?.contentWindow || event.origin !== this.app) return;
      const { type, by, height, loaded, message } = event.data || {};
      if (type === "close") this.close();
      if (type === "posted") this.posted(message);
      if (type === "height") this.grow(height, loaded);
      if (type === "scroll") scrollBy({ top: by, behavior: "instant" });
      if (type !== "ready") return;
      this.ready = true;
      this.failed.hidden = true;
      if (!this.opened) this.post({ type: "close" });
      else if (!this.isInPage) this.frame.focus();
      this.showPage();
    }

    posted(message) {
      if (this.badge && message.status === "published") this.showCount(this.count + 1);
      this.tell("posted", message);
    }

    /** Nothing that is seen moves, while the first posts appear and while the reserved height is given up. */
    grow(height, loaded) {
      const { top, bottom } = this.host.getBoundingClientRect();
      const isOnScreen = bottom > 0 && bottom < innerHeight;
      if (loaded && !(isOnScreen && this.loaded)) {
        // What follows stays on the screen, as far as the page can be scrolled, or below it, unless it is a mere margin.
        this.box.style.minHeight = Math.max(0, isOnScreen ? bottom - top - scrollY : bottom > 0 && (scrollY || Math.abs(document.documentElement.scrollHeight - bottom) > 32) ? innerHeight - top : 0) + "px";
      }
      this.frame.style.height = height + "px";
      // Browsers hold what follows a discussion above the screen.
      if (!this.loaded && isOnScreen) scrollBy({ top: this.host.getBoundingClientRect().bottom - bottom, behavior: "instant" });
      this.loaded = loaded;
    }

    showCount(count) {
      this.count = count;
      this.badge.hidden = !count;
      this.badge.textContent = count.toLocaleString(this.lang);
    }

    post(message) {
      if (this.ready) this.frame.contentWindow?.postMessage(message, this.app);
    }

    /** Queue an event until the first click or the end of the visit: a visit without a click sends no early request. */
    track(event) {
      if (navigator.globalPrivacyControl) return;
      this.queue.push(`{"serviceId":"${this.id}","event":"${event}","pageUrl":"${location.href.split(/[?#]/)[0]}"}`);
      if (this.clicked) this.flush();
    }

    flush() {
      const url = this.app + "/api/embeds/analytics/events";
      this.queue.splice(0).forEach((body) => navigator.sendBeacon(url, body));
    }

    destroy() {
      // Removed first, it takes no focus when it closes.
      this.host.remove();
      this.close();
      this.flush();
      this.destroyed = true;
      this.site?.stop();
      embeds.delete(this.id);
    }
  }

  /** The active embeds first, in the order of the document: scripts load in any order. */
  const ordered = () => [...embeds.values()].sort((a, b) => !a.config - !b.config || (a.script.compareDocumentPosition(b.script) & 2) - 1);

  /** Request the counts of at most 100 pages, in the order of their URLs: of what an embed shows, by default the first active one. */
  async function counts(urls, [embed] = ordered()) {
    // A text is sent as text/plain, which needs no preflight.
    const response = await fetch(embed.app + "/v1/presence/counts", { method: "POST", credentials: "omit", body: `{"embedId":"${embed.id}","urls":[${urls.map(quoted)}]}` });
    if (response.ok) return (await response.json()).counts;
    throw Error("counts " + response.status);
  }

  /**
   * Fill the badges and the elements with `data-community-count`, when every embed has its config. A request has at most
   * 100 URLs, of at most 2,048 characters.
   */
  function fillCounts() {
    const all = ordered();
    if (!all[0]?.config || all.some((embed) => !embed.settled) || document.readyState === "loading") return;
    if (countedPage !== currentPage()) totals = new Map();
    countedPage = currentPage();
    const known = totals;
    const urls = {};
    const fill = (embed, shown, text, show) => {
      const id = embed.id + text;
      if (counted.get(shown) === id) return;
      // The protocol of what is no URL is a colon alone.
      const { href, protocol } = make("a", { href: text });
      const spot = embed.id + href;
      const total = known.get(spot);
      if (total >= 0) show(total);
      else if (known.has(spot)) return;
      else if (protocol[1] && href.length <= 2048 && known.size < 100) {
        known.set(spot);
        return (urls[embed.id] ||= []).push(href);
      } else report("not_counted", text);
      counted.set(shown, id);
    };
    all.forEach((embed) => embed.badge && fill(embed, embed, embed.pageUrl(), (count) => embed.showCount(count)));
    document.querySelectorAll("[data-community-count]").forEach((node) => {
      const embed = embeds.get(node.getAttribute("data-service-id") || all[0].id);
      if (embed?.config) fill(embed, node, node.getAttribute("data-community-count"), (count) => { node.textContent = count.toLocaleString(embed.lang); });
    });
    all.forEach((embed) => urls[embed.id] && counts(urls[embed.id], [embed]).then(safely((records) => {
      records.forEach(({ pageId, url, posts, replies }) => pageId && known.set(embed.id + url, posts + replies));
      fillCounts();
      embed.tell("counts", { counts: records });
    }), () => report("counts_unreachable")));
  }

  /** Listen to messages, navigation and the end of the visit. Without an embed, that does nothing. */
  function follow() {
    const flush = safely(() => embeds.forEach((embed) => embed.flush()));
    const update = safely(() => {
      embeds.forEach((embed) => embed.update());
      fillCounts();
    });
    addEventListener("message", safely((event) => embeds.forEach((embed) => embed.receive(event))));
    addEventListener("pagehide", flush);
    document.addEventListener("visibilitychange", () => document.hidden && flush());
    document.addEventListener("DOMContentLoaded", update);
    window.navigation?.addEventListener("currententrychange", update);
    addEventListener("popstate", update);
    // Other browsers tell no navigation by script. What it shows changes elements.
    new MutationObserver(update).observe(document, { childList: true, subtree: true });
  }

  function mount(script) {
    const id = script?.getAttribute("data-service-id");
    if (!id) return report("no_service_id");
    const known = embeds.get(id);
    if (known?.script.isConnected) return known.report("already_included");
    // A view that is replaced takes its script with it: the new one has the page, and a new host if that has gone too.
    if (known?.host.isConnected) {
      known.script = script;
      known.showPage();
      return fillCounts();
    }
    known?.destroy();
    // Browsers with it have all other features that the loader uses.
    if (!("adoptedStyleSheets" in document)) return report("unsupported_browser", id);
    isFollowing ||= !follow();
    embeds.set(id, new Embed(script, id));
    embeds.get(id).start();
  }

  function destroy(id) {
    (id === undefined ? embeds : [embeds.get(id)]).forEach((embed) => embed?.destroy());
  }

  safely(() => {
    const own = document.currentScript;
    window.CommunityEmbed ||= { version: "1.0.0", mount: safely(mount), open: safely((id) => embeds.get(id)?.open()), close: safely((id) => embeds.get(id)?.close()), destroy: safely(destroy), counts };
    (own ? [own] : document.querySelectorAll('script[data-service-id][src*="/embed/v1.js"]')).forEach(window.CommunityEmbed.mount);
  })();
})();
