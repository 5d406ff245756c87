// Every message between the screens (Python, in pages) and their browser scripts: what Streamlit carries as a component's
// data, state values and triggers. tests/app/test_protocol.py compares what Python sends with these interfaces, field by
// field. Places in a text count UTF-16 code units; page numbers start at 1. A field with `?` is left out where it is empty.

// --- a book and its pages -------------------------------------------------------------------------

export interface Gist {
  /** text */
  text: string;
  /** words */
  words: number;
  /** 1: made by rule */
  rule?: number;
  /** 1: the page's own text, because it is short */
  own?: number;
  /** 1: edited by the person */
  edited?: number;
  /** how often it was shortened */
  shortened?: number;
  /** what may be wrong with it */
  notes?: string[];
}

export type PageEnd = "pause" | "section" | "only" | "rule" | "end";

/** A page with its text, in the memory of Ask. */
export interface Page {
  number: number;
  /** index of its first paragraph in the book */
  start: number;
  /** paragraphs */
  paragraphs: string[];
  /** words */
  words: number;
  /** why it ends */
  ends: PageEnd;
  /** headings: paragraph, level, title */
  headings?: [number, number, string][];
  /** paragraphs that continue the one before */
  joined?: number[];
  /** places in the source where they change: paragraph, place */
  places?: [number, string][];
  /** the reason for the pause */
  reason?: string;
  /** of a page without a gist: where it is */
  name?: string;
  /** 1: the pause was set by rule */
  rule?: number;
  /** absent until it is made */
  gist?: Gist;
}

/** A page in the reader, whose text is there already. */
export interface LayerPage {
  number: number;
  /** paragraph of the book in which it begins */
  start: number;
  /** place in that paragraph, if not its beginning */
  startAt?: number;
  /** paragraph in which it ends: the first one after it, or */
  end: number;
  /** the paragraph up to whose place `z` it goes */
  endAt?: number;
  words: number;
  ends: PageEnd;
  reason?: string;
  rule?: number;
  gist?: Gist;
  /** words of its gist, which is not sent because the page was not read yet */
  veiled?: number;
}

/** Data of the component "memory_pages". */
export interface PageBatch {
  /** the name under which the browser stores the reading's pages */
  scope: string;
  /** number of the first page */
  from: number;
  pages: (Page | LayerPage)[];
}

/** A run of pages of a long book, in the memory of Ask. */
export interface PartRecord {
  /** first page */
  first: number;
  /** last page */
  last: number;
  /** titles of its sections; "" without */
  title: string;
  /** its gist; "" where the model saw none */
  gist: string;
  /** words of the gist */
  gistWords: number;
  /** words of its pages */
  words: number;
}

/** The sign round emphasised words. */
export type Emphasis = "" | "*" | "_";

/** Of a book in Ask. */
export interface BookFacts {
  title: string;
  language: string;
  /** text runs from right to left */
  rtl: boolean;
  words: number;
  paragraphs: number;
  emphasis: Emphasis;
  complete: boolean;
  /** date of a recording */
  recorded: string | null;
}

/** Data of the component "book_text": what is known of a text before its paragraphs, or some of them. */
export type TextBatch = TextOutline | TextParagraphs;

export interface TextOutline {
  /** the name under which the browser stores the text */
  scope: string;
  facts: BookOutline;
}

export interface TextParagraphs {
  scope: string;
  /** index of the first paragraph */
  from: number;
  text: string[];
  /** headings: paragraph, level, title */
  heads: [number, number, string][];
  /** places in the source where they change: paragraph, place */
  places: [number, string][];
  /** paragraphs that continue the one before */
  joined: number[];
  /** paragraphs of footnotes and endnotes */
  notes?: number[];
  /** what stands beside the text: paragraph, its spans */
  spans?: [number, SpanRecord[]][];
}

/** Start and end, kind, the mark, address, reading or MathML, and the paragraph to which it leads. */
export type SpanRecord = [number, number, "note" | "link" | "ruby" | "formula", string, number | null];

export interface BookOutline {
  title: string;
  author: string;
  language: string;
  /** text runs from right to left */
  rtl: boolean;
  /** a script without spaces: two characters count as a word */
  unspaced: boolean;
  /** the source sets its lines from top to bottom */
  vertical: boolean;
  /** words a minute */
  speed: number;
  words: number;
  /** whether text of it was recognised in pictures of pages */
  recognised: boolean;
  paragraphs: number;
  emphasis: Emphasis;
  /** what is drawn together: first paragraph, words */
  units: [number, number][];
  /** title, level, first paragraph, words */
  sections: [string, number, number, number][];
  /** first paragraphs of the sections that are read one by one */
  chapters: number[];
  /** where the server has the pictures, relative to the page */
  pictures: string;
  /** in the order of the text */
  figures: FigureRecord[];
}

/**
 * Paragraph, whether it comes after it, alternative text, paragraph of its caption, id of its picture ('' where that
 * could not be read), width and height in pixels, whether most of it is white, and a name for lists.
 */
export type FigureRecord = [number, boolean, string, number | null, string, number, number, boolean, string];

// --- the reader -----------------------------------------------------------------------------------

/** What the foot says of the gists. */
export interface GistsLine {
  running: boolean;
  state: "none" | "running" | "waiting" | "paused" | "failed" | "ready" | "recording";
  line: string;
  rest: string;
  /** what a click on Details shows */
  more: string;
  /** "built-in reader" where it makes or made them; "" for a model */
  by: string;
  percent: number | null;
  /** expected number of pages */
  total: number;
  /** the act, its label */
  actions: [string, string][];
}

/** The values are in reading_status.LOOKS. */
export interface Look {
  /** px */
  size: number;
  /** px at the sides of the text */
  margin: number;
  /** 0 to 10 */
  warmth: number;
  /** of a line, about: characters */
  measure: number;
  face: string;
  theme: string;
  /** height of a line, per cent of the size */
  lines: number;
  justify: string;
  /** lines under names that have a card */
  names: "on" | "off";
  flow: "scroll" | "pages" | "spread";
  vertical: "book" | "on" | "off";
}

export type ReaderView = "both" | "text" | "gists" | "chapters";

/** Data of kind "read". */
export interface ReaderData {
  /** of the text */
  scope: string;
  /** whose marks are shown */
  book: string;
  /** scope of the pages */
  layer: string | null;
  /** number of pages */
  count: number;
  gists: GistsLine;
  goto: Goto;
  /** where the person went in another tab or on another device after their last move here, as in `Goto` */
  elsewhere: [paragraph: number, at: number] | null;
  /** the place sent last that is stored: paragraph and character; null before one is */
  stored: [number, number] | null;
  /** how many paragraphs from the start are read */
  furthest: number;
  /** the person has marked the book as finished */
  finished: boolean;
  /** with a spoiler limit: how many paragraphs it lets in beside those that are read; null without */
  limit: number | null;
  /** page to the number of answers that looked it up */
  looked: Record<string, number>;
  /** pages that the newest answer looked up */
  lit: number[];
  /** words that an answer rests on, to go to once for every `id` */
  cited: { id: string; spots: [number, number, number][] } | null;
  look: Look;
  view: ReaderView;
  can: { edit: boolean; ask: boolean };
  /** what one gist made again costs; "" without a model */
  gistPrice: string;
  /** the id under which the server has the book's PDF; null for a book that was none */
  original: string | null;
}

/** Where to go, once for every `id`. */
export interface Goto {
  paragraph: number;
  /** a character of it; -1: the paragraph with what stands above it */
  at: number;
  /** where the person was, as paragraph and character; null where nobody asked to go anywhere else */
  before: [number, number] | null;
  /** of the screen from which they were led here; "" for none */
  screen: string;
  id: string;
}

/** State value "at" of the reader: where the person is. */
export interface At {
  paragraph: number;
  /** the first character that is read, as in `Goto` */
  at: number;
  page: number | null;
  furthest: number;
  /** the last paragraph in view */
  last: number;
  /** the whole text is in the browser */
  whole: boolean;
  /** when the furthest place was set by hand */
  by_hand?: number;
}

/** Data of kind "outline". */
export interface OutlineData {
  scope: string;
  layer: string | null;
}

// --- marks ----------------------------------------------------------------------------------------

/** Places are a paragraph and an offset in it. */
export interface MarkRecord {
  id: string;
  /** kind */
  kind: MarkKind;
  /** colour */
  colour: MarkColour | "";
  /** start */
  start: [number, number];
  /** end */
  end: [number, number];
  /** note */
  note: string;
  /** the exact words */
  words: string;
  /** the section it was made in */
  section?: string;
  /** when it was made, ISO 8601 */
  made: string;
  /** its page, where the pages are not in the browser */
  page?: string;
  /** of kind "answer" */
  answer: KeptAnswer | null;
}

export type MarkKind = "highlight" | "note" | "bookmark" | "answer";
export type MarkColour = "rose" | "leaf" | "sky" | "lilac";

export interface KeptAnswer {
  question: string;
  signer: { kind: SignerKind; line: string };
  paragraphs: KeptPiece[][];
}

export interface KeptPiece {
  text: string;
  cites: KeptCite[];
}

export interface KeptCite {
  page: number;
  /** null where only the page is known */
  start: [number, number] | null;
  /** it rests on the gist of the page */
  gist: boolean;
}

// --- the book's world ------------------------------------------------------------------------------

export type WorldKind = "person" | "place" | "thing" | "group";

/** Somebody or something is called so on a page. */
export interface NameRecord {
  /** the one who is called so */
  of: string;
  kind: WorldKind;
  name: string;
  /** how it is spelled in the text, where not so */
  spelled?: string[];
  /** the paragraph by which it was told */
  from: number;
  /** of a description in common words: the pages on which it is a name */
  pages?: number[];
  /** 1 where it has no name in it, unlike 'old Mrs. Skeff' */
  nameless?: number;
}

/** What a page says, with the words that it rests on. */
export interface NoteRecord {
  /** those whom it tells of */
  of: string[];
  page: number;
  /** is, does, feels, knows, dies, moves, owns, related, same */
  kind: string;
  text: string;
  /** the paragraph by which all of it was told */
  from: number;
  /** paragraph and character of the words that it rests on */
  at: [number, number];
  /** the character after them */
  end: number;
  /** when it happened, as the story tells it */
  time?: string;
  /** of a relation or an identity: the name at its other end */
  other?: string;
}

/** Two are one, from a paragraph on. */
export interface LinkRecord {
  a: string;
  b: string;
  from: number;
  /** 1: the story tells it, so that before they were strangers; else one name is a part of the other, or the person joined them */
  told?: number;
}

/** Data of kind "notes" of the component "reader_world": what some pages tell. */
export interface WorldBatch {
  book: string;
  /** of these batches, from 0 */
  number: number;
  names: NameRecord[];
  notes: NoteRecord[];
  links: LinkRecord[];
}

/** Data of kind "series" of the component "reader_world": the earlier books of the series, each as far as it was read. */
export interface SeriesData {
  book: string;
  /** of the series */
  name: string;
  /** the place of the book in it */
  number: number;
  books: {
    id: string;
    title: string;
    number: number;
    /** false: it has no gists, so nothing of it is known */
    known: boolean;
    /** it was read to its end */
    whole: boolean;
    /** what happened, as [text, page, name before it] */
    told: [string, number, string][];
    /** the words of its pages; empty without gists */
    words: number[];
    /** the last that was read */
    page: number;
  }[];
  /** people of these books by the ids of their names: the last book that has them, as its place in `books`, and what was told */
  cast: Record<string, { name: string; book: number; lines: [string, number][] }>;
  /** who is named most: name, and for each of `books` the pages that name them, as [page, times] */
  people: [string, [number, number][][]][];
}

/** A question to check oneself, and the page that answers it. */
export interface CheckQuestion {
  text: string;
  answer: string;
  page: number;
}

/** Data of kind "study" of the component "reader_world": the chapters that were read, with questions about them. */
export interface StudyData {
  book: string;
  chapters: {
    title: string;
    /** the paragraph after it */
    end: number;
    pages: [number, number];
    questions: CheckQuestion[];
    /** they are being made */
    making: boolean;
    /** why they could not be made */
    error: string;
    /** they were asked for, and the reply had none that could be used */
    none: boolean;
  }[];
  /** what the person answered, by the question's text: 1 knew it, 0 not yet */
  answered: Record<string, number>;
}

/** Data of kind "world" of the component "reader_world". */
export interface WorldData {
  book: string;
  /** how many batches there are; 0: nobody is named yet */
  batches: number;
  /** who found the names: nobody did yet, rules, or a model, which made notes too */
  by: "nobody" | "rule" | "model";
  /** a model is connected */
  model: boolean;
  /** pages up to this one have notes */
  made: number;
  /** notes are being made */
  running: boolean;
  /** pages that were let in and have no notes, because the model gave none that could be used */
  failed: number[];
  /** the last page that is let in, 0 for none */
  page: number;
  /** the limit is lifted */
  lifted: boolean;
  /** days since the person was here last */
  away: number;
  /** the events in the order of time, as numbers of notes counted through all batches; empty where that is the order of telling */
  order: number[];
  /** what happened last, as [text, page, name before it] */
  previously: [string, number, string][];
  /** what the notes that are missing would cost, in a sentence; "" where none can be made */
  price: string;
  /** names that the person said are none, and what was joined or split by hand: how many */
  corrections: number;
}

/** Data of kind "marks". */
export interface MarksData {
  book: string;
  /** those with a place in the text */
  marks: MarkRecord[];
  /** those whose words are not found any more */
  lost: MarkRecord[];
  /** the last change that the server has */
  seen: number;
  /** a language model is connected */
  model: boolean;
  /** there are dictionaries: a word that is pressed twice is looked up */
  dictionaries: boolean;
  /** what a question about a passage costs */
  price: string;
}

/** One of the state value "changes"; later ones have higher numbers `at`. */
export interface MarkChange {
  do: "make" | "change" | "remove" | "restore";
  /** of make and change */
  mark?: Partial<MarkRecord> & { id: string };
  /** of remove and restore */
  id?: string;
  at: number;
}

/** State value "asked": a passage that is asked about. */
export interface PassageAsked {
  id: string;
  task: PassageTask | "cancel";
  words?: string;
  start?: [number, number];
  end?: [number, number];
  /** the first and the last paragraph on the screen */
  seen?: [number, number];
  language?: string;
  /** of a definition: ask the model, also where a dictionary has the word */
  model?: boolean;
  at: number;
}

export type PassageTask = "explain" | "define" | "translate";

/** Data of kind "passage": what is known of the last passage that was asked about. */
export interface PassageData {
  book: string;
  /** of the request */
  id: string;
  /** when the last request that the server has was made */
  at: number;
  state: "running" | "done" | "failed" | "cancelled";
  text: string;
  signer: { kind: SignerKind; line: string } | null;
  cost: string;
  error: string;
  waiting: string;
  /** what the person's dictionaries say */
  entries: DictionaryEntry[];
  places: PassagePlace[];
  /** how many places are not listed */
  more: number;
  /** of a translation */
  language: string;
  /** those that one can choose; null where it is no translation */
  languages?: string[] | null;
}

export interface DictionaryEntry {
  dictionary: string;
  /** as it stands there: it may be the base form of the words that were selected */
  word: string;
  text: string;
}

export interface PassagePlace {
  paragraph: number;
  at: number;
  before: string;
  words: string;
  after: string;
  section: string;
}

/** Data of kind "notes": the marks of several books. */
export interface AllNotesData {
  books: BookMarks[];
}

export interface BookMarks {
  id: string;
  title: string;
  language: string;
  emphasis: Emphasis;
  marks: MarkRecord[];
}

// --- Ask ------------------------------------------------------------------------------------------

export type SignerKind = "model" | "recording" | "builtin";

/** A claim's chip. */
export interface Cite {
  /** 0 for a book as a whole */
  page: number;
  /** number of the book among several; 0 for the only one */
  book?: number;
  state: "page" | "memory" | "copied" | "not found" | "pending";
  /** the page was opened in part */
  inPart?: boolean;
  label: string;
  why: string;
  /** its index among the answer's citations, -1 while pending */
  at: number;
  /** of an answer from one book: the words in its whole text, each as paragraph, start, end; or where its page begins */
  spots?: [number, number, number][];
}

/** A part of an answer. */
export interface Piece {
  text: string;
  cites: Cite[];
  /** a sentence of the book, copied by the built-in reader; else one of a gist */
  book?: boolean;
  /** places of the words that the question has too */
  shared?: [number, number][];
}

/** What was looked at, what the limit kept out, and where the words of the question are in the text itself. */
export interface NotFound {
  title: string;
  looked: string;
  kept_out: string;
  let_in: string; // the button that lets it in
  /** the label of the button that reads the text itself */
  whole: string;
  words: string;
  pieces: Piece[];
}

/** One question and its answer. */
export interface ExchangeRecord {
  id: string;
  question: string;
  /** the question as rewritten to be understood by itself; "" if it is the same */
  understood: string;
  options: { letter: string; text: string; chosen: boolean }[];
  /** when */
  asked: string;
  /** who answered, or is answering */
  signature: { kind: SignerKind; line: string; by: string };
  /** title of the method that answered */
  method: string;
  /** what its answers are from, in plain words */
  from: string;
  language: string;
  /** the look-ups */
  looks: { title: string; said: string; more: string[] }[];
  running: boolean;
  status: string;
  /** offer to go on at once */
  hurry: boolean;
  /** the line above the answer */
  before: string;
  pieces: Piece[];
  /** where nothing was found */
  notFound: NotFound | null;
  /** why the spoiler limit hides the answer; "" if it does not */
  hidden: string;
  /** quotations that belong to no claim */
  loose: Cite[];
  notes: string[];
  trouble: { kind: string; text: string } | null;
  cost: string;
  details: string[];
  legend: string;
  acts: string[];
  /** the label of the button that asks again */
  again: string;
  /** the id of a recording's answer to the same question; "" without one */
  recorded: string;
  /** what asking it again costs; "" where nothing is asked */
  price: string;
  /** an older answer to the same question, to be shown beside this one */
  beside: Beside | null;
  /** name, title, a sentence about it */
  methods: [string, string, string, string][];
  /** the answer as text, to copy */
  plain: string;
}

/**
 * `rows`: what differs: its name, then, now. `then` and `now` are titles. `by`: who answered then and now, `note`: what
 * follows of that; both '' where it was the same.
 */
export interface Beside {
  then: string;
  now: string;
  by: [string, string];
  note: string;
  record: ExchangeRecord;
  rows: [string, string, string][];
}

/** What the memory shows at every step. */
export interface MemoryData {
  scope: string;
  /** the id under which the server has the book's PDF; null for a book that was none */
  original: string | null;
  /** number of pages */
  count: number;
  meta: BookFacts;
  /** of a long book, the outer before the inner; else empty */
  parts: PartRecord[];
  limit: LimitData | null;
  /** who would answer with other pages open, and what that costs; null where it cannot be asked */
  whatIf: string | null;
  /** what stands for the pages left out */
  curtain: { title: string; text: string; ways: [string, string][] } | null;
}

/**
 * The last page that the spoiler limit lets in, the last that is shown (a recording's first answer shows its own), the last
 * that was read, and the last there is.
 */
export interface LimitData {
  page: number;
  shown: number;
  read: number;
  last: number;
}

/**
 * A part of a page: paragraphs from, to (exclusive), counted from 0 on the page; then, where it has only a part of them, the
 * character of the first at which it begins, and that of the last before which it ends (0: all of it).
 */
export type PagePart = [from: number, to: number, first?: number, stop?: number];

/** What the memory shows at one step. */
export interface MemoryStep {
  /** pages opened in place */
  expanded: number[];
  /** pages opened in part */
  inPart: Record<string, PagePart[]>;
  /** pages looked up, or found by a search, in this step */
  marked: number[];
  /** the pages were found by a search */
  searched: boolean;
  /** parts of which only one gist was shown: first page, last page */
  closed: [number, number][];
  /** parts that were opened in this step */
  opened: [number, number][];
  /** page to quoted passages, in pieces: paragraph, start, end */
  passages: Record<string, [number, number, number][][]>;
  /** the page to go to */
  focus: number | null;
  /** the person asked to go there: a closed part is opened */
  wanted: boolean;
  /** the gists are in no prompt of this answer */
  unsent: boolean;
  /** a search led to these passages, and nothing was found in them */
  unfound: boolean;
  /** index of the passage to go to */
  passage: number;
  /** changes with every request to go there */
  nonce: number;
  note: string;
}

/** Data of the component "answer_live". */
export interface AskState {
  book: string;
  /** time at the server; a message with an older one is dropped */
  turn: number;
  /** the current exchange */
  exchange: string | null;
  running: boolean;
  /** ids of the exchanges that are shown */
  order: string[];
  /** ids of the exchanges whose answers are stored beside their pages */
  kept: string[];
  /** those that may still change */
  records: Record<string, ExchangeRecord>;
  /** titles of the replay's steps; none of a hidden answer */
  steps: string[];
  /** what is said at each of them while the replay plays by itself, for how many seconds, and whether it has prompts */
  captions: [string, number, boolean][];
  /** of a recording: id, question */
  questions: [string, string][];
  /** a line above the conversation */
  notice: string;
  waiting: WaitingQuestion | null;
  /** address of the replay without its step */
  link: string;
  /** the current step */
  at: number;
  /** null where `shelf` is there, here and in the views */
  memory: MemoryData | null;
  /** of a question about several books */
  shelf?: ShelfData;
  /** one for each step */
  views: StepView[];
}

export interface StepView {
  memory: MemoryStep | null;
  record: ExchangeRecord | null;
  shelf?: ShelfStep;
}

/** The books of a question about several. */
export interface ShelfData {
  /** those that are drawn */
  books: ShelfBook[];
  /** those of which their spoiler limits let in no page; `at`: the place of each among all books */
  keptOut: { id: string; title: string; language: string; at: number }[];
  /** what is said of the rest */
  others: string;
  /** what was chosen: "4 books" */
  name: string;
}

export interface ShelfBook {
  /** its number in prompts and citations */
  number: number;
  id: string;
  title: string;
  author: string;
  language: string;
  /** with a gist, as far as the spoiler limit lets in; 0 without gists */
  pages: number;
  /** of the whole book as the model saw it, else the beginning of the first gists */
  gist: string;
  /** `gist` is one of the whole book */
  own: boolean;
  /** lines in which words were found while it was closed */
  found: FoundLine[];
  /** what its spoiler limit lets in, or did for the answer; "" without one */
  limit: string;
  /** it has one now */
  limited: boolean;
  /** the person turned it off, and has not read all */
  letIn: boolean;
  /** the person opened it */
  byHand: boolean;
  /** what its gists would take, where it has none */
  takes: string;
  /** where it was opened */
  memory: MemoryData | null;
  /** the words of its pages, where it was opened */
  cells: number[]; // words of each page that was let in, then of the others together
}

/** A line of a book in which words were found. */
export interface FoundLine {
  /** "Page 7", "Chapter 3" */
  place: string;
  text: string;
  /** of the text: what the answer quotes */
  quoted: [start: number, end: number][];
  /** 0 in a book without gists, of which `spot` says where it is: paragraph, start and end */
  page: number;
  spot: number[];
}

/** What is shown of several books at one step. */
export interface ShelfStep {
  /** by number */
  books: Record<string, ShelfBookStep>;
  /** the book that a citation leads to, and of one without gists the line */
  go: { book: number; nonce: number; line: number } | null;
  note: string;
}

export interface ShelfBookStep extends MemoryStep {
  /** the model saw more than one gist */
  open: boolean;
}

/** Data of the kinds "memory", "shelf", "maps": whose conversation they follow. */
export interface FollowData {
  book: string;
}

/** Data of kind "conversation". */
export interface ConversationData {
  book: string;
  /** those that do not change any more */
  records: ExchangeRecord[];
  /** label of the button for exchanges that are not shown; "" without any */
  earlier: string;
  /** the heading, the text and what may be asked by a press, for a conversation without questions */
  title: string;
  empty: string;
  questions: { text: string; whole: boolean }[];
  language: string;
}

/** A question that waits for what the limit is to let in: why, and the ways to ask it, each with its label. */
export interface WaitingQuestion {
  question: string;
  why: string;
  ways: [string, string][];
}

/** Data of kind "conversations". */
export interface ConversationListData {
  items: { id: string; title: string; about: string }[];
  /** id of the current one */
  now: string | null;
  language: string;
}

/** Data of kind "suggestions". */
export interface SuggestionsData {
  book: string;
  items: { text: string; whole: boolean }[];
  language: string;
}

/** Data of kind "replay". */
export interface ReplayData {
  book: string;
  /** the text without an answer */
  empty: string;
}

/** State value "step" of kind "replay": the step that was chosen. */
export interface Step {
  /** id of the exchange */
  of: string;
  at: number;
  /** time of the click */
  turn: number;
}

/** Trigger "act" of every component: what the person did; component.Act reads it. */
export interface Act {
  do: string;
  page?: number;
  text?: string;
  /** what it was done to: an exchange, books, a file */
  of?: string;
}

// --- the library ----------------------------------------------------------------------------------

/** Data of kind "library", and with what a first visit shows. */
export interface AddingData {
  imports: Import[];
  /** endings of the files that can be opened */
  formats: string;
  /** bytes of the largest file */
  most: number;
  /** "computer" or "server" */
  place: string;
  /** whether folders can be imported */
  folders: boolean;
  /** the one in use, "" for the built-in reader */
  model: string;
}

export interface LibraryData extends AddingData {
  books: Book[];
  shelves: string[];
  /** how many books can be restored */
  removed: number;
  /** how many books wait for their gists */
  waiting: number;
  /** of the library, for people */
  size: string;
  /** what a dialog has done, and the act that undoes it */
  said: { at: number; text: string; undo: string } | null;
}

/** A book as pages/parts/library/cards.py sends it. */
export interface Book {
  id: string;
  title: string;
  author?: string;
  /** what it is where it has no author: "web page", "PDF" */
  kind?: string;
  /** its name, and the number of the book in it; 0 for none */
  series?: [string, number];
  lang?: string;
  words: number;
  /** words that count as read */
  read?: number;
  /** the share of the text before the place where the person is */
  at?: number;
  /** the title of the section where the person is */
  section?: string;
  /** whether the person marked it as finished */
  finished?: boolean;
  /** seconds */
  added: number;
  /** seconds */
  opened?: number;
  /** whether it has a picture */
  cover?: boolean;
  sample?: boolean;
  tags?: string[];
  shelves?: string[];
  /** whether it was a saved web page, on which the next action can be found */
  web_page?: boolean;
  /** how many, of a book of pictures: its words say nothing of its length */
  pictures?: number;
  /** none before a model has made any */
  gists?: BookGists;
}

export interface BookGists {
  state: "ready" | "making" | "paused" | "stopped";
  /** of the book's words, 0 to 1 */
  share: number;
  /** of the whole book, made and expected */
  pages: number;
  /** gists that are stored */
  made: number;
  /** what is said after the share: time left, or why it waits */
  rest?: string;
  /** why it stopped, in a sentence */
  why?: string;
  /** that made them, if it is not the one in use: these gists cannot be continued */
  model?: string;
}

/** What became of a file, sent by pages/parts/library/imports.py. */
export interface Import {
  key: string;
  /** of the file */
  name: string;
  /** the last two of a folder */
  state: "waiting" | "opening" | "opened" | "failed" | "password" | "recognising" | "paused" | "importing" | "imported";
  /** of a PDF being opened or recognised, or files of a folder: done, of how many */
  pages?: [number, number] | null;
  /** its id */
  book?: string;
  /** of the book, or what happened in a few words */
  title?: string;
  /** what was found, or why it failed and what to do next */
  text?: string;
  /** to recognise its text, or to cancel, on a button */
  offer?: string;
  /** ids of the books of a folder, which Undo removes; of an opened file, the book where the library had it before */
  here?: string;
  /** ids of those that were removed, which Restore shows again */
  away?: string;
  /** for a report of a bug */
  detail?: string;
  /** whether the file was opened with something that a person should look at, which `text` tells */
  check?: boolean;
  /** how many gists came with it */
  gists?: number;
}

/** Kind "catalogue": the catalogues, and the page of one that is open, sent by pages/parts/library/catalogue.py. */
export interface CatalogueData {
  /** `about`: a few words, or the host; `home`: in the home network; `asks`: it can be searched without a password;
   * `own`: a person named it */
  catalogues: { name: string; about: string; address: string; home: boolean; asks: boolean; own: boolean }[];
  /** the address of the one that is open, or "" */
  chosen: string;
  /** whether a person named it, and can forget it */
  own: boolean;
  /** titles of the pages on the way here */
  crumbs: string[];
  /** of books in it; null where the catalogue does not say */
  total: number | null;
  /** whether it can be searched */
  search: boolean;
  /** the words that were searched for, or "" */
  query: string;
  entries: CatalogueBook[];
  /** whether a page follows */
  more: boolean;
  /** what went wrong; `login`: a user and password would help */
  error: { title: string; text: string; login: boolean } | null;
  /** whether links are turned off in Settings */
  off: boolean;
  /** how many acts were answered */
  acts: number;
  /** which of the pages seen is shown, for the browser's history */
  at: number;
}

/** A book of a catalogue, or, in state "page", a list of it. */
export interface CatalogueBook {
  title: string;
  author: string;
  state: "page" | "free" | "pdf" | "borrow" | "buy" | "none" | "adding" | "here";
  /** an address of this app, or "" */
  cover?: string;
  /** of the file that has arrived, 0 to 1; null where nobody knows */
  share?: number | null;
  /** its id in the library */
  book?: string;
  /** why it could not be added */
  said?: string;
}

/** State value "ask" of kind "feed": what the library's screen wants next. */
export interface FeedRequest {
  /** books whose pictures are wanted */
  covers: string[];
  /** what is searched for in all texts */
  query: string;
  /** of how many books the hits are shown */
  books: number;
}

/** Data of kind "queue": the books that wait for their gists. Places are shares of the band's width. */
export interface QueueData {
  rows: QueueRow[];
  marks: [at: number, hour: string][];
  blocks: [title: string, from: number, to: number][];
  now: number | null;
}

export interface QueueRow {
  id: string;
  title: string;
  author: string;
  lang: string;
  /** author and length, for people */
  facts: string;
  pages: number;
  cover: string | null;
  state: "done" | "failed" | "making" | "waiting";
  /** of the book that has gists */
  share: number;
  strong: string;
  said: string;
}

/** Data of kind "feed". */
export interface FeedData {
  /** book to the address of its picture, null if it cannot be shown */
  covers: Record<string, string | null>;
  /** of the books that are being read by a model now */
  gists: Record<string, BookGists>;
  found: Found | null;
}

/** The answer to a text search. */
export interface Found {
  query: string;
  /** book, paragraph, parts, places in the book, whether the book's spoiler limit keeps it back */
  hits: [string, number, [string, boolean][], number, boolean][];
  /** whether other books have it too */
  more: boolean;
  /** books whose text cannot be searched yet */
  waiting: number;
}

/** Data of kind "first". */
export interface FirstVisitData extends AddingData {
  /** the sample's id */
  story: string;
  title: string;
  /** of it */
  words: number;
  /** words of each page, and of its gist */
  pages: [number, number][];
  example: { page: number; question: string; before: string; marked: string; answer: string };
  /** the other samples */
  others: { id: string; title: string; lang: string }[];
  /** the model that can be installed: bytes, and minutes for the gists of a novel of so many words */
  local: { size: number; minutes: number; words: number } | null;
}

// --- the other screens ----------------------------------------------------------------------------

/** Data of the component "polling". */
export interface Polling {
  /** until the next run; null for none */
  seconds: number | null;
  /** the number of this run, sent back as trigger "poll" */
  turn: number;
  /** the end of the address of the screen that it is on: "read"; "" for the library */
  screen: string;
}

/** Who answered or decided, in words. */
export interface Signature {
  kind: SignerKind;
  name: string;
  rest: string;
}

/** An element: its tag, its attributes, then its children; built in readagent_core/export/comparison_view.py. */
export type ElementTree = [string, Record<string, string>, ...(ElementTree | string)[]];

/** Data of the component "compare_rows". */
export interface ComparisonData {
  rows: ElementTree[];
  signature: Signature | null;
  /** how often the person asked in this session */
  asked: number;
}

/** Data of the component "evaluate_drawing". */
export interface DrawingData {
  svg: string;
  /** the same for a phone; "" where `svg` fits everywhere */
  narrow: string;
  /** no colour: published by others */
  families: { name: string; colour: string }[];
}

/** A question that one types; `wrong`: one wrong answer a line. */
export interface QuestionRow {
  question: string;
  answer: string;
  wrong: string;
  page: string;
}

/** Data of kind "questions". */
export interface QuestionsData {
  /** its id */
  book: string;
  /** those stored */
  rows: QuestionRow[];
  /** number of the last change that was stored */
  seen: number;
  /** grows when the server adds questions itself */
  revision: number;
  /** of `rows` */
  hints: { problem?: string; field?: string; note?: boolean; found: string }[];
}

/** State value "change" of kind "questions". */
export interface QuestionsChange {
  at: number;
  rows: QuestionRow[];
}

/** Data of the component "web_page", made by pages/parts/act/board.py. */
export interface Board {
  book: string;
  /** of the page's file */
  version: string;
  title: string;
  lang: string;
  /** how many elements there are, and what was left out */
  about: string;
  snippets: Snippet[];
  steps: BoardStep[];
  action: WebAction | null;
  /** who decided */
  signature: Signature | null;
  task: string;
  /** when it was decided; 0: not yet */
  made: number;
  running: boolean;
}

export interface Snippet {
  number: number;
  words: number;
  /** "" before it is made */
  gist: string;
  anchor: string;
}

export interface BoardStep {
  title: string;
  /** parts */
  opened: number[];
  /** the action is known */
  ends: boolean;
}

export interface WebAction {
  text: string;
  /** its id, "" where there is no action */
  element: string;
  operation: string;
  reason: string;
  /** the part that has the element */
  snippet: number;
  notes: string[];
  figures: string;
}

// --- the pages of a PDF, over HTTP (pages/parts/read/original.py) ---------------------------------

/** Answer of original/BOOK/facts. */
export interface PdfFacts {
  pages: number;
  /** printed numbers; [] if they are 1, 2, 3 … */
  labels: string[];
  version: string;
}

/** Asked of original/BOOK/places: words of a paragraph, counted in code points. */
export interface PdfWords {
  text: string;
  start: number;
  end: number;
  place: string;
}

/** A rectangle on a page: left, top, right, bottom, as shares of the page. */
export type PdfBox = [number, number, number, number];

/** Answer of original/BOOK/places: the rectangles of each page. */
export interface PdfPlaces {
  places: [number, PdfBox[]][];
}

/** A voice on this computer; language: as "en-US". */
export interface ComputerVoice {
  name: string;
  title: string;
  language: string;
}

/** Answer of voice/list. */
export interface Voices {
  here: ComputerVoice[];
  /** that can be fetched */
  offers: (ComputerVoice & { licence: string; bytes: number })[];
  /** the command that installs what speaks; "" where it is here */
  install: string;
  /** whether one press installs it */
  installs: boolean;
  /** bytes of the voice that comes now; without a name: what speaks is being installed */
  fetching: { name: string; done: number } | null;
  /** why the last one did not come */
  failed: string;
  /** the voice and the speed that a person chose last */
  chosen: { voice?: string; rate?: number };
}

/** Any answer of the server that is not what was asked for. */
export interface PdfProblem {
  text: string;
  locked?: boolean;
  missing?: boolean;
}
