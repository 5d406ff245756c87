// The entry of the conversation side of Ask.

import { mountParts } from "../shared/mount.js";
import { Conversation } from "./conversation.js";
import { Exchange } from "./exchange.js";
import { ConversationList, Suggestions } from "./lists.js";
import { Replay } from "./replay.js";

export default mountParts({
  conversation: Conversation,
  conversations: ConversationList,
  exchange: Exchange, // by itself, outside a conversation
  replay: Replay,
  suggestions: Suggestions,
});
