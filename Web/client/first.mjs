// Before anything else: the part of the URL after `#` is the share's key. It is taken out of the address bar, and so of the history, of
// what is sent as a referrer, and of what a report of an error would say, before another line of the page has run.
/** @returns {string} with its `#`; empty where the URL had none, as after the page was loaded again */
export function takeSecret() {
    const { pathname, search, hash } = location;
    if (hash !== '') history.replaceState(null, '', pathname + search);
    return hash;
}

export const secret = takeSecret();
