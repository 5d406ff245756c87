// What the parts of Ask exchange with pages/parts/ask: the payload is built in payload.py and record.py.

/**
 * @typedef {object} Cite a claim's chip
 * @property {number} page 0 for a book as a whole
 * @property {number} [book] number of the book among several; 0 for the only one
 * @property {"page" | "memory" | "copied" | "not found" | "pending"} state
 * @property {string} label
 * @property {string} why
 * @property {number} at its index among the answer's citations, -1 while pending
 *
 * @typedef {object} Piece a part of an answer
 * @property {string} text
 * @property {Cite[]} cites
 * @property {boolean} [book] a sentence of the book, copied by the built-in reader; else one of a gist
 * @property {[number, number][]} [shared] places of the words that the question has too
 *
 * @typedef {object} ExchangeRecord one question and its answer
 * @property {string} id
 * @property {string} question
 * @property {string} understood the question as rewritten to be understood by itself; "" if it is the same
 * @property {{letter: string, text: string, chosen: boolean}[]} options
 * @property {string} asked when
 * @property {{kind: "model" | "recording" | "builtin", line: string}} signature who answered, or is answering
 * @property {string} language
 * @property {{title: string, said: string, quoted: boolean, more: string[]}[]} looks the look-ups
 * @property {boolean} running
 * @property {string} status
 * @property {boolean} hurry offer to go on at once
 * @property {string} before the line above the answer
 * @property {Piece[]} pieces
 * @property {{title: string, looked: string, kept_out: string} | null} notFound where nothing was found
 * @property {string} hidden why the spoiler limit hides the answer; "" if it does not
 * @property {Cite[]} loose quotations that belong to no claim
 * @property {string[]} notes
 * @property {{kind: string, text: string} | null} trouble
 * @property {string} cost
 * @property {string[]} details
 * @property {string} legend
 * @property {string[]} acts
 * @property {string} again the label of the button that asks again
 * @property {[string, string][]} methods name, title
 * @property {string} plain the answer as text, to copy
 * @property {boolean} [current] added in the browser: the exchange that the memory shows
 * @property {boolean} [among] added in the browser: one of several
 * @property {Record<number, string | null> | null} [originals] added in the browser: the ids under which the server has the
 *   PDFs, by the number of the book; null where its pages are not drawn
 * @property {boolean} [alone] added in the browser: one of a recording, whose others are in a list
 *
 * @typedef {object} MemoryData what the memory shows at every step
 * @property {string} scope
 * @property {string | null} original the id under which the server has the book's PDF; null for a book that was none
 * @property {number} count number of pages
 * @property {import("../memory_view/types.js").BookFacts} meta
 * @property {import("../memory_view/types.js").PartRecord[]} parts of a long book, the outer before the inner; else empty
 * @property {{page: number, read: number, last: number} | null} limit the last page that the spoiler limit lets in, the
 *   last that was read, and the last there is; null without a limit
 * @property {{title: string, text: string, ways: [string, string][]} | null} curtain what stands for the pages left out
 *
 * @typedef {object} MemoryStep what the memory shows at one step
 * @property {number[]} expanded pages opened in place
 * @property {number[]} marked pages looked up, or found by a search, in this step
 * @property {boolean} searched the pages were found by a search
 * @property {[number, number][]} closed parts of which only one gist was shown: first page, last page
 * @property {[number, number][]} opened parts that were opened in this step
 * @property {Record<string, [number, number, number][][]>} passages page to quoted passages, in pieces: paragraph, start, end
 * @property {number | null} focus the page to go to
 * @property {boolean} wanted the person asked to go there: a closed part is opened
 * @property {number} passage index of the passage to go to
 * @property {number} nonce changes with every request to go there
 * @property {string} note
 *
 * @typedef {object} AskState data of the component "answer_live"
 * @property {string} book
 * @property {number} turn time at the server; a message with an older one is dropped
 * @property {string | null} exchange the current exchange
 * @property {boolean} running
 * @property {string[]} order ids of the exchanges that are shown
 * @property {string[]} kept ids of the exchanges whose answers are stored beside their pages
 * @property {Record<string, ExchangeRecord>} records those that may still change
 * @property {string[]} steps titles of the replay's steps
 * @property {[string, string][]} questions of a recording: id, question
 * @property {string} notice a line above the conversation
 * @property {string} link address of the replay without its step
 * @property {number} at the current step
 * @property {MemoryData} memory
 * @property {ShelfData} [shelf] of a question about several books; `memory` is then empty, here and in the views
 * @property {{memory: MemoryStep, record: ExchangeRecord | null, shelf?: ShelfStep}[]} views one for each step
 *
 * @typedef {object} ShelfData the books of a question about several
 * @property {ShelfBook[]} books those that are drawn
 * @property {string[]} others what is said of the rest
 * @property {string} name what was chosen: "4 books"
 *
 * @typedef {object} ShelfBook
 * @property {number} n its number in prompts and citations
 * @property {string} id
 * @property {string} title
 * @property {string} author
 * @property {string} language
 * @property {number} pages with a gist, as far as the spoiler limit lets in; 0 without gists
 * @property {string} gist of the whole book as the model saw it, else the beginning of the first gists
 * @property {boolean} own `gist` is one of the whole book
 * @property {string[]} found lines in which words were found while it was closed
 * @property {string} limit what its spoiler limit lets in; "" without one
 * @property {boolean} byHand the person opened it
 * @property {string} takes what its gists would take, where it has none
 * @property {MemoryData | null} memory where it was opened
 * @property {number[]} cells the words of its pages, where it was opened
 *
 * @typedef {object} ShelfStep what is shown of several books at one step
 * @property {Record<string, MemoryStep & {open: boolean}>} books by number; `open`: the model saw more than one gist
 * @property {{book: number, nonce: number} | null} go the book that a citation leads to
 * @property {string} note
 *
 * @typedef {object} ConversationData data of kind "conversation"
 * @property {string} book
 * @property {ExchangeRecord[]} records those that do not change any more
 * @property {string} earlier label of the button for exchanges that are not shown; "" without any
 * @property {string} empty the text for a conversation without questions
 *
 * @typedef {object} ConversationListData data of kind "conversations"
 * @property {{id: string, title: string, about: string}[]} items
 * @property {string | null} now id of the current one
 * @property {string} language
 *
 * @typedef {object} SuggestionsData data of kind "suggestions"
 * @property {string} book
 * @property {{text: string, whole: boolean}[]} items
 * @property {string} language
 *
 * @typedef {object} Act trigger "act": what the person did; see pages/parts/ask/answer_view.py for the acts of each kind
 * @property {string} do
 * @property {number} [page]
 * @property {string} [text]
 * @property {string} [of] id of an exchange
 *
 * @typedef {object} Step state "step" of kind "replay": the step that was chosen
 * @property {string} of id of the exchange
 * @property {number} at
 * @property {number} turn time of the click
 */

export {};
