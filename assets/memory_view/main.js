// The entry of the memory view: the reader, its outline, and the gist memory of Ask, of one book or several.

import { mountParts } from "../shared/mount.js";
import { Memory } from "./memory.js";
import { AllNotes } from "./notes_panel.js";
import { Outline } from "./outline.js";
import { Reader } from "./reader.js";
import { Shelf } from "./shelf.js";
import { ShelfMaps } from "./shelf_maps.js";

const LEAVING = ["ask", "open", "settings"]; // acts that lead to another screen

export default mountParts({ read: Reader, outline: Outline, memory: Memory, notes: AllNotes, shelf: Shelf, maps: ShelfMaps }, LEAVING);
