/** Node's own modules, also in Deno and Bun, without an `import` of them that bundlers for browsers would stumble over. */
export function builtin(name) {
  try {
    return globalThis.process?.getBuiltinModule?.(name);
  } catch {
    // Next's edge runtime has a `process` that throws for what it lacks.
    return undefined;
  }
}
