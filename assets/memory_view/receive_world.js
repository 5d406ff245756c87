// The entry of an invisible component: puts what is known of a book's world into the store of the tab.

import { mountParts } from "../shared/mount.js";
import { storeNotes, storeSeries, storeStudy, storeWorld } from "./world_store.js";

/** @import { SeriesData, StudyData, WorldBatch, WorldData } from "../protocol.js" */

class Facts {
  /** @param {WorldData} data */
  update(data) {
    storeWorld(data);
  }
}

class Notes {
  /** @param {WorldBatch} data */
  update(data) {
    storeNotes(data);
  }
}

class Study {
  /** @param {StudyData} data */
  update(data) {
    storeStudy(data);
  }
}

class Series {
  /** @param {SeriesData} data */
  update(data) {
    storeSeries(data);
  }
}

export default mountParts({ world: Facts, notes: Notes, study: Study, series: Series });
