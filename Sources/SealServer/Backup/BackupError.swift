import SealStorage

/// Why there is no backup, none of it was put back, or nothing was moved. Neither it nor what it says has anything of a
/// key.
package struct BackupError: Error, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// What was given does not go together, or is in the way.
        case badInput
        case notFound
        /// Something is not what it was when it was written.
        case damaged
        /// Somebody else is at work there.
        case busy
        /// No room on the disk, or no right to write there.
        case cannotWrite
    }

    package let kind: Kind
    package let reason: String
    package let remedy: String

    init(_ kind: Kind, _ reason: String, remedy: String) {
        (self.kind, self.reason, self.remedy) = (kind, reason, remedy)
    }

    package var description: String { "\(reason) – \(remedy)" }
}
