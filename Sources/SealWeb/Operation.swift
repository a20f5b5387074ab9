/// What the host may ask of the module, by number: `operations.mjs` has the same ones.
enum Operation: UInt32 {
    // Of the module
    case about = 1
    case forget = 2
    // Of one's account
    case newAccount = 16
    case recoverAccounts = 17
    case firstIdentity = 18
    // Of a share
    case readURL = 32
    case replayRoster = 33
    case openPreview = 34
    case openGrant = 35
    case openInvitation = 36
    case accept = 37
    // Of records
    case openRecord = 48
}
