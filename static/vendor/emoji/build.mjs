/**
 * Writes the emoji with their names and keywords, a file for each language, from the packages `emojibase-data` (groups
 * and order), `cldr-annotations-full` and `cldr-annotations-derived-full`: see README.md in the folder above.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const LANGUAGES = ["ar", "de", "en", "es", "fr", "ja", "pt", "zh"];
// Later ones are missing on many devices.
const VERSION_MAX = 15;
const COMPONENTS = 2;
const require = createRequire(import.meta.url);
const read = (path) => JSON.parse(readFileSync(require.resolve(path), "utf8"));
// emojibase-data has no Arabic.
const ARABIC = {
  "smileys-emotion": "وجوه ومشاعر", "people-body": "أشخاص وجسم", "animals-nature": "حيوانات وطبيعة", "food-drink": "طعام وشراب",
  "travel-places": "سفر وأماكن", activities: "أنشطة", objects: "أشياء", symbols: "رموز", flags: "أعلام",
};

/** The fully-qualified spelling of Unicode: an emoji that is shown in colour by itself has no variation selector. */
const spelling = (text) => text.replace(/^(\p{Emoji_Presentation})\ufe0f$/u, "$1");

function groupNames(language) {
  if (language === "ar") return ARABIC;
  return Object.fromEntries(read(`emojibase-data/${language}/messages.json`).groups.map(({ key, message }) => [key, message]));
}

function annotations(language) {
  const { annotations: { annotations: direct } } = read(`cldr-annotations-full/annotations/${language}/annotations.json`);
  const { annotationsDerived: { annotations: derived } } = read(`cldr-annotations-derived-full/annotationsDerived/${language}/annotations.json`);
  return { ...derived, ...direct };
}

const groups = Object.entries(read("emojibase-data/meta/groups.json").groups);
const emoji = read("emojibase-data/en/data.json")
  .filter(({ group, version }) => group !== undefined && group !== COMPONENTS && version <= VERSION_MAX)
  .sort((one, other) => one.order - other.order);

for (const language of LANGUAGES) {
  const names = groupNames(language);
  const known = annotations(language);
  const entry = ({ emoji: typed }) => {
    const character = spelling(typed);
    const { tts, default: keywords = [] } = known[character] || known[character.replace(/\ufe0f/g, "")];
    return [character, tts[0], keywords.filter((word) => !tts[0].includes(word)).join(" ")];
  };
  const shown = groups.filter(([number]) => Number(number) !== COMPONENTS);
  const lists = shown.map(([number, key]) => ({ name: names[key], emoji: emoji.filter(({ group }) => group === Number(number)).map(entry) }));
  writeFileSync(`${process.argv[2]}/${language}.json`, `${JSON.stringify(lists)}\n`);
}
