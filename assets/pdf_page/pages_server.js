// Asks the server about the pages of a PDF.

/** The whole address of what pages/parts/read/original.py serves. */
export const pagesUrl = (address) => String(new URL(address, document.baseURI));

/**
 * An answer of the server: whether it went well, and its JSON, which has a `text` where it did not.
 * @param {object | null} values what is sent, if anything
 * @returns {Promise<{ok: boolean, value: any}>}
 */
export async function askPages(address, values = null) {
  try {
    const send = values && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) };
    const answer = await fetch(pagesUrl(address), send ?? {});
    const isJson = answer.headers.get("content-type")?.includes("json");
    return { ok: answer.ok, value: isJson ? await answer.json() : { text: "The page did not arrive whole. Try again." } };
  } catch {
    return { ok: false, value: { text: "ReadAgent cannot be reached. Check that it is still running, then try again." } };
  }
}
