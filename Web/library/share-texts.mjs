// What <seal-share> says. A text that takes something is a function of it. Other languages are files of their own, of which a reader gets one.

export const english = {
    language: 'en',
    title: 'Sharing', busy: 'One moment…', cancel: 'Cancel', again: 'Try again', close: 'Close',
    unshared: 'Only you can open this. Share it, and those whom you invite can open it as well. The server cannot.',
    ended: 'This is not shared.',
    shareTitle: 'Title', shareTitleHint: 'Those whom you invite see it before they accept. The server does not.',
    start: 'Share', saidShared: 'It is shared.',
    rename: 'Change the title', save: 'Save', saidChanged: 'It is changed.',
    people: (/** @type {number} */ count) => count === 1 ? 'Nobody but you so far' : `${count} people`,
    you: 'You', whoeverHasLink: 'Whoever has the link',
    owner: 'Owner', administrator: 'Administrator', publicUser: 'By the open link', invited: 'Invited', joined: 'Has joined',
    mayRead: 'May read', mayWrite: 'May change', until: (/** @type {string} */ date) => `until ${date}`,
    mayWhat: (/** @type {string} */ name) => `What ${name} may do`,
    safetyNumber: 'Safety number',
    compare: (/** @type {string} */ name) => `Compare these digits with what ${name} sees, by telephone or in person. If they are the same, nobody stands between you.`,
    takeBack: 'Take back', takeBackAsk: (/** @type {string} */ name) => `Take the invitation of ${name} back? Its link stops working.`,
    remove: 'Remove', removeAsk: (/** @type {string} */ name) => `Remove ${name}? What was read may have been kept; what is written from now on stays closed.`,
    saidRemoved: 'It is done, and new keys are in use.',
    inviting: 'Invite somebody', address: 'E-mail address, telephone number or user name',
    addressHint: 'A telephone number begins with + and the country.',
    permission: 'Permission', invite: 'Invite', oneLink: 'Link for one person',
    oneLinkHint: 'A link for one person asks for no address: whoever opens it first takes the place.',
    saidInvited: 'The invitation is made. Now send the link.',
    send: 'Send this link to that person yourself, by a way that you trust. It is good for one person.',
    sendPublic: 'Whoever has this link can join. Give it to nobody who should not.',
    copy: 'Copy link', copied: 'The link is copied.', notCopied: 'The link could not be copied. It is:',
    showCode: 'Show QR code', hideCode: 'Hide QR code', codeLabel: 'The link as a QR code',
    publicTitle: 'Open link', publicWhat: 'What anybody with the link may do', nobody: 'Nobody joins by it',
    publicHint: 'Opening it takes open invitations back.',
    publicOpen: 'Closing it removes everybody who joined by it.',
    publicInvites: 'While the link is open nobody is invited by name.',
    stop: 'Stop sharing', stopAsk: 'Stop sharing? Everybody but you is removed, and every invitation taken back. Your records stay.', saidStopped: 'It is shared no more.',
    leave: 'Leave', leaveAsk: 'Leave this share? You come back only if you are invited again.', saidLeft: 'You have left the share.',
    errors: {
        other: 'That did not work.', networkFailure: 'The server cannot be reached.', requestRateLimited: 'Too much at once. Try again in a while.',
        notAuthenticated: 'Nobody is signed in.', notMember: 'You are not in this share.', permissionFailure: 'Only the owner may do that.',
        alreadyInvited: 'That person is in the share already, or invited.', isBlocked: 'That person is blocked in this share.',
        shareIsPublic: 'Nobody is invited by name while the link is open.', tooManyParticipants: 'A share has room for 100 people.',
        unknownItem: 'Nobody is known by that name here. That person has to open the app once, or is invited by e-mail.',
        othersInvitation: 'Somebody else made that invitation: take it back, and invite anew.', noShareURL: 'You were not given the link of this share: its owner has to save it.',
        rosterChanged: 'Others are changing this share. Try again.', missingKey: 'The keys of this share are missing. Its owner can make new ones.',
    },
};

export const languages = ['de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt'];

/** @param {string} wanted a language tag @returns {Promise<typeof english>} English where there is no such language, or it cannot be had */
export async function loadTexts(wanted) {
    try {
        return await load(wanted.toLowerCase().split('-')[0]);
    } catch {
        return english;
    }
}

/** @param {string} language @returns {Promise<typeof english>} */
async function load(language) {
    switch (language) {
    case 'de': return (await import('./share-texts.de.mjs')).default;
    case 'es': return (await import('./share-texts.es.mjs')).default;
    case 'fr': return (await import('./share-texts.fr.mjs')).default;
    case 'it': return (await import('./share-texts.it.mjs')).default;
    case 'ja': return (await import('./share-texts.ja.mjs')).default;
    case 'nl': return (await import('./share-texts.nl.mjs')).default;
    case 'pl': return (await import('./share-texts.pl.mjs')).default;
    case 'pt': return (await import('./share-texts.pt.mjs')).default;
    default: return english;
    }
}
