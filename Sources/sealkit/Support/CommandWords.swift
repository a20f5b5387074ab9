import SealKit

/// What the SDK's and the server's errors advise in the words of an app's code, in those of this command line.
///
/// Here is the one list of them: a test holds every text of both against it.
enum CommandWords {
    static let phrases: [(ofCode: String, ofCommand: String)] = [
        ("name its PEM file as the transport's certificateAuthorityFile", "name its PEM file with --ca-file"),
        (
            "the file that was named as the transport's certificateAuthorityFile",
            "the file that was named with --ca-file"
        ),
        ("with move(in:to:trust:)", "with sealkit account move"),
        ("open it with that container", "name both with --container and --environment"),
        (
            "use an account on that server, or make one there",
            "name the key file of an account there with --key-file; sealkit share accept makes one where there is none"
        ),
        (
            "Ask its operator for a registration code, and send it along.",
            "Ask its operator for a code, and give it with --registration-code."
        ),
        ("its operator has to start it with that origin", "its operator has to start it with that --origin"),
        ("with rotateKeys(trust:show:)", "with sealkit account rotate-keys"),
        ("with rotateKeys(of:)", "with sealkit zone rotate"),
        ("with rekey(_:)", "with sealkit zone rekey"),
        ("with accept(_:)", "with sealkit record accept"),
        ("with createServerKey(name:)", "with sealkit server-key create"),
        (
            "fetch records with fetchingAssets(.onDemand), and download(_:of:to:) what you want",
            "fetch it with sealkit record asset"
        ),
        ("settleShares(in:) moves it out", "sealkit zone maintain moves it out"),
        ("with endFork(of:)", "with sealkit zone end-fork"),
        ("with endFork(of:abandoning:)", "with sealkit zone end-fork --abandon"),
        ("with endFork(of:shareRecordName:)", "with sealkit zone end-fork --share"),
        ("with endFork(of:shareRecordName:abandoning:)", "with sealkit zone end-fork --share --abandon"),
        (
            "save what you have of it with the policy restoring, or delete it with that",
            "sealkit record get --restoring shows what it has, sealkit record save --restoring saves it again, and sealkit record delete --restoring gives it up"
        ),
        (
            "save anything over it with the policy restoring and the parent it had, and delete that",
            "save anything over it with sealkit record save --restoring and the parent it had, and delete that"
        ),
        (
            "save what you still have of it, with the policy restoring, or delete it with that",
            "save what you still have of it with sealkit record save --restoring, or give it up with sealkit record delete --restoring"
        ),
        ("save over it with the policy allKeys", "save over it with sealkit record save --overwrite"),
        ("merge into serverRecord and save that", "look at what it has now, and save your change again with --update"),
        ("saving again reports serverRecordChanged if it was", "saving again reports a conflict if it was"),
        ("make it with Asset(fileURL:)", "name a file with --asset"),
        (
            "make a new Asset of the file, or take the server's record",
            "name the file again with --asset, or take what the server has"
        ),
        ("download it, and make a new Asset of the file", "fetch it with sealkit record asset, and save that file"),
        ("share it with save(_:rootRecord:)", "share it with sealkit share create --record"),
        (
            "use save(_:rootRecord:), or modifyRecords(saving:shares:) with the root among the records",
            "share it with sealkit share create --record"
        ),
        ("make it with Share(rootRecord:)", "share it with sealkit share create --record"),
        ("save a Share with its root record first", "share it first with sealkit share create --record"),
        ("save a Share for it first", "share it first with sealkit share create"),
        ("save a Share anew", "share it anew with sealkit share create"),
        ("fetch it with share(withID:) and change that", "see it with sealkit share show and change that"),
        ("set publicPermission to none", "close it with sealkit share public ZONE none"),
        ("change the role, or publicPermission", "use sealkit share role, or sealkit share public"),
        ("whose encryption scope is perRecord", "whose encryption scope is per-record"),
        ("Set it through encryptedValues.", "Give it with --seal."),
        ("with deleteSelf", "such that they are deleted along"),
        ("open it with FileKeyStore", "name it with --key-file"),
        ("load it from a KeyStore, or pass `keep` to keep its seeds yourself", "name its key file with --key-file"),
        (
            "Fetch the database's changes; save the zone first if it is to be made.",
            "sealkit zone list shows the zones, sealkit zone create makes one."
        ),
        (
            "Fetch the zone's changes; save the share with its root first if it is to be made.",
            "Share it first with sealkit share create --record."
        ),
        ("Fetch the zone's changes to see what there is.", "sealkit record list shows what there is."),
        ("fetch the zone's changes instead", "look through sealkit record list instead"),
        (
            "Verify the invited address, then try again.",
            "sealkit share accept asks for the address, and for the code that is sent to it."
        ),
        (
            "Save the zone again, and upload what you have.",
            "Make it again with sealkit zone create, and save in it what you have."
        ),
        ("Fetch the records and compare on the device.", "Look through sealkit record list."),
        (
            "use DatabaseSubscription, RecordZoneSubscription or QuerySubscription",
            "make one with sealkit subscription create"
        ),
    ]

    static func of(_ text: String) -> String {
        phrases.reduce(text) { $0.replacing($1.ofCode, with: $1.ofCommand) }
    }
}

extension SealKitError {
    /// The reason as this command line says it.
    var said: String { CommandWords.of(reason) }
    /// The remedy as this command line says it. What ends a fork is spelled out, so that it can be handed on to whoever
    /// has to call it.
    /// - Parameter global: of the command that has failed; nil for one that has none.
    func advice(after global: GlobalOptions?) -> String {
        let text = CommandWords.of(remedy)
        guard let fork = rosterFork else { return text }
        let own = "sealkit zone end-fork" + (fork.shareRecordName == nil ? "" : " --share")
        let owners = "\(own) --abandon"
        let isOwners = text.contains(owners)
        // Whoever owns the zone has another account; its name is of one container and environment.
        let account: [AdvisedCommand.Given] = isOwners ? [] : global?.givenAccount ?? []
        let place: [AdvisedCommand.Given] = [
            ("container", fork.containerIdentifier), ("environment", fork.environment.rawValue),
            ("share", fork.shareRecordName),
        ]
        let command = AdvisedCommand.line(
            "zone end-fork", account + place, isOwners ? " --abandon \(fork.head)" : "",
            argument: fork.zoneID.zoneName)
        return text.replacing(isOwners ? owners : own, with: command)
    }
}

extension Violation {
    /// As with an error.
    var said: String { CommandWords.of(reason) }
}
