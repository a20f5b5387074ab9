import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements

/// What rows of a journal are made of. Nobody but this account's devices can have made them, so what was verified
/// before is not verified again.
extension CanonicalWriter {
    mutating func time(_ microseconds: Int64) { number(microseconds) }

    mutating func data(_ data: Data) { blob([UInt8](data)) }

    mutating func configuration(_ configuration: OperationConfiguration) {
        number(UInt8(truncatingIfNeeded: configuration.qualityOfService.rawValue))
        number(configuration.timeoutIntervalForRequest.bitPattern)
        number(configuration.timeoutIntervalForResource.bitPattern)
    }

    mutating func secret(_ secret: SecretBytes) { raw(secret.copyBytes()) }

    mutating func zone(_ id: RecordZone.ID) {
        string(id.zoneName)
        string(id.ownerName)
    }

    mutating func recordID(_ id: Record.ID) {
        zone(id.zoneID)
        string(id.recordName)
    }

    /// - Throws: `malformed` for a value that no record may have.
    mutating func record(_ record: Record) throws(SealError) {
        data(record.encodeSystemFields())
        flag(record.base != nil && record.recordChangeTag != nil)
        if let base = record.base, record.recordChangeTag != nil {
            flag(base.isUnverified)
            flag(base.recordKey != nil)
            if let key = base.recordKey { secret(key) }
            flag(base.fields != nil)
            if let known = base.fields { try fields(known) }
        }
        try fields(record.fields)
        number(UInt32(record.changed.count))
        for key in record.changed.sorted() { string(key) }
        reference(record.parent)
        reference(record.share)
    }

    private mutating func fields(_ fields: FieldList<Record.FieldState>) throws(SealError) {
        number(UInt32(fields.count))
        for (key, state) in fields {
            string(key)
            switch state {
            case .plain(let value):
                number(UInt8(0))
                blob(try value.canonicalBytes())
            case .encrypted(let value):
                number(UInt8(1))
                blob(try value.canonicalBytes())
            case .asset(let value):
                number(UInt8(2))
                asset(value)
            case .omitted: number(UInt8(3))
            }
        }
    }

    private mutating func reference(_ reference: Record.Reference?) {
        optionalString(reference?.recordName)
        if let reference { number(UInt8(reference.action == .none ? 0 : 1)) }
    }

    private mutating func asset(_ asset: Asset) {
        optionalString(asset.fileURL?.path)
        flag(asset.remote != nil)
        if let stored = asset.remote { remote(stored) }
    }

    mutating func remote(_ remote: Asset.Remote) {
        switch remote.content {
        case .sealed(let asset):
            number(UInt8(0))
            secret(asset.fileKey)
            digest(asset.salt)
            number(asset.size)
            number(asset.chunkCount)
            digest(asset.root)
        case .plain(let asset):
            number(UInt8(1))
            number(asset.size)
            digest(asset.root)
        }
        string(remote.blob)
        recordID(remote.recordID)
        string(remote.key)
        flag(remote.author != nil)
        if let author = remote.author { id(author.id) }
    }

    /// What is for a person to accept, and where two rosters part, the next reading tells anew.
    mutating func error(_ error: SealKitError) throws(SealError) {
        string(error.code.rawValue)
        string(error.reason)
        string(error.remedy)
        flag(error.retryAfter != nil)
        if let seconds = error.retryAfter { number(seconds.bitPattern) }
        flag(error.userDidResetEncryptedDataKey)
        for record in [error.serverRecord, error.clientRecord, error.ancestorRecord] {
            flag(record != nil)
            if let record { try self.record(record) }
        }
    }
}

extension CanonicalReader {
    /// No row is larger.
    private static var most: Int { Int(OperationJournal.mostBytes) }

    mutating func text() throws(SealError) -> String { try string(atMost: Self.most) }

    mutating func data() throws(SealError) -> Data { Data(try blob(atMost: Self.most)) }

    mutating func configuration() throws(SealError) -> OperationConfiguration {
        guard let quality = QualityOfService(rawValue: Int(Int8(bitPattern: try byte()))) else { throw .malformed }
        return OperationConfiguration(
            qualityOfService: quality, timeoutIntervalForRequest: Double(bitPattern: try number()),
            timeoutIntervalForResource: Double(bitPattern: try number()))
    }

    mutating func secret() throws(SealError) -> SecretBytes {
        var bytes = try raw(32)
        return SecretBytes(taking: &bytes)
    }

    mutating func zone() throws(SealError) -> RecordZone.ID {
        RecordZone.ID(zoneName: try text(), ownerName: try text())
    }

    mutating func recordID() throws(SealError) -> Record.ID {
        let zone = try zone()
        return Record.ID(recordName: try text(), zoneID: zone)
    }

    mutating func record() throws(SealError) -> Record {
        let systemFields = try data()
        var record: Record
        do throws(SealKitError) { record = try Record(systemFields: systemFields) } catch { throw .malformed }
        if try flag() {
            record.base?.isUnverified = try flag()
            if try flag() { record.base?.recordKey = try secret() }
            if try flag() { record.base?.fields = try fields() }
        }
        record.fields = try fields()
        record.changed = []
        for _ in 0..<(try count(UInt32.self, ofAtLeast: 4)) { record.changed.insert(try text()) }
        record.parent = try reference()
        record.share = try reference()
        return record
    }

    private mutating func fields() throws(SealError) -> FieldList<Record.FieldState> {
        var fields = FieldList<Record.FieldState>()
        for _ in 0..<(try count(UInt32.self, ofAtLeast: 5)) {
            let key = try text()
            switch try byte() {
            case 0: fields[key] = .plain(try Value(canonicalBytes: try blob(atMost: Self.most)))
            case 1: fields[key] = .encrypted(try Value(canonicalBytes: try blob(atMost: Self.most)))
            case 2: fields[key] = .asset(try asset())
            case 3: fields[key] = .omitted
            default: throw .malformed
            }
        }
        return fields
    }

    private mutating func reference() throws(SealError) -> Record.Reference? {
        guard let name = try optionalString(atMost: Self.most) else { return nil }
        return Record.Reference(recordName: name, action: try byte() == 0 ? .none : .deleteSelf)
    }

    private mutating func asset() throws(SealError) -> Asset {
        let path = try optionalString(atMost: Self.most)
        let stored = try flag() ? try remote() : nil
        guard let path else {
            guard let stored else { throw .malformed }
            return Asset(remote: stored)
        }
        var asset = Asset(fileURL: URL(fileURLWithPath: path))
        asset.remote = stored
        return asset
    }

    mutating func remote() throws(SealError) -> Asset.Remote {
        let content: Asset.Remote.Content
        switch try byte() {
        case 0:
            let key = try secret()
            let salt = try digest()
            let size = try number(UInt64.self)
            let chunks = try number(UInt64.self)
            content = .sealed(
                SealedAsset(fileKey: key, size: size, salt: salt, chunkCount: chunks, root: try digest()))
        case 1:
            let size = try number(UInt64.self)
            content = .plain(PublicAsset(size: size, root: try digest()))
        default: throw .malformed
        }
        let blob = try text()
        let recordID = try recordID()
        let key = try text()
        return Asset.Remote(
            content: content, blob: blob, recordID: recordID, key: key,
            author: try flag() ? UserID(try id()) : nil)
    }

    mutating func error() throws(SealError) -> SealKitError {
        let code = SealKitError.Code(rawValue: try text())
        let reason = try text()
        let remedy = try text()
        let retryAfter = try flag() ? Double(bitPattern: try number(UInt64.self)) : nil
        let isReset = try flag()
        var records: [Record?] = []
        for _ in 0..<3 { records.append(try flag() ? try record() : nil) }
        return SealKitError(
            code, reason, remedy: remedy, retryAfter: retryAfter, serverRecord: records[0], clientRecord: records[1],
            ancestorRecord: records[2], userDidResetEncryptedDataKey: isReset)
    }
}
