// One sound file of many: WAV needs no encoder, and the browser joins what the server makes a sentence at a time.

const PAUSE = 0.4; // seconds between paragraphs
const HEAD = 44; // bytes before the sound

/**
 * The format and the sound of a WAV file.
 * @param {ArrayBuffer} file
 * @returns {{format: ArrayBuffer, sound: ArrayBuffer}}
 */
export function partsOf(file) {
  const view = new DataView(file);
  let format = new ArrayBuffer(0);
  for (let at = 12; at + 8 <= file.byteLength; ) {
    const name = String.fromCharCode(...new Uint8Array(file, at, 4));
    const size = view.getUint32(at + 4, true);
    const part = file.slice(at + 8, at + 8 + size);
    if (name === "data") return { format, sound: part };
    if (name === "fmt ") format = part.slice(0, 16);
    at += 8 + size + (size % 2);
  }
  throw new Error("This is no sound.");
}

/**
 * The parts of one WAV file with the sounds of all, of the format that the first has; null is a pause.
 * @param {(ArrayBuffer | null)[]} files
 * @returns {ArrayBuffer[]}
 */
export function joinSounds(files) {
  const parts = files.map((file) => file && partsOf(file));
  const format = parts.find((part) => part?.sound.byteLength)?.format ?? parts.find((part) => part)?.format;
  if (!format) return [];
  const [second, frame] = [new DataView(format).getUint32(8, true), new DataView(format).getUint16(12, true)];
  const silence = new ArrayBuffer(Math.round((PAUSE * second) / frame) * frame);
  const sounds = parts.map((part) => part?.sound ?? silence);
  const size = sounds.reduce((sum, sound) => sum + sound.byteLength, 0);
  const head = new DataView(new ArrayBuffer(HEAD));
  /** @param {number} at @param {string} text */
  const write = (at, text) => {
    for (const [i, letter] of [...text].entries()) head.setUint8(at + i, letter.charCodeAt(0));
  };
  write(0, "RIFF");
  head.setUint32(4, HEAD - 8 + size, true);
  write(8, "WAVEfmt ");
  head.setUint32(16, 16, true);
  new Uint8Array(head.buffer).set(new Uint8Array(format), 20);
  write(36, "data");
  head.setUint32(40, size, true);
  return [head.buffer, ...sounds];
}
