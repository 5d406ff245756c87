// What the memory view exchanges with pages/parts/shared/memory_view.py. Keys of a page are short: a book has a thousand.

/**
 * @typedef {object} Gist
 * @property {string} t text
 * @property {number} w words
 * @property {number} [f] 1: made by rule
 * @property {number} [o] 1: the page's own text, because it is short
 * @property {number} [e] 1: edited by the person
 * @property {number} [l] how often it was shortened
 * @property {string[]} [m] notes on what may be wrong with it
 *
 * @typedef {object} Page
 * @property {number} n number, from 1
 * @property {number} s index of its first paragraph in the book
 * @property {string[]} t paragraphs
 * @property {number} w words
 * @property {"pause" | "section" | "only" | "rule" | "end"} e why it ends
 * @property {[number, number, string][]} [h] headings: paragraph, level, title
 * @property {number[]} [c] paragraphs that continue the one before
 * @property {[number, string][]} [p] places in the source where they change: paragraph, place
 * @property {string} [r] the reason for the pause
 * @property {number} [f] 1: the pause was set by rule
 * @property {Gist} [g] absent until it is made
 *
 * @typedef {object} PageBatch data of the component "memory_pages"
 * @property {string} scope the name under which the browser stores the reading's pages
 * @property {number} from number of the first page
 * @property {Page[]} pages
 *
 * @typedef {object} BookFacts
 * @property {string} title
 * @property {string} language
 * @property {boolean} rtl text runs from right to left
 * @property {number} words
 * @property {number} paragraphs
 * @property {boolean} marked Markdown: *stars* mean emphasis
 * @property {boolean} complete
 * @property {string | null} recorded date of a recording
 *
 * @typedef {object} Job the line of a reading that runs or was paused
 * @property {boolean} running
 * @property {boolean} paging pauses are still being chosen
 * @property {string} state
 * @property {string} line
 * @property {string} rest
 * @property {number | null} percent
 * @property {number} total expected number of pages
 * @property {[string, string][]} actions the act, its label
 *
 * @typedef {object} SearchHits
 * @property {string} query
 * @property {[number, number][]} counts page, number of its hits
 * @property {[number, "t" | "g", number, number, number][]} items page, text or gist, paragraph, start, end
 *
 * @typedef {object} Look
 * @property {number} size 1 to 5
 * @property {"narrow" | "middle" | "wide"} measure
 * @property {"serif" | "sans"} face
 * @property {"system" | "light" | "sepia" | "dark"} theme
 *
 * @typedef {object} ReaderData data of kind "read"
 * @property {string} scope
 * @property {number} count number of pages
 * @property {BookFacts} meta
 * @property {Job | null} job
 * @property {SearchHits} hits
 * @property {{page: number, paragraph: number | null, id: string}} goto where to go, once for every `id`
 * @property {Record<string, number>} looked page to the number of answers that looked it up
 * @property {number[]} lit pages that the newest answer looked up
 * @property {Look} look
 * @property {"both" | "text" | "gists"} view
 * @property {{edit: boolean, ask: boolean}} can
 *
 * @typedef {object} OutlineData data of kind "outline"
 * @property {string} scope
 * @property {[string, number, number][]} sections title, level, first paragraph
 * @property {BookFacts} meta
 *
 * @typedef {object} Act trigger "act" of the reader and of the memory
 * @property {string} do see `act` in pages/read.py; the memory sends "open"
 * @property {number} [page]
 * @property {string} [text]
 */

export {};
