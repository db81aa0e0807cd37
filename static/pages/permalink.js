/** Takes the reader on to the post on its page, instead of this page in the history. */

const { place } = document.currentScript.dataset;
if (/^https?:\/\//.test(place)) location.replace(place);
