import SealEnvelope
import SealPrimitives
import SealStatements
import Synchronization

/// Where an operation's uploads are noted: before the first byte of one leaves this device, and when the server has all
/// of it. Another process goes on under the same file key with the same bytes alone: it seals all of them again first,
/// and compares the root.
final class UploadJournal: Sendable {
    struct Field: Hashable, Sendable {
        let recordID: Record.ID
        let key: String
    }

    /// What was noted of one.
    enum Kept: Sendable {
        case begun(fileKey: SecretBytes, salt: Digest, id: ID16, size: UInt64, root: Digest)
        case finished(Asset.Remote, noted: Int64)
    }

    private let rows: OperationRows
    private let names: [Field: String]
    private let kept: Mutex<[Field: Kept]>

    /// - Parameters:
    ///   - records: of the operation, in its order.
    ///   - steps: what was noted before.
    init(_ rows: OperationRows, of records: [Record], steps: [String: [UInt8]]) throws(SealKitError) {
        self.rows = rows
        var names: [Field: String] = [:]
        var kept: [Field: Kept] = [:]
        for (index, record) in records.enumerated() {
            // Numbered: a field's name is in no row that is not sealed.
            for (number, key) in record.fields.keys.enumerated() {
                guard case .asset? = record.fields[key] else { continue }
                let (field, name) = (Field(recordID: record.recordID, key: key), "asset/\(index).\(number)")
                names[field] = name
                guard let bytes = steps[name] else { continue }
                kept[field] = try rows.reading { () throws(SealError) in try Kept(bytes) }
            }
        }
        self.names = names
        self.kept = Mutex(kept)
    }

    /// What the server has all of, and a record may still name: what none does is kept for a day.
    func finished(_ field: Field, at now: Int64) -> Asset.Remote? {
        guard case .finished(let remote, let noted)? = kept.withLock({ $0[field] }),
            OperationJournal.isWithinServersDay(noted, at: now)
        else { return nil }
        return remote
    }

    func begun(_ field: Field) -> Kept? {
        let found = kept.withLock { $0[field] }
        guard case .begun? = found else { return nil }
        return found
    }

    /// On the disk when it returns.
    func note(_ step: Kept, of field: Field) async throws(SealKitError) {
        // One that belongs to no record of the operation is made anew by whoever goes on with it.
        guard let name = names[field] else { return }
        try await rows.put(step.bytes(), as: name)
        kept.withLock { $0[field] = step }
    }
}

extension UploadJournal.Kept {
    fileprivate func bytes() -> [UInt8] {
        var writer = CanonicalWriter()
        switch self {
        case .begun(let fileKey, let salt, let id, let size, let root):
            writer.number(UInt8(1))
            writer.secret(fileKey)
            writer.digest(salt)
            writer.id(id)
            writer.number(size)
            writer.digest(root)
        case .finished(let remote, let noted):
            writer.number(UInt8(2))
            writer.remote(remote)
            writer.time(noted)
        }
        return writer.bytes
    }

    fileprivate init(_ bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        switch try reader.byte() {
        case 1:
            let fileKey = try reader.secret()
            let salt = try reader.digest()
            let id = try reader.id()
            let size = try reader.number(UInt64.self)
            self = .begun(fileKey: fileKey, salt: salt, id: id, size: size, root: try reader.digest())
        case 2:
            let remote = try reader.remote()
            self = .finished(remote, noted: try reader.number())
        default: throw .malformed
        }
        try reader.finish()
    }
}
