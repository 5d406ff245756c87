// The icons of those who answer.

/**
 * @import { SignerKind } from "../protocol.js"
 * @import { IconName } from "./dom.js"
 */

/** @type {Record<SignerKind, IconName>} */
export const SIGNER_ICONS = { model: "plug", builtin: "wordlines", recording: "reels" };
