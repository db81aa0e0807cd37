/** Makes a tree of the tokens: [tag, children, attributes], where a child is a text or such a node. */

import { hiddenHost } from "./addresses.js";
import { tokenize } from "./rules.js";

// Deeper marks of bold and italic text stay text.
const DEPTH_MAX = 6;
const BLOCKS = ["p", "pre", "blockquote", "ul", "ol", "li"];
const TAGS = { bullet_list: "ul", ordered_list: "ol", list_item: "li", blockquote: "blockquote", paragraph: "p", strong: "strong", em: "em", link: "a" };

export function parse(text) {
  const tree = new Tree();
  tokenize(text).forEach((token) => tree.add(token));
  return tree.root[1];
}

/** The texts of the innermost blocks. A list item may have text beside blocks. */
export function lines(children) {
  const found = [];
  let text = "";
  const end = () => {
    if (text) found.push(text);
    text = "";
  };
  for (const child of children) {
    const isBlock = BLOCKS.includes(child[0]) && typeof child !== "string";
    if (isBlock) end();
    if (isBlock) found.push(...lines(child[1]));
    else text += plain([child]);
  }
  end();
  return found;
}

/** The text of a tree, without marks and without what is shown beside links. */
export function plain(children) {
  return children.map((child) => (typeof child === "string" ? child : plain(child[1]))).join("");
}

class Tree {
  constructor() {
    this.root = ["", [], {}];
    this.open = [this.root];
    this.depth = 0;
  }

  get node() {
    return this.open[this.open.length - 1];
  }

  add(token) {
    const { type, content, children, hidden } = token;
    if (hidden) return;
    if (type === "inline") children.forEach((child) => this.add(child));
    else if (type === "softbreak" || type === "hardbreak") this.text("\n");
    else if (type === "code_inline") this.node[1].push(["code", [content], {}]);
    else if (type === "fence") this.node[1].push(["pre", [content.replace(/\n$/, "")], {}]);
    else if (type === "strong_open" || type === "em_open") this.mark(token);
    else if (type === "strong_close" || type === "em_close") this.unmark(token);
    else if (type === "link_close") this.closeLink();
    else if (type.endsWith("_open")) this.push(token);
    else if (type.endsWith("_close")) this.open.pop();
    else this.text(content);
  }

  push(token) {
    const start = token.type === "ordered_list_open" && token.attrGet("start");
    const attributes = token.type === "link_open" ? { href: token.attrGet("href") } : start ? { start } : {};
    const node = [TAGS[token.type.replace("_open", "")], [], attributes];
    this.node[1].push(node);
    this.open.push(node);
  }

  text(content) {
    if (!content) return;
    const { node: [, children] } = this;
    const last = children.length - 1;
    if (typeof children[last] === "string") children[last] += content;
    else children.push(content);
  }

  mark(token) {
    this.depth += 1;
    if (this.depth > DEPTH_MAX) this.text(token.markup);
    else this.push(token);
  }

  unmark(token) {
    if (this.depth > DEPTH_MAX) this.text(token.markup);
    else this.open.pop();
    this.depth -= 1;
  }

  /** A link to nowhere, `[text]()`, stays text. */
  closeLink() {
    const [, children, attributes] = this.open.pop();
    if (attributes.href) {
      const host = hiddenHost(attributes.href, plain(children));
      if (host) attributes.host = host;
      return;
    }
    this.node[1].pop();
    this.text("[");
    for (const child of children) typeof child === "string" ? this.text(child) : this.node[1].push(child);
    this.text("]()");
  }
}
