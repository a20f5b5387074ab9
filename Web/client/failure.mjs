// What was thrown, by its code.

/** @param {unknown} error whatever it is @returns {string} 'internalError' for what has none: what a browser throws has a number there */
export function codeOf(error) {
    const { code } = /** @type {{ code?: unknown }} */ (error ?? {});
    return typeof code === 'string' ? code : 'internalError';
}
