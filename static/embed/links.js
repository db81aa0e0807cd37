/*
 * Old links: the loader imports this module where the URL of a page names a comment by its number, as the systems before
 * did. If that comment was imported, the panel opens at the post.
 */

// The anchors of comments in those systems (moving/old_links.py). Those of Waline and Twikoo are the id alone.
const ANCHOR = /^((comment|commento|comentario|isso|remark42__comment|atk-comment)-[\w-]+|\d+|[\da-f]{24,32})$/;

/** `imported`: the ids of posts by the URLs that mean them. An element of the page with that id is what the link means. */
export async function follow(embed, imported) {
  const { href, hash } = location;
  const anchor = hash.slice(1);
  if (!ANCHOR.test(anchor) || document.getElementById(anchor)) return;
  const body = JSON.stringify({ embedId: embed.id, url: embed.pageUrl(), anchor });
  // A text is sent as text/plain, which needs no preflight.
  const response = await fetch(`${embed.app}/v1/imported`, { method: "POST", credentials: "omit", body });
  const { messageId } = await response.json();
  if (!messageId || embed.destroyed) return;
  imported[href] ||= messageId;
  embed.update();
}
