/** Texts as bytes and back: what every engine has, but for the windows of jsdom in Jest (jsdom/jsdom#2524). */

import { builtin } from "./builtin.js";

const { TextDecoder, TextEncoder } = globalThis.TextDecoder ? globalThis : builtin("node:util");

export { TextDecoder, TextEncoder };
