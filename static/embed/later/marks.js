/** Writes marks of Markdown in a text field: Ctrl or Cmd with B or I, and a link that is pasted on selected words. */

const MARKS = { b: "**", i: "_" };
const ADDRESS = /^(?:https?:\/\/|mailto:)[^\s<>()]+$/i;

export function enableMarks(area) {
  area.addEventListener("keydown", (event) => {
    const mark = MARKS[event.key.toLowerCase()];
    if (!mark || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    toggleMark(area, mark);
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

/** Put the selection between two marks, or remove those around it. */
function toggleMark(area, mark) {
  const { value, selectionStart: start, selectionEnd: end } = area;
  const size = mark.length;
  const selected = selectionOf(area);
  const isMarked = value.slice(start - size, start) === mark && value.slice(end, end + size) === mark;
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
