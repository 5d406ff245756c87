// The entry of the conversation side of Ask.

import { mountParts } from "../shared/mount.js";
import { Conversation } from "./conversation.js";
import { ConversationList, Suggestions } from "./lists.js";
import { Replay } from "./replay.js";

export default mountParts({
  conversation: Conversation,
  conversations: ConversationList,
  replay: Replay,
  suggestions: Suggestions,
});
