import SealStatements
import SealStorage
import SealWire

/// One request to modify records, with who sends it and where it is about.
struct SaveRequest: Sendable {
    let message: SaveMessage
    let session: Session
    let path: DatabasePath
    let operation: RepeatableOperation
    /// Records of which some fields come as digests: their bytes are in what the server has.
    let carrying: [String]

    /// - Throws: `limitExceeded`; `invalidArguments` for an id of another length.
    init(
        _ message: SaveMessage, _ session: Session, _ path: DatabasePath
    ) throws(ServerError) {
        operation = try RepeatableOperation(
            message.head, of: Endpoints.records.modify, path, message.operationContent)
        try RequestItems.check(
            message.records.count + message.head.openings.count + message.head.closings.count, "records")
        try message.checkBytes()
        (self.message, self.session, self.path) = (message, session, path)
        carrying = message.records.filter { $0.fields.contains(where: \.isOmitted) }.map(\.recordName)
            .filter(Names.isPlain)
    }

    /// Where the same user's saves to the same zone are remembered.
    var groundKey: SaveGround.Key {
        SaveGround.Key(
            account: session.accountID, path: path, ownerName: message.head.zone.ownerName,
            zoneName: message.head.zone.zoneName)
    }
}

extension SentField {
    /// It came as a digest: its bytes stay what they are.
    fileprivate var isOmitted: Bool {
        if case .message(let field) = content, case .omitted = field.content { true } else { false }
    }
}
