/** Writes marks of Markdown in a text field: Ctrl or Cmd with B or I, and a link that is pasted on selected words. */

// An underscore inside a word is no mark, and scripts without spaces have hardly any other place.
const MARKS = { b: ["**", "**"], i: ["_", "*"] };
const ADDRESS = /^(?:https?:\/\/|mailto:)[^\s<>()]+$/i;

export function enableMarks(area) {
  area.addEventListener("keydown", (event) => {
    const marks = MARKS[event.key.toLowerCase()];
    if (!marks || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    toggleMark(area, marks);
  });
  area.addEventListener("paste", (event) => {
    const address = event.clipboardData.getData("text/plain").trim();
    const selected = selectionOf(area);
    if (!ADDRESS.test(address) || !selected.trim() || ADDRESS.test(selected.trim())) return;
    event.preventDefault();
    replace(area, `[${selected.replace(/[[\]\\]/g, "\\$&")}](${address})`);
  });
}

const selectionOf = ({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd);

/** Put the selection between two marks, the second kind of them inside a word, or remove those around it. */
function toggleMark(area, [usual, inWord]) {
  const { value, selectionStart: start, selectionEnd: end } = area;
  const [before, after] = [value.slice(0, start), value.slice(end)];
  const isAround = (mark) => before.endsWith(mark) && after.startsWith(mark);
  const isItalic = isAround("*") && (!isAround("**") || isAround("***"));
  const isInWord = /[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(after);
  const mark = isInWord || (inWord === "*" && isItalic) ? inWord : usual;
  const size = mark.length;
  const selected = selectionOf(area);
  const isMarked = isAround(mark);
  if (isMarked) area.setSelectionRange(start - size, end + size);
  replace(area, isMarked ? selected : `${mark}${selected}${mark}`);
  const first = isMarked ? start - size : start + size;
  area.setSelectionRange(first, first + selected.length);
}

/** Only this command can be undone by the reader; a browser without it replaces the text all the same. */
function replace(area, text) {
  if (document.execCommand("insertText", false, text)) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}
