// What the module can be asked for: the numbers of Sources/SealWeb/Operation.swift.
export const operations = {
    about: 1, forget: 2,
    newAccount: 16, recoverAccounts: 17, firstIdentity: 18,
    readURL: 32, replayRoster: 33, openPreview: 34, openGrant: 35, openInvitation: 36, accept: 37,
    openRecord: 48,
};
