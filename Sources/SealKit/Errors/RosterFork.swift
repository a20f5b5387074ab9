import SealPrimitives
import SealStatements

/// The server's roster of a zone and the one that this device has verified go on differently from some entry on.
///
/// It takes the zone's owner to end that: `Database.endFork(of:abandoning:)`; of a hierarchical share
/// `Database.endFork(of:shareRecordName:abandoning:)`.
public struct RosterFork: Sendable, Hashable {
    /// The zone whose roster has two branches.
    public let zoneID: RecordZone.ID
    /// Of a hierarchy that is shared by itself; nil for the zone.
    public let shareRecordName: String?
    /// Where the branch ends that this device has verified.
    public let head: Head
    /// Of the zone: elsewhere its name is another one's.
    package let containerIdentifier: String
    package let environment: Container.Environment

    init(of scope: Scope, in zoneID: RecordZone.ID, head: Head) {
        self.zoneID = zoneID
        shareRecordName = scope.shareRecordName.isEmpty ? nil : scope.shareRecordName
        self.head = head
        containerIdentifier = scope.container
        environment = scope.environment == .production ? .production : .development
    }

    /// An end of a roster: `17:` and 64 hexadecimal digits.
    public struct Head: Sendable, Hashable, LosslessStringConvertible {
        /// The number of its newest entry; the first one is 0.
        public let sequence: UInt64
        let hash: Digest

        init(_ head: RosterChange.AbandonedHead) { (sequence, hash) = (head.sequence, head.hash) }

        var abandoned: RosterChange.AbandonedHead { RosterChange.AbandonedHead(sequence: sequence, hash: hash) }

        /// nil for anything but what `description` gives.
        public init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let sequence = UInt64(parts[0]), String(sequence) == parts[0],
                let bytes = try? Hex.decode(String(parts[1])), let hash = try? Digest(bytes)
            else { return nil }
            (self.sequence, self.hash) = (sequence, hash)
        }

        public var description: String { "\(sequence):\(hash.hex)" }
    }
}
