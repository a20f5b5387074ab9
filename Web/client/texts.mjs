// What the page says. A text that takes something is a function of it. Other languages are files of their own, of which a reader gets one.

export const english = {
    title: 'Shared with you',
    opening: 'Opening…', checking: 'Checking what the server shows…', reading: 'Reading and opening records…',
    stretching: 'Stretching the passphrase. This takes a few seconds on purpose.',

    incompleteTitle: 'This link is incomplete',
    incomplete: 'The part after the # is missing, and it is the key: without it nothing can be opened. Open the link from the message again, whole.',
    incompleteCut: (have, whole) => `The part after the # has ${have} characters in place of ${whole}: it was cut short or altered on its way. Copy the whole link from the message, to its last character.`,
    incompleteAltered: 'The part after the # is not a key: it was altered on its way. Copy the whole link from the message.',
    comeBackTitle: 'You were here before',
    comeBack: 'This browser knows where the share is. Unlock your account to read it.',

    welcomeTitle: 'Somebody shares records with you',
    welcome: 'They are encrypted. Only people who are invited can open them; this server cannot. To take your place you need an account here, which takes one touch.',
    noSeatTitle: 'There is no free place behind this link',
    noSeat: 'It was used already, taken back, has expired, or is for somebody who has an account. If it is yours, unlock your account; otherwise ask whoever sent it for a new one.',
    passkey: 'Continue with a passkey', passkeyHint: 'One touch or glance. It comes back on all your devices that share your passkeys.',
    passphrase: 'Use a passphrase', passphraseHint: 'You type it again at your next visit.',
    recoveryKey: 'Use a recovery key', recoveryKeyHint: 'A long key that you write down or keep in a password manager.',
    thisVisit: 'Only for this visit', thisVisitHint: 'For links that are open to everybody: it ends with this tab.',
    haveAccount: 'I have an account here', or: 'or',
    noPasskeyHere: 'Passkeys work at a server’s own name only, and this address has none, or this browser has no passkeys.',
    unlockTitle: 'Unlock your account', unlockPasskey: 'Unlock with your passkey', unlockPassphrase: 'Unlock with your passphrase',
    unlockRecoveryKey: 'Unlock with your recovery key', newAccount: 'Make a new account',
    registrationCode: 'Registration code', registrationCodeHint: 'This server makes accounts by invitation: whoever runs it gives you a code.',

    passphraseTitle: 'Choose a passphrase', passphraseName: 'Name', passphraseNameHint: 'Your e-mail address, for example. It keeps people with the same passphrase apart, and is not sent.',
    passphraseField: 'Passphrase', passphraseFieldHint: 'At least 12 characters: several words that nobody puts together. Whoever guesses it has your account.',
    passphraseAgain: 'Passphrase once more', passphraseDiffers: 'The two are not the same.', passphraseShort: 'At least 12 characters.', nameMissing: 'Write a name that you will remember.',
    recoveryKeyTitle: 'Your recovery key', recoveryKeyIntro: 'Whoever has it has your account, and without it nobody brings the account back. Write it down, or keep it in a password manager. It is shown this once.',
    copy: 'Copy', copied: 'Copied', recoveryKeyConfirm: 'Type or paste it once more', recoveryKeyDiffers: 'That is not the key that is shown.',
    recoveryKeyTyped: 'Recovery key', recoveryKeyGroups: groups => `There is a typing error in group ${groups.join(', ')}.`, recoveryKeyNone: 'A recovery key has 13 groups of five characters.',
    keepTitle: 'Keep your account first', keep: 'This invitation is good once: an account that ends with this tab would take your place along. Choose how you come back.',
    next: 'Continue', back: 'Back', tryAgain: 'Try again',

    addressTitle: 'Where were you invited?', address: 'The share waits for somebody by their address. Prove that it is yours: a code is sent there.',
    addressField: 'E-mail address or phone number', sendCode: 'Send the code',
    codeTitle: 'Type the code', code: address => `It was sent to ${address}. It is good for a few minutes.`, codeField: 'Code', codeWrong: left => left === 1 ? 'That was not it. One try is left.' : `That was not it. ${left} tries are left.`,
    codeAgain: 'Send another code', codeWait: seconds => `Another code can be sent in ${seconds} seconds`, otherAddress: 'Another address',
    addressOther: 'The share waits for another address than the one that you have proven.',

    untitled: 'Untitled share', sharedBy: 'Shared by', youMay: 'You may', mayRead: 'read', mayWrite: 'read and change', people: 'People in it',
    vouched: 'Title and picture are signed by the owner.', vouchedAdministrator: 'Title and picture are signed by an administrator.', notVouched: 'Nobody who may say so vouches for a title of this share.',
    safety: 'Compare safety numbers', safetyHint: 'Read these digits to the owner over the phone. Where both of you see the same, nobody stands between you.',
    accept: 'Accept', leave: 'Not now', left: 'Nothing was accepted. You can open the link again.',

    recordsTitle: 'Records', search: 'Search', count: count => count === 1 ? '1 record' : `${count} records`, none: 'There is nothing in it yet.', noneFound: 'Nothing matches.',
    sealedField: 'sealed: the server cannot read it', changed: 'Changed', author: 'Changed by', name: 'Name', close: 'Close', more: 'Show more', refresh: 'Look for changes',
    notBelieved: 'not shown', refused: 'This record does not verify, and nothing of it is shown.',
    asset: size => `File, ${size}`, openAsset: 'Open', saveAsset: 'Save', assetTooLarge: 'Above 32 MiB: open it in an app, or with the command line.', openingAsset: 'Opening…',
    bytes: count => `${count} bytes`,

    editRecord: 'Change', deleteRecord: 'Delete', newRecord: 'New record', saveRecord: 'Save', savingRecord: 'Saving…', cancel: 'Cancel',
    addField: 'Add a field', removeField: 'Remove this field', keepField: 'Keep this field', fieldName: 'Name of the field', fieldValue: 'Value', fieldNameMissing: 'Give the field a name that the record does not have yet.',
    noSuchValue: 'That is not a value of this kind.', typeOfRecord: 'Type of the record', typeMissing: 'A record has a type.', listHint: 'One entry a line.', notHere: 'can be changed in an app', sealedHere: 'What you write here is sealed before it is sent; a field without a lock is one that the server reads.',
    deleteForAll: 'It goes for everybody in the share.', conflictTitle: 'changed by two people', conflict: 'Somebody else changed the same fields meanwhile. Choose what it is to be.', conflictBefore: 'Before', conflictMine: 'Yours', conflictTheirs: 'Theirs',
    deletedMeanwhile: 'The record was deleted meanwhile. Nothing was saved.', changedMeanwhile: 'The record was changed meanwhile. Look at it first; nothing was deleted.',
    account: 'Account', accountOf: name => `This is your account ${name} on this server.`, waysPasskey: 'It comes back by your passkey.', waysPassphrase: 'It comes back by your passphrase.',
    waysRecoveryKey: 'It comes back by your recovery key.', waysNone: 'It ends with this tab.', lock: 'Lock', forget: 'Forget this browser', forgetHint: 'What this browser remembers goes: how you unlock, and where shares are. Your account stays.',
    trust: 'Your browser checks and opens everything here itself. The script that does so comes from this server: a server that changes it for you reads what you read. The app and the command line do not take their code from it.',
    trustElsewhere: 'Your browser checks and opens everything here itself, by a script that does not come from that server.',
    apps: 'Apps that keep their records here:',

    errorTitle: 'That did not work',
    errors: {
        networkFailure: 'The server cannot be reached. Check your connection, and try again.',
        serviceUnavailable: 'The server has too much to do. Try again in a moment.',
        requestRateLimited: 'That was too often. Wait a little, then try again.',
        otherServer: 'The link is one of another server.',
        unknownItem: 'There is no such share, or you are not invited: the invitation was used, taken back, or has expired. Ask whoever sent it for a new one.',
        unknownAccount: 'This server knows no account of yours by that. Check it, and that this is the server.',
        permissionFailure: 'This is not for this account: use the link that was sent to you.',
        verificationFailed: 'The code is not good, or no longer. Have another one sent.',
        accountSuspended: 'The server’s operator has suspended this account.',
        keysReplaced: 'Your account has newer keys than these. Use the way back that you made last.',
        notMember: 'You are no longer in this share.', unknownScope: 'You are no longer in this share.',
        noCore: 'This browser cannot run the page’s core. Update it, or use another one.',
        outOfMemory: 'There is not enough memory for the passphrase. Close other tabs, and try again.',
        cancelled: 'The passkey was not used. Try again, or choose another way.',
        noPRF: 'This passkey or browser cannot keep keys (it has no “PRF”). Choose another way.',
        mistypedRecoveryKey: 'There is a typing error in the recovery key.',
        rollback: 'The server shows something older than it has shown before. Nothing of it is believed.',
        forked: 'The server shows another list of people than it has shown before. Nothing of it is believed; tell whoever shares with you.',
        shortened: 'The server has lost a part of the list of people. Open the share in an app, which can give it back.',
        quotaExceeded: 'The server has no more room for this.', limitExceeded: 'That is more than this server takes at once.',
        serverRejectedRequest: 'The server has refused that. Load the page again, and try once more.',
        mayOnlyRead: 'You may read here, and change nothing any longer.',
        rotationDue: 'The owner’s app has to renew the share’s key first. Try again later.',
        referenceViolation: 'Another record refers to this one, or is to be there first.',
        takesOthers: 'Other records would go with it. Delete it in an app, which shows them.',
        keepsChanging: 'The record keeps changing. Try again in a moment.',
        withheld: 'The server hides what it has shown before. Nothing of it is believed; tell whoever shares with you.',
        invalidArguments: 'The server does not take this: the app’s records may have no such type or field.',
        other: 'What the server showed does not verify, and nothing of it is used. Tell whoever sent you the link.',
        internalError: 'Something went wrong on this page. Load it again.',
    },
};

export const languages = ['en', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt'];

/** The first of the reader's languages that there is a table of. */
export const language = (globalThis.navigator?.languages ?? []).map(tag => tag.split('-')[0].toLowerCase()).find(tag => languages.includes(tag)) ?? 'en';
export const texts = language === 'en' ? english : (await import(`./texts.${language}.mjs`)).default;

/** What an error means for its reader. */
export function explain(code) {
    // What a URL leads to does not open by it: it was altered, if that is not the server's doing.
    if (code === 'invalidURL') return texts.incompleteAltered;
    return Object.hasOwn(texts.errors, code) ? texts.errors[code] : texts.errors.other;
}
