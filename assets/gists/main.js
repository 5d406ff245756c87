// The entry of the screen of books that wait for their gists.

import { mountParts } from "../shared/mount.js";
import { Queue } from "./queue.js";

export default mountParts({ queue: Queue }, ["open"]);
