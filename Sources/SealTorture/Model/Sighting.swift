import SealKit

/// What came of a record beside its fields, and the state that the model took it for. Of several orders that explain
/// the fields it tells which one was the real one: the same change tag is the same state.
struct Sighting {
    private let name: String
    private let changeTag: String?
    private let creator: String?
    private let stored: ModelStore.Stored

    init(_ record: Record, as stored: ModelStore.Stored) {
        name = record.recordID.recordName
        changeTag = record.recordChangeTag
        creator = record.creatorUserRecordID?.recordName
        self.stored = stored
    }

    /// How many pairs there are of which one says what the other denies. An order is chosen by it and none refused:
    /// the server gives a record a new tag, or keeps the one it has, where the model need not know of it.
    static func contradictions(among sightings: [Sighting]) -> Int {
        var count = 0
        for (index, one) in sightings.enumerated() {
            for other in sightings[..<index] {
                if one.name == other.name,
                    (one.changeTag == other.changeTag) != (one.stored.version == other.stored.version)
                {
                    count += 1
                }
                if (one.creator == other.creator) != (one.stored.creator == other.stored.creator) { count += 1 }
            }
        }
        return count
    }
}
