// Reads what a spreadsheet puts on the clipboard, and makes questions of it.

/** @import { QuestionRow } from "../protocol.js" */

/** @returns {QuestionRow} */
export const emptyRow = () => ({ question: "", answer: "", wrong: "", page: "" });

/** @param {QuestionRow} row */
export const isEmpty = (row) => !Object.values(row).some((text) => text.trim());

/**
 * The cells of text separated by tabs and line breaks; a cell in quotation marks may have both.
 * @param {string} text
 * @returns {string[][]}
 */
export function cellsOf(text) {
  /** @type {string[][]} */
  const rows = [[]];
  const cell = /(?:"((?:[^"]|"")*)"(?=[\t\r\n]|$)|([^\t\r\n]*))(\t|\r?\n|\r|$)/gy;
  for (let found = cell.exec(text); found; found = cell.exec(text)) {
    rows[rows.length - 1].push(found[1] === undefined ? found[2] : found[1].replaceAll('""', '"'));
    if (cell.lastIndex >= text.length) break;
    if (found[3] !== "\t") rows.push([]);
  }
  return rows.filter((cells) => cells.some((text_) => text_.trim()));
}

/**
 * Whether a paste is part of a spreadsheet, not a text.
 * @param {DataTransfer} data
 */
export const isTable = (data) => data.getData("text/plain").includes("\t") || /<table/i.test(data.getData("text/html"));

/**
 * The questions in rows of cells. The first row may name the columns; else they are question, answer and wrong answers.
 * @param {string[][]} cells
 * @returns {QuestionRow[]}
 */
export function rowsOf(cells) {
  const named = (cells[0] ?? []).map(columnOf);
  const header = named.includes("question");
  /** @type {(keyof QuestionRow | "")[]} */
  const columns = header ? named : ["question", "answer"];
  return (header ? cells.slice(1) : cells).map((row) => {
    const made = emptyRow();
    row.forEach((text, at) => {
      const column = header ? columns[at] : (columns[at] ?? "wrong");
      if (column === "wrong" && text.trim()) made.wrong += (made.wrong ? "\n" : "") + text.trim().replace(/\s*\n\s*/g, "\n");
      else if (column && column !== "wrong") made[column] = text.trim();
    });
    return made;
  });
}

/** @param {string} text @returns {keyof QuestionRow | ""} */
function columnOf(text) {
  const name = text.trim().toLowerCase();
  if (/^wrong/.test(name)) return "wrong";
  /** @type {Record<string, keyof QuestionRow>} */
  const names = { question: "question", answer: "answer", "right answer": "answer", page: "page" };
  return names[name] ?? "";
}
