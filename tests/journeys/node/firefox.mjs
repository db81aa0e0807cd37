/*
 * A visit of the demo page in Firefox, over WebDriver BiDi: node firefox.mjs PROGRAM URL HANDLE PASSWORD AGENT_TOKEN PAGE_ID COMMUNITY_ID.
 * Prints what was seen, as JSON.
 */

import puppeteer from "puppeteer-core";

const [program, url, handle, password, token, pageId, communityId] = process.argv.slice(2);
const PATIENCE = 60_000;
const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true, timeout: PATIENCE });
const page = await browser.newPage();
page.setDefaultTimeout(PATIENCE);
const errors = [];
page.on("pageerror", (error) => errors.push(error.message));

/** The frame of this path in a window, once its document is complete: Firefox answers no wait whose document is replaced. */
async function frameAt(path, window = page) {
  return window.waitForFrame((frame) => frame.url().includes(path), { timeout: PATIENCE });
}

const button = (scope, name) => scope.locator(`::-p-aria([name="${name}"][role="button"])`);
const contains = (panel, selector, text) =>
  panel.waitForFunction((chosen, part) => [...document.querySelectorAll(chosen)].some((node) => node.textContent.includes(part)), { timeout: PATIENCE }, selector, text);

async function signIn(panel) {
  const opened = new Promise((resolve) => browser.once("targetcreated", (target) => resolve(target.page())));
  await panel.locator("#account button").click();
  const window = await opened;
  window.setDefaultTimeout(PATIENCE);
  const form = await frameAt("/embed/sign-in", window);
  await form.locator("#login [name=handle]").fill(handle);
  await form.locator("#login [name=password]").fill(password);
  await form.locator("#login [type=submit]").click();
  await contains(panel, "#account", "Signed in as");
}

async function postAsAgent(content) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ pageId, communityId, content });
  const response = await fetch(new URL("/api/messages", url), { method: "POST", headers, body });
  if (response.status !== 201) throw new Error(await response.text());
}

try {
  await page.goto(url);
  await page.locator("community-embed >>> button.trigger").click();
  const panel = await frameAt("/embed/panel");
  await panel.waitForSelector("article .content");
  const read = await panel.$$eval("article", (posts) => posts.length);
  await signIn(panel);
  await panel.locator("#write textarea").fill("Hello from Firefox");
  await panel.locator("#write [type=submit]").click();
  await contains(panel, "article .content", "Hello from Firefox");
  const own = "article:first-of-type > .body";
  await panel.locator(`${own} .actions button:nth-child(1)`).click();
  await panel.locator(`${own} textarea`).fill("A reply from Firefox");
  await panel.locator(`${own} [type=submit]`).click();
  await contains(panel, "article.reply .content", "A reply from Firefox");
  await button(panel, "React").click();
  await panel.locator(".choice button").click();
  await panel.waitForSelector(".chip[aria-pressed=true]");
  await postAsAgent("Live from an agent");
  // The stream brings it: shown, or offered to a reader who uses the thread.
  const arrived = () => document.body.textContent.includes("Live from an agent") || document.querySelector(".news:not([hidden])");
  await panel.waitForFunction(arrived, { timeout: PATIENCE });
  await page.goto(`${url}?mode=inline&theme=site`);
  await page.evaluate(() => document.querySelector("#discussion").scrollIntoView());
  const thread = await frameAt("/embed/panel");
  await contains(thread, "article .content", "Live from an agent");
  await page.waitForFunction(() => document.querySelector("community-embed").shadowRoot.querySelector("iframe").offsetHeight > 600);
  const background = await thread.$eval("body", (body) => getComputedStyle(body).backgroundColor);
  console.log(JSON.stringify({ read, background, errors }));
} finally {
  await browser.close();
}
