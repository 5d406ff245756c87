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
 * @typedef {object} PartRecord a run of pages of a long book, in the memory of Ask
 * @property {number} a first page
 * @property {number} z last page
 * @property {string} t titles of its sections; "" without
 * @property {string} g its gist; "" where the model saw none
 * @property {number} gw words of the gist
 * @property {number} w words of its pages
 *
 * @typedef {object} PageBatch data of the component "memory_pages"
 * @property {string} scope the name under which the browser stores the reading's pages
 * @property {number} from number of the first page
 * @property {(Page | LayerPage)[]} pages
 *
 * @typedef {object} LayerPage a page in the reader, whose text is there already; places count UTF-16 code units
 * @property {number} n number, from 1
 * @property {number} s paragraph of the book in which it begins
 * @property {number} [a] place in that paragraph, if not its beginning
 * @property {number} x paragraph in which it ends: the first one after it, or
 * @property {number} [z] the paragraph up to whose place `z` it goes
 * @property {number} w words
 * @property {"pause" | "section" | "only" | "rule" | "end"} e why it ends
 * @property {string} [r] the reason for the pause
 * @property {number} [f] 1: the pause was set by rule
 * @property {Gist} [g] absent until it is made
 *
 * @typedef {object} BookFacts of Ask
 * @property {string} title
 * @property {string} language
 * @property {boolean} rtl text runs from right to left
 * @property {number} words
 * @property {number} paragraphs
 * @property {"" | "*" | "_"} emphasis the sign round emphasised words
 * @property {boolean} complete
 * @property {string | null} recorded date of a recording
 *
 * @typedef {object} TextBatch data of the component "book_text": the outline, or paragraphs
 * @property {string} scope the name under which the browser stores the text
 * @property {BookOutline} [facts]
 * @property {number} [from] index of the first paragraph
 * @property {string[]} [text] paragraphs
 * @property {[number, number, string][]} [heads] headings: paragraph, level, title
 * @property {[number, string][]} [places] places in the source where they change: paragraph, place
 * @property {number[]} [joined] paragraphs that continue the one before
 * @property {number[]} [notes] paragraphs of footnotes and endnotes
 * @property {[number, SpanRecord[]][]} [spans] what stands beside the text: paragraph, its spans
 *
 * @typedef {[number, number, "note" | "link" | "ruby" | "formula", string, number | null]} SpanRecord start and end in
 *   UTF-16 code units, kind, the mark, address, reading or MathML, and the paragraph to which it leads
 *
 * @typedef {object} BookOutline what is known of a text before its paragraphs
 * @property {string} title
 * @property {string} author
 * @property {string} language
 * @property {boolean} rtl text runs from right to left
 * @property {boolean} unspaced a script without spaces: two characters count as a word
 * @property {boolean} vertical the source sets its lines from top to bottom
 * @property {number} speed words a minute
 * @property {number} words
 * @property {number} paragraphs
 * @property {"" | "*" | "_"} emphasis the sign round emphasised words
 * @property {[number, number][]} units what is drawn together: first paragraph, words
 * @property {[string, number, number, number][]} sections title, level, first paragraph, words
 * @property {number[]} chapters first paragraphs
 * @property {string} pictures where the server has the pictures, relative to the page
 * @property {FigureRecord[]} figures in the order of the text
 *
 * @typedef {[number, boolean, string, number | null, string, number, number, boolean, string]} FigureRecord paragraph,
 *   whether it comes after it, alternative text, paragraph of its caption, id of its picture ('' where that could not be
 *   read), width and height in pixels, whether most of it is white, and a name for lists
 *
 * @typedef {object} GistsLine what the foot says of the gists
 * @property {boolean} running
 * @property {"none" | "running" | "waiting" | "paused" | "failed" | "ready" | "recording"} state
 * @property {string} line
 * @property {string} rest
 * @property {string} more what a click on Details shows
 * @property {number | null} percent
 * @property {number} total expected number of pages
 * @property {[string, string][]} actions the act, its label
 *
 * @typedef {object} Look the values are in reading_status.LOOKS
 * @property {number} size 1 to 5
 * @property {string} measure
 * @property {string} face
 * @property {string} theme
 * @property {string} lines
 * @property {string} justify
 * @property {"scroll" | "pages" | "spread"} flow
 * @property {"book" | "on" | "off"} vertical
 *
 * @typedef {object} ReaderData data of kind "read"
 * @property {string} scope of the text
 * @property {string} book whose marks are shown
 * @property {string | null} layer scope of the pages
 * @property {number} count number of pages
 * @property {GistsLine} gists
 * @property {{paragraph: number, before: number | null, id: string}} goto where to go, once for every `id`; `before`:
 *   where the person was
 * @property {number} furthest how many paragraphs from the start are read
 * @property {Record<string, number>} looked page to the number of answers that looked it up
 * @property {number[]} lit pages that the newest answer looked up
 * @property {Look} look
 * @property {"both" | "text" | "gists"} view
 * @property {{edit: boolean, ask: boolean}} can
 * @property {string | null} original the id under which the server has the book's PDF; null for a book that was none
 *
 * @typedef {object} OutlineData data of kind "outline"
 * @property {string} scope
 * @property {string | null} layer
 *
 * @typedef {object} MarkRecord a mark; places are [paragraph, UTF-16 offset]
 * @property {string} id
 * @property {"highlight" | "note" | "bookmark" | "answer"} k kind
 * @property {"" | "rose" | "leaf" | "sky" | "lilac"} c colour
 * @property {[number, number]} s start
 * @property {[number, number]} e end
 * @property {string} n note
 * @property {string} x the exact words
 * @property {string} [h] the section it was made in
 * @property {string} t when it was made, ISO 8601
 * @property {string} [p] its page, where the pages are not in the browser
 * @property {KeptAnswer | null} a of kind "answer"
 *
 * @typedef {object} KeptAnswer
 * @property {string} question
 * @property {string} signer who answered, in a line
 * @property {{text: string, cites: {page: number, s: [number, number] | null}[]}[]} pieces `s`: null where only the page is known
 *
 * @typedef {object} MarksData data of kind "marks" (receive_marks.js)
 * @property {string} book
 * @property {MarkRecord[]} marks those with a place in the text
 * @property {MarkRecord[]} lost those whose words are not found any more
 * @property {number} seen the last change that the server has
 * @property {boolean} model a language model is connected
 *
 * @typedef {object} MarkChange one of the state value "changes"; `at`: later ones have higher numbers
 * @property {"make" | "change" | "remove" | "restore"} do
 * @property {Partial<MarkRecord>} [mark] of make and change
 * @property {string} [id] of remove and restore
 * @property {number} at
 *
 * @typedef {object} PassageData data of kind "passage": what is known of the last passage that was asked about
 * @property {string} book
 * @property {string} id of the request
 * @property {number} at when the last request that the server has was made
 * @property {"running" | "done" | "failed" | "cancelled"} state
 * @property {string} text
 * @property {{kind: string, line: string} | null} signer
 * @property {string} cost
 * @property {string} error
 * @property {string} waiting
 * @property {{paragraph: number, at: number, before: string, words: string, after: string, section: string}[]} places
 * @property {number} more how many places are not listed
 * @property {string} language of a translation
 * @property {string[]} [languages]
 *
 * @typedef {object} BookMarks the marks of a book in the list of all books
 * @property {string} id
 * @property {string} title
 * @property {string} language
 * @property {"" | "*" | "_"} emphasis
 * @property {MarkRecord[]} marks
 *
 * @typedef {object} Act trigger "act" of the reader and of the memory
 * @property {string} do see `act` in pages/read.py; the memory sends "open"
 * @property {number} [page]
 * @property {string} [text]
 */

export {};
