import SealPrimitives

/// What has become of items so far.
struct ModificationResults: Sendable {
    var saves: [Record.ID: Result<Record, SealKitError>] = [:]
    var deletions: [Record.ID: Result<Void, SealKitError>] = [:]

    mutating func merge(_ other: ModificationResults) {
        saves.merge(other.saves) { $1 }
        deletions.merge(other.deletions) { $1 }
    }

    /// Why they are not all final: something stood in the way of every request now.
    var obstacle: SealKitError? {
        for case .failure(let error) in saves.values where error.isObstacle { return error }
        for case .failure(let error) in deletions.values where error.isObstacle { return error }
        return nil
    }

    /// Those that were stored.
    var successes: ModificationResults {
        ModificationResults(saves: saves.filter(\.value.isSuccess), deletions: deletions.filter(\.value.isSuccess))
    }

    func write(to writer: inout CanonicalWriter) throws(SealError) {
        writer.number(UInt32(saves.count))
        for (id, result) in saves.sorted(by: { $0.key.recordName < $1.key.recordName }) {
            writer.recordID(id)
            switch result {
            case .success(let record):
                writer.flag(true)
                try writer.record(record)
            case .failure(let error):
                writer.flag(false)
                try writer.error(error)
            }
        }
        writer.number(UInt32(deletions.count))
        for (id, result) in deletions.sorted(by: { $0.key.recordName < $1.key.recordName }) {
            writer.recordID(id)
            switch result {
            case .success: writer.flag(true)
            case .failure(let error):
                writer.flag(false)
                try writer.error(error)
            }
        }
    }

    init(
        saves: [Record.ID: Result<Record, SealKitError>] = [:], deletions: [Record.ID: Result<Void, SealKitError>] = [:]
    ) {
        (self.saves, self.deletions) = (saves, deletions)
    }

    init(reading reader: inout CanonicalReader) throws(SealError) {
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 13)) {
            let id = try reader.recordID()
            saves[id] = try reader.flag() ? .success(try reader.record()) : .failure(try reader.error())
        }
        for _ in 0..<(try reader.count(UInt32.self, ofAtLeast: 13)) {
            let id = try reader.recordID()
            deletions[id] = try reader.flag() ? .success(()) : .failure(try reader.error())
        }
    }
}
