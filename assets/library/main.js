// The entry of the library's screen, and of what a first visit shows in its place.

import { mountParts } from "../shared/mount.js";
import { FirstVisit } from "./first_visit.js";
import { Library } from "./library.js";

const LEAVING = ["open", "ask", "ask_several", "compare", "compare_several", "settings", "catalogue", "queue", "gists"]; // acts that lead to another screen

export default mountParts({ library: Library, first: FirstVisit }, LEAVING);
