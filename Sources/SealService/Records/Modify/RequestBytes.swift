import SealStorage
import SealWire

extension SaveMessage {
    /// What a request's records may take, assets not counted.
    package static let largest = 2 * 1024 * 1024

    /// - Throws: `limitExceeded`.
    func checkBytes() throws(ServerError) {
        var room = Self.largest
        for record in records {
            room -= record.recordName.utf8.count + record.statement.count
            for field in record.fields { room -= field.storedBytes }
        }
        guard room >= 0 else {
            throw ServerError(
                .limitExceeded, "A request's records take at most \(Self.largest) bytes.",
                remedy: "Send half of them at once; put large values into assets.")
        }
    }
}

extension SentField {
    /// What an author decides of it: name and value.
    fileprivate var storedBytes: Int {
        switch content {
        case .encrypted(_, let sealed, _): name.utf8.count + sealed.count
        case .message(let field): field.storedBytes
        }
    }
}

extension Sealkit_V1_Field {
    fileprivate var storedBytes: Int {
        let content =
            switch content {
            case .plain(let value): value.storedBytes
            case .encrypted(let value): value.sealed.count
            case .asset(let asset): asset.descriptor.count + asset.blob.utf8.count
            case .publicAsset(let asset): asset.blob.utf8.count
            case .omitted, nil: 0
            }
        return name.utf8.count + content
    }
}

extension Sealkit_V1_Value {
    fileprivate var storedBytes: Int {
        switch kind {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        case .reference(let reference): reference.recordName.utf8.count
        case .list(let list): list.values.reduce(0) { $0 + $1.storedBytes }
        case .location: 64
        case .int64, .double, .date, nil: 8
        }
    }
}
