import SealKit

/// What a device has of the tree, kept by its feed.
struct ModelLeaves {
    var records: [String: Record] = [:]
    var token: ServerChangeToken?
    /// The shares that its person was in when it began to read.
    var joined: Set<String> = []

    static func new(_ name: String, _ zone: RecordZone.ID) -> Record {
        Record(recordType: ModelTree.type, recordID: Record.ID(recordName: name, zoneID: zone))
    }

    static func set(_ number: Int, in record: inout Record) {
        record["n"] = number
        record.encryptedValues["x"] = "leaf \(number)"
    }

    /// - Throws: where it holds something else than the model's.
    static func compare(_ record: Record, _ leaf: ModelTree.Leaf, _ what: String) throws(Finding) {
        let number: Int? = record["n"]
        let text: String? = record.encryptedValues["x"]
        let name = record.recordID.recordName
        try check(
            number == leaf.number && text == "leaf \(leaf.number)", "\(what): \(name) has \(number ?? -1) and \(text ?? "no text"), not \(leaf.number)")
        try check(
            record.parent?.recordName == leaf.parent, "\(what): \(name) has parent \(record.parent?.recordName ?? "none"), not \(leaf.parent ?? "none")")
        try check(record.share?.recordName == leaf.share, "\(what): \(name) names share \(record.share?.recordName ?? "none")")
    }
}
