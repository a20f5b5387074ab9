import SealClient
import SealPrimitives
import SealStatements

extension SealKitError {
    /// What a client's judgement refuses, said to apps.
    /// - Parameter zoneID: the scope's zone, as this account names it.
    init(_ error: ClientError, of scope: Scope, in zoneID: RecordZone.ID) {
        let zone = "the zone \(scope.zoneName)"
        self =
            switch error {
            case .invalid(let error): .integrity(error, "the roster of \(zone)")
            case .unknownScope:
                SealKitError(
                    .zoneNotFound, "there is no zone \(scope.zoneName)", remedy: "make it, or accept its share, first")
            case .forked(let head):
                SealKitError(
                    .rollback,
                    "the server shows another roster of \(zone) than this device has verified"
                        + (head.map { ", which ends with \(RosterFork.Head($0))" } ?? ""),
                    remedy: SealKitError.endOfFork(scope, isOwn: zoneID.isCurrentUsers),
                    rosterFork: head.map { RosterFork(of: scope, in: zoneID, head: RosterFork.Head($0)) })
            case .shortened:
                SealKitError(
                    .rollback, "the server shows an older roster of \(zone) than this device has verified",
                    remedy:
                        "it may have been restored from a backup; the owner's or an administrator's device gives it what it lost"
                )
            case .mended:
                SealKitError(
                    .rollback,
                    "the server had lost the newest entries of the roster of \(zone), and has them back from this device",
                    remedy:
                        "call again; it was probably restored from a backup: have the devices of all who take part come by before anything is written or shared there, for what they alone know of is lost otherwise, and save again what records it has lost"
                )
            case .endless:
                SealKitError(
                    .serverRejectedRequest, "the server says that a roster goes on, and gives nothing more of it",
                    remedy: "try again, and distrust a server that keeps doing so")
            case .unknownEnd:
                SealKitError(
                    .serverRejectedRequest, "the server's answer does not say where its roster ends")
            case .unknownHead: .integrity(.unknownRosterHead, "the roster of \(zone)")
            case .circle: .circle
            case .keysReplaced: .keysReplaced
            case .foreignKeys:
                SealKitError(
                    .integrityFailure,
                    "the roster of \(scope.zoneName) has keys of this account that none of its devices has made",
                    remedy:
                        "somebody had its former keys: renew them with rotateKeys(trust:show:), and tell those you share with"
                )
            case .notForked:
                SealKitError(
                    .invalidArguments, "the roster of \(zone) is not forked, as far as this device knows",
                    remedy: "name the head that a member's error gives")
            case .notAbandonable:
                SealKitError(
                    .invalidArguments, "the head that is to be given up is an entry of the server's roster",
                    remedy: "name the head that the error of the member gives who is shown another roster")
            case .yetAnotherBranch:
                SealKitError(
                    .invalidArguments, "this device has verified yet another branch",
                    remedy: "give up this device's own branch first")
            }
    }

    /// What a reader of records refuses, which the core decides each time.
    static func integrity(_ error: ClientError, _ subject: String) -> SealKitError {
        .integrity(error.reason ?? .wrongContext, subject)
    }

    /// What there is to do about a fork.
    private static func endOfFork(_ scope: Scope, isOwn: Bool) -> String {
        let distrust = "do not trust this server's answers about it"
        // A share's fork ends with the share.
        guard scope.shareRecordName.isEmpty else {
            return isOwn
                ? "\(distrust); to go on, end that share on a device that is shown no other roster, share its root anew there, and give up here what this device has verified, with endFork(of:shareRecordName:)"
                : "\(distrust); show its owner the end that this error names: the owner ends that share, shares its root anew, and gives this end up, with endFork(of:shareRecordName:abandoning:)"
        }
        return isOwn
            ? "\(distrust); compare with those who take part, and go on with what it shows, without what the zone holds, with endFork(of:)"
            : "\(distrust); show its owner the end that this error names: the owner goes on with what the server shows, without what the zone holds, with endFork(of:abandoning:)"
    }

    static let keysReplaced = SealKitError(
        .keysReplaced, "another device has given this account new keys, which this one does not have",
        remedy: "enrol this device again from one that has them, or recover the account on it")
}
