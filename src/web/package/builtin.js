/** Node's own modules, also in Deno and Bun, without an `import` of them that bundlers for browsers would stumble over. */
export const builtin = (name) => globalThis.process?.getBuiltinModule?.(name);
