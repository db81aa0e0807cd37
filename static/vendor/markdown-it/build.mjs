/** Builds markdown-it.js from the packages `markdown-it` and `esbuild`: see README.md in the folder above. */

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const lib = join(dirname(createRequire(import.meta.url).resolve("markdown-it/package.json")), "lib");
// Rules that the service does not enable, in their files' names.
const LEFT_OUT = /rules_(?:block\/(?:code|heading|html_block|lheading|reference|table)|inline\/(?:autolink|backticks|entity|html_inline|image|linkify|newline|strikethrough))\.mjs$/;
// What is left of other packages: entities are not decoded, and browsers know the classes of Unicode.
const REPLACED = {
  mdurl: "",
  entities: "export const decodeHTML = (text) => text;",
  "uc.micro": "export const P = /\\p{P}/u, S = /\\p{S}/u;",
};
const ENTRY = `
export { default as ParserBlock } from "${lib}/parser_block.mjs";
export { default as ParserInline } from "${lib}/parser_inline.mjs";
export * as helpers from "${lib}/helpers/index.mjs";
export { default as hr } from "${lib}/rules_block/hr.mjs";
export { default as blockquote } from "${lib}/rules_block/blockquote.mjs";
export { default as list } from "${lib}/rules_block/list.mjs";
`;

const replace = {
  name: "replace",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:mdurl|entities|uc\.micro)$/ }, ({ path }) => ({ path, namespace: "replaced" }));
    onLoad({ filter: /.*/, namespace: "replaced" }, ({ path }) => ({ contents: REPLACED[path] }));
    onLoad({ filter: LEFT_OUT }, () => ({ contents: "export default { tokenize: null, postProcess: null };" }));
  },
};

await build({
  stdin: { contents: ENTRY, resolveDir: lib },
  plugins: [replace],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "markdownIt",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  banner: { js: "/* markdown-it 14.3.3, MIT licence, (c) Vitaly Puzrin, Alex Kocharin. A part of it: see README.md. */" },
  outfile: process.argv[2],
});
