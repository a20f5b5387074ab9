/// Something that a check of a data folder found wrong: of which kind, how often, and what to do.
package struct Finding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// SQLite's own: pages, indexes, references.
        case database
        case missingBlob = "missing-blob"
        case wrongSize = "wrong-size"
        case wrongSum = "wrong-sum"
        case unknownFile = "unknown-file"
        /// Rows that belong to others which are not there.
        case records
        /// Places, runs and rosters: what change tokens go by.
        case feeds
        /// What accounts are billed for.
        case sums
    }

    package let kind: Kind
    /// A sentence without its end: counts and file names, of no one's content.
    package let what: String
    package let remedy: String

    package init(_ kind: Kind, _ what: String, remedy: String) {
        (self.kind, self.what, self.remedy) = (kind, what, remedy)
    }
}
