// Runs before Streamlit's own scripts.

import { showWhenWhole } from "./arrival.js";
import { closeDialogsByBack } from "./dialogs.js";
import { connectDrops } from "./dropped.js";
import { connectLinks, hideBarWhileReading } from "./screens.js";
import { startUncovered } from "./sidebar.js";
import {
  connectAtOnce,
  followPopovers,
  keepChosenAtEscape,
  takeTypedAtEscape,
  takeTypedAtPress,
  takeTypedKeys,
  takeTypedNames,
} from "./streamlit.js";
import { followTheme } from "./theme.js";
import { connectTour } from "./tour.js";
import { tellTrouble } from "./trouble.js";

connectAtOnce();
takeTypedKeys();
takeTypedNames();
takeTypedAtPress();
takeTypedAtEscape();
keepChosenAtEscape();
followPopovers();
followTheme();
startUncovered();
showWhenWhole();
document.addEventListener("DOMContentLoaded", () => {
  connectLinks();
  connectDrops();
  closeDialogsByBack();
  hideBarWhileReading();
  connectTour();
  tellTrouble();
});
