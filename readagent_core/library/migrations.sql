-- The tables of the library's SQLite file, as one script for each schema version. A library runs those after its own
-- version, so add a script at the end, after a line "next version", and never change one.
--
-- A gisting (records.Gisting) was called a reading when the tables were made; they keep that name, because a change would
-- gain nobody anything. The columns are explained where their values are defined: books, gistings and exchanges in
-- library.records, marks in library.marks, pages and gists in memory.

CREATE TABLE document (id TEXT PRIMARY KEY, words INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE cover (document_id TEXT PRIMARY KEY REFERENCES document ON DELETE CASCADE,
    kind TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE book (id TEXT PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL, language TEXT NOT NULL,
    format TEXT NOT NULL, source_name TEXT NOT NULL, sample INTEGER NOT NULL, added REAL NOT NULL,
    opened REAL, removed REAL);
CREATE TABLE version (book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE, number INTEGER NOT NULL,
    document_id TEXT NOT NULL REFERENCES document, added REAL NOT NULL, PRIMARY KEY (book_id, number));
CREATE INDEX version_document ON version (document_id);
CREATE TABLE reading (id INTEGER PRIMARY KEY AUTOINCREMENT, book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE,
    document_id TEXT NOT NULL REFERENCES document, plan_key TEXT NOT NULL, plan TEXT NOT NULL, model TEXT NOT NULL,
    place TEXT NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL DEFAULT '', started REAL NOT NULL, ended REAL,
    recorded TEXT NOT NULL DEFAULT '', usage TEXT NOT NULL DEFAULT '{}',
    UNIQUE (document_id, plan_key, model, recorded));
CREATE INDEX reading_book ON reading (book_id);
CREATE TABLE page (reading_id INTEGER NOT NULL REFERENCES reading ON DELETE CASCADE, number INTEGER NOT NULL,
    first INTEGER NOT NULL, beyond INTEGER NOT NULL, words INTEGER NOT NULL, reason TEXT NOT NULL,
    fallback INTEGER NOT NULL, ends TEXT NOT NULL, PRIMARY KEY (reading_id, number)) WITHOUT ROWID;
CREATE TABLE gist (reading_id INTEGER NOT NULL REFERENCES reading ON DELETE CASCADE, number INTEGER NOT NULL,
    text TEXT NOT NULL, fallback INTEGER NOT NULL, whole INTEGER NOT NULL, edited INTEGER NOT NULL,
    level INTEGER NOT NULL, marks TEXT NOT NULL, indexed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (reading_id, number)) WITHOUT ROWID;
CREATE TABLE position (book_id TEXT PRIMARY KEY REFERENCES book ON DELETE CASCADE,
    paragraph INTEGER NOT NULL, furthest INTEGER NOT NULL);
CREATE TABLE conversation (id TEXT PRIMARY KEY, book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE,
    title TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL);
CREATE INDEX conversation_book ON conversation (book_id);
CREATE TABLE exchange (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL REFERENCES conversation ON DELETE CASCADE, reading_id INTEGER NOT NULL,
    question TEXT NOT NULL, options TEXT NOT NULL, method TEXT NOT NULL, settings TEXT NOT NULL, up_to INTEGER,
    asked REAL NOT NULL, state TEXT NOT NULL, error TEXT NOT NULL DEFAULT '', extra TEXT NOT NULL DEFAULT '{}');
CREATE INDEX exchange_conversation ON exchange (conversation_id);
CREATE TABLE event (exchange_id TEXT NOT NULL REFERENCES exchange (id) ON DELETE CASCADE, number INTEGER NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (exchange_id, number)) WITHOUT ROWID;
CREATE TABLE preference (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE indexed (id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE found USING fts5 (terms, tokenize = 'unicode61 remove_diacritics 2');

-- next version
CREATE TABLE artifact (document_id TEXT NOT NULL REFERENCES document ON DELETE CASCADE, kind TEXT NOT NULL,
    key TEXT NOT NULL, body TEXT NOT NULL, made REAL NOT NULL, PRIMARY KEY (document_id, kind, key)) WITHOUT ROWID;

-- next version
CREATE TABLE note (reading_id INTEGER NOT NULL REFERENCES reading ON DELETE CASCADE, name TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (reading_id, name)) WITHOUT ROWID;

-- next version
ALTER TABLE reading ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER page_added AFTER INSERT ON page
    BEGIN UPDATE reading SET changed = changed + 1 WHERE id = new.reading_id; END;
CREATE TRIGGER page_changed AFTER UPDATE ON page
    BEGIN UPDATE reading SET changed = changed + 1 WHERE id = new.reading_id; END;
CREATE TRIGGER page_gone AFTER DELETE ON page
    BEGIN UPDATE reading SET changed = changed + 1 WHERE id = old.reading_id; END;
CREATE TRIGGER gist_added AFTER INSERT ON gist
    BEGIN UPDATE reading SET changed = changed + 1 WHERE id = new.reading_id; END;
CREATE TRIGGER gist_changed AFTER UPDATE OF text, fallback, whole, edited, level, marks ON gist
    BEGIN UPDATE reading SET changed = changed + 1 WHERE id = new.reading_id; END;
CREATE TRIGGER gist_gone AFTER DELETE ON gist
    BEGIN UPDATE reading SET changed = changed + 1 WHERE id = old.reading_id; END;

-- next version
ALTER TABLE position ADD COLUMN words_read INTEGER;
ALTER TABLE position ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
ALTER TABLE position ADD COLUMN spoiler_limit INTEGER;
ALTER TABLE position ADD COLUMN section TEXT NOT NULL DEFAULT '';
CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE shelved (shelf_id INTEGER NOT NULL REFERENCES shelf ON DELETE CASCADE,
    book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE, PRIMARY KEY (book_id, shelf_id)) WITHOUT ROWID;
CREATE TABLE tag (book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE, name TEXT NOT NULL,
    PRIMARY KEY (book_id, name)) WITHOUT ROWID;

-- next version
INSERT OR IGNORE INTO position (book_id, paragraph, furthest, words_read)
    SELECT id, 0, 0, 0 FROM book JOIN preference ON name = 'only read ' || id AND value = 'true';
UPDATE position SET limited = 1
    WHERE EXISTS (SELECT 1 FROM preference WHERE name = 'only read ' || book_id AND value = 'true');
DELETE FROM preference WHERE name LIKE 'only read %';

-- next version
CREATE TABLE mark (id TEXT PRIMARY KEY, book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE,
    body TEXT NOT NULL);
CREATE INDEX mark_book ON mark (book_id);

-- next version
CREATE TABLE picture (document_id TEXT NOT NULL REFERENCES document ON DELETE CASCADE, id TEXT NOT NULL,
    kind TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (document_id, id));

-- next version
ALTER TABLE conversation ADD COLUMN about TEXT NOT NULL DEFAULT '';
CREATE TABLE asked_book (conversation_id TEXT NOT NULL REFERENCES conversation ON DELETE CASCADE,
    number INTEGER NOT NULL, book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE,
    PRIMARY KEY (conversation_id, number)) WITHOUT ROWID;
CREATE INDEX asked_book_book ON asked_book (book_id);
CREATE TRIGGER book_of_several_gone BEFORE DELETE ON book
    BEGIN UPDATE conversation SET book_id = (SELECT book_id FROM asked_book
        WHERE conversation_id = conversation.id AND book_id <> old.id ORDER BY number LIMIT 1)
    WHERE book_id = old.id AND EXISTS (SELECT 1 FROM asked_book
        WHERE conversation_id = conversation.id AND book_id <> old.id); END;

-- next version
CREATE TABLE own_questions (book_id TEXT PRIMARY KEY REFERENCES book ON DELETE CASCADE, body TEXT NOT NULL);

-- next version
-- the codes of what earlier versions told by sentences alone, which are quoted here for the last time
ALTER TABLE reading ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE reading ADD COLUMN budget REAL;
ALTER TABLE reading ADD COLUMN successor INTEGER;
UPDATE reading SET successor = (SELECT id FROM reading AS other WHERE other.book_id = reading.book_id
        AND other.model = reading.model AND other.id <> reading.id AND reading.why LIKE
        '%The book is read again in smaller pages, of at most '
        || printf('%,d', json_extract(other.plan, '$.max_words')) || ' words.'
        ORDER BY other.started DESC LIMIT 1);
UPDATE reading SET reason = CASE
    WHEN why = '' OR state IN ('reading', 'done') THEN ''
    WHEN why LIKE 'Paused.%' THEN 'paused'
    WHEN why LIKE 'The budget for this book is used%' THEN 'budget'
    WHEN why LIKE '%The book is read again in smaller pages, of at most %' THEN 'smaller-pages'
    WHEN why LIKE 'To be read again from page %' THEN 'cut'
    WHEN why LIKE '% in Settings%' THEN 'settings'
    WHEN state = 'failed' THEN 'bug'
    ELSE 'error' END;
ALTER TABLE exchange ADD COLUMN remedy TEXT NOT NULL DEFAULT '';
UPDATE exchange SET remedy = 'settings' WHERE error LIKE '%Settings%';

-- next version
-- words are folded in another way: texts are indexed again at the next search
DELETE FROM found;
DELETE FROM indexed;
UPDATE gist SET indexed = 0;

-- next version
UPDATE event SET body = json_set(body, '$.code', 'read-so-far')
    WHERE body LIKE '{"kind": "Noted", "text": "Answered from the %read so far."}';

-- next version
-- pages by rule of a text that is searched before it has all its gists: of no list of gistings
ALTER TABLE reading ADD COLUMN searched INTEGER NOT NULL DEFAULT 0;

-- next version
UPDATE mark SET body = json_set(body, '$.answer.signed_by', CASE
    WHEN json_extract(body, '$.answer.signature') LIKE 'A recording of %' THEN 'recording'
    WHEN json_extract(body, '$.answer.signature') LIKE 'Built-in reader:%' THEN 'builtin'
    ELSE 'model' END)
    WHERE json_extract(body, '$.answer.signature') IS NOT NULL;
-- next version
ALTER TABLE position ADD COLUMN offset INTEGER NOT NULL DEFAULT -1;
ALTER TABLE position ADD COLUMN share REAL;
ALTER TABLE position ADD COLUMN words_before TEXT NOT NULL DEFAULT '';
ALTER TABLE position ADD COLUMN words_after TEXT NOT NULL DEFAULT '';

-- next version
-- what a page establishes, and which names a model found to be of one; JSON of `world`
CREATE TABLE page_notes (
    reading_id INTEGER NOT NULL REFERENCES reading(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,  -- 'notes' or 'links', which rest on the pages up to this one
    body TEXT NOT NULL,
    PRIMARY KEY (reading_id, number, kind)
);
-- names joined or split by hand, or taken for no names
CREATE TABLE name_edit (
    id INTEGER PRIMARY KEY,
    book_id TEXT NOT NULL REFERENCES book(id) ON DELETE CASCADE,
    body TEXT NOT NULL
);
-- the place of a book in a series
CREATE TABLE series (
    book_id TEXT PRIMARY KEY REFERENCES book(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    number REAL NOT NULL
);

-- next version
CREATE TABLE looked_up (book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE, word TEXT NOT NULL,
    form TEXT NOT NULL, sentence TEXT NOT NULL, paragraph INTEGER NOT NULL, offset INTEGER NOT NULL,
    meaning TEXT NOT NULL, dictionary TEXT NOT NULL, looked_up REAL NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (book_id, word)) WITHOUT ROWID;
CREATE TABLE read_on (day TEXT NOT NULL, book_id TEXT NOT NULL REFERENCES book ON DELETE CASCADE,
    words INTEGER NOT NULL, seconds REAL NOT NULL, last REAL NOT NULL, PRIMARY KEY (day, book_id)) WITHOUT ROWID;
CREATE TABLE finished (book_id TEXT PRIMARY KEY REFERENCES book ON DELETE CASCADE, day TEXT NOT NULL,
    stars INTEGER NOT NULL, remark TEXT NOT NULL);

-- next version
-- words are folded in another way: texts are indexed again at the next search
DELETE FROM found;
DELETE FROM indexed;
UPDATE gist SET indexed = 0;
