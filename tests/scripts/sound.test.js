// What is read aloud, and sounds that become one file.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sentencesOf } from "../../assets/memory_view/sentences.js";
import { joinSounds, partsOf } from "../../assets/memory_view/sound_file.js";

/** A WAV file, with a part before the sound that other programs write. */
function wav(samples, rate = 1000) {
  const head = Buffer.alloc(54);
  head.write("RIFF", 0);
  head.writeUInt32LE(46 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("LIST", 36);
  head.writeUInt32LE(1, 40); // of odd length, so filled up
  head.write("data", 46);
  head.writeUInt32LE(samples.length, 50);
  const file = Buffer.concat([head, Buffer.from(samples)]);
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
}

test("sounds are joined in order, with a pause between paragraphs", async () => {
  const joined = await new Blob(joinSounds([wav([1, 2, 3, 4]), null, wav([]), wav([5, 6])])).arrayBuffer();
  const { format, sound } = partsOf(joined);
  const view = new DataView(joined);
  const bytes = [...new Uint8Array(sound)];
  assert.equal(view.getUint32(4, true), joined.byteLength - 8);
  assert.equal(new DataView(format).getUint32(4, true), 1000);
  assert.deepEqual(
    [bytes.slice(0, 4), bytes.slice(-2)],
    [
      [1, 2, 3, 4],
      [5, 6],
    ],
  );
  assert.equal(bytes.length, 6 + 800); // 0.4 s of 1,000 samples of 2 bytes
  assert.throws(() => partsOf(new ArrayBuffer(60)), /no sound/);
  assert.deepEqual(joinSounds([null]), []);
});

test("sentences have something to say, and none is endless", () => {
  assert.deepEqual(sentencesOf("One. * * * Two!", "en").length, 2);
  assert.deepEqual(sentencesOf("— …", "en"), []);
  for (const text of ["word ".repeat(700), "x".repeat(3500)]) {
    const found = sentencesOf(text, "en");
    assert.ok(found.every(([from, to]) => to - from <= 1001));
    assert.equal(found.map(([from, to]) => text.slice(from, to)).join(""), text.trimEnd());
  }
});

test("a title, an initial and the number of something end no sentence", () => {
  const text = "“First,” said Mr. Reeve. Mrs. Oake met J. R. Vane in St. Ives. It was No. 5. No. He left. So did I. It rained.";
  const found = sentencesOf(text, "en").map(([from, to]) => text.slice(from, to));
  assert.deepEqual(found, [
    "“First,” said Mr. Reeve.",
    "Mrs. Oake met J. R. Vane in St. Ives.",
    "It was No. 5.",
    "No.",
    "He left.",
    "So did I.",
    "It rained.",
  ]);
});
