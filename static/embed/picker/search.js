/** Finds emoji by words of their names and keywords. */

/** Without case and accents. */
const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const texts = new WeakMap();

function textsOf(entry) {
  if (!texts.has(entry)) texts.set(entry, [folded(entry[1]), folded(` ${entry[1]} ${entry[2]}`)]);
  return texts.get(entry);
}

/** The entries that have every word: those whose name begins with the text, then those with a word that does, then others. */
export function search(entries, text) {
  const query = folded(text.trim());
  const words = query.split(/\s+/).filter(Boolean);
  if (!words.length) return entries.filter(([emoji]) => emoji === text);
  const rank = (entry) => {
    if (entry[0] === text.trim()) return 0;
    const [name, all] = textsOf(entry);
    if (!words.every((word) => all.includes(word))) return -1;
    if (name.startsWith(query)) return 1;
    return words.every((word) => all.includes(` ${word}`)) ? 2 : 3;
  };
  const ranked = entries.map((entry) => [rank(entry), entry]).filter(([found]) => found >= 0);
  return ranked.sort(([one], [other]) => one - other).map(([, entry]) => entry);
}
