// bundle.mjs, which Web/bundle.py writes.
/** What the core's module is held against before it runs. */
export const moduleIntegrity: string;
