// What the page says, in its reader's language: each is a file of its own, of which a reader gets one.
import { secret } from './first.mjs';

/** @typedef {typeof import('./texts.en.mjs').default} Texts */

export const languages = ['en', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt'];

/** The first of the reader's languages that there is a table of. */
export const language = navigator.languages.map(tag => tag.split('-')[0].toLowerCase()).find(tag => languages.includes(tag)) ?? 'en';
/** @type {{ default: Texts }} */
const { default: texts } = await import(`./texts.${language}.mjs`).catch(error => {
    // There will be no page: what is shown in its place tells people to copy the whole link.
    history.replaceState(null, '', secret);
    throw error;
});
export { texts };

// Codes that mean the same to a reader. Of the server's, what has no text says that nothing verifies, and an honest one says these as well.
/** @type {Record<string, string>} */
const alike = {
    unknownScope: 'notMember', zoneNotFound: 'notMember', userDeletedZone: 'notMember', storageFull: 'quotaExceeded', tooManyParticipants: 'quotaExceeded',
    zoneBusy: 'serviceUnavailable', assetNotAvailable: 'serverRejectedRequest', assetFileNotFound: 'serverRejectedRequest',
    incompatibleVersion: 'serverRejectedRequest', sessionExpired: 'serverRejectedRequest', changeTokenExpired: 'serverRejectedRequest',
};

/** @param {string} code @returns {string} what an error means for its reader */
export function explain(code) {
    // What a URL leads to does not open by it: it was altered, if that is not the server's doing.
    if (code === 'invalidURL') return texts.incompleteAltered;
    return new Map(Object.entries(texts.errors)).get(alike[code] ?? code) ?? texts.errors.other;
}
