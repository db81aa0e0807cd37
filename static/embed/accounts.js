/*
 * Accounts of the site: the loader imports this module for embeds whose readers sign in with them. It gives the panel
 * the tokens that the site has signed, and nothing of the panel to the page. `CommunityEmbed` gets { signIn, signOut }.
 */

// A token, or a function of the page that returns another one each time; null: nobody is signed in.
let source = null;
const embeds = new Set();
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const frameOf = (embed) => embed.frame?.contentWindow;
const tellAll = (type) => embeds.forEach((embed) => embed.post({ type }));

/** A text is valid once: afterwards the site has to name another one. */
async function nextToken() {
  const given = source;
  if (typeof given !== "function") {
    source = null;
    return given;
  }
  return given();
}

async function answer(embed) {
  const token = await nextToken().catch((error) => console.warn("[community-embed] no token:", error));
  embed.post({ type: "token", token: typeof token === "string" ? token : null });
}

/** The site may cancel the event to show a sign-in of its own. */
function offerSignIn(embed) {
  const detail = { id: embed.id };
  const { signInUrl } = embed.config;
  const goesOn = document.dispatchEvent(new CustomEvent("community-embed:signin", { detail, cancelable: true }));
  if (goesOn && signInUrl) location.assign(signInUrl);
}

/** What the panel says: only its own window and origin are heard. */
addEventListener("message", ({ source: sender, origin, data }) => {
  const embed = [...embeds].find((each) => sender === frameOf(each) && origin === each.app);
  if (!embed || embed.destroyed) return;
  if (data?.type === "accounts" && source) embed.post({ type: "site-signed-in" });
  if (data?.type === "token-please") answer(embed);
  if (data?.type === "sign-in") offerSignIn(embed);
  if (data?.type === "signed-out") {
    source = null;
    document.dispatchEvent(new CustomEvent("community-embed:signout", { detail: { id: embed.id } }));
  }
});

function signIn(next) {
  source = next || null;
  tellAll(source ? "site-signed-in" : "site-signed-out");
}

/** `data-user` is a token, or the name of a function of the page. */
export function follow(embed) {
  embeds.add(embed);
  const named = embed.script.getAttribute("data-user");
  if (named && !source) source = JWT.test(named) ? named : window[named];
  if (source) embed.post({ type: "site-signed-in" });
  Object.assign(window.CommunityEmbed, { signIn, signOut: () => signIn(null) });
  document.dispatchEvent(new CustomEvent("community-embed:accounts", { detail: { id: embed.id } }));
}
