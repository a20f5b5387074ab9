import Foundation
import SealKit

/// What came of a record beside its fields, and the state that the model took it for. Of several orders that explain
/// the fields it tells which one was the real one: the same statement under the same tag is the same state.
struct Sighting {
    private let name: String
    /// Change tag, dates, statement, and the digests of all fields, whichever of them came.
    private let version: Data
    private let creator: String?
    private let stored: ModelStore.Stored

    init(_ record: Record, as stored: ModelStore.Stored) {
        name = record.recordID.recordName
        // Before them the names, which differ from one person to another: the owner's own zone has no owner's name.
        let names = Record(recordType: record.recordType, recordID: record.recordID).encodeSystemFields()
        version = record.encodeSystemFields().dropFirst(names.count)
        creator = record.creatorUserRecordID?.recordName
        self.stored = stored
    }

    /// How many pairs there are of which one says what the other denies. An order is chosen by it and none refused:
    /// the server may tell two states of a record apart where the model need not know why.
    static func contradictions(among sightings: [Sighting]) -> Int {
        var count = 0
        for (index, one) in sightings.enumerated() {
            for other in sightings[..<index] {
                if one.name == other.name,
                    (one.version == other.version) != (one.stored.version == other.stored.version)
                {
                    count += 1
                }
                if (one.creator == other.creator) != (one.stored.creator == other.stored.creator) { count += 1 }
            }
        }
        return count
    }
}
