import Foundation

@testable import SealKit

extension Person {
    /// Saves a record with a file of so many bytes.
    @discardableResult
    func saveFile(_ name: String, in zone: RecordZone.ID, bytes: Int, folder: URL) async throws -> Record {
        let file = folder.appendingPathComponent("original-" + name)
        try Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }).write(to: file)
        var record = note(in: zone, name, name: name)
        record["file"] = Asset(fileURL: file)
        return try await own.save(record)
    }

    func hasFile(_ name: String, in zone: RecordZone.ID, bytes: Int) async throws -> Bool {
        let found = try await own.record(for: Record.ID(recordName: name, zoneID: zone))
        guard let asset = found["file"] as Asset?, let url = asset.fileURL else { return false }
        return try Data(contentsOf: url) == Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })
    }
}
