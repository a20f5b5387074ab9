import SealStatements
import SealStorage
import SealWire

/// One request to modify records, with who sends it and where it is about.
struct SaveRequest: Sendable {
    let message: Sealkit_V1_ModifyRecordsRequest
    let session: Session
    let path: DatabasePath
    let operation: RepeatableOperation
    /// Records of which some fields come as digests: their bytes are in what the server has.
    let carrying: [String]

    /// - Throws: `limitExceeded`; `invalidArguments` for an id of another length.
    init(
        _ message: Sealkit_V1_ModifyRecordsRequest, _ session: Session, _ path: DatabasePath
    ) throws(ServerError) {
        operation = try RepeatableOperation(message, of: Endpoints.records.modify, path, message.operationContent)
        try RequestItems.check(
            message.records.count + message.openings.count + message.closings.count, "records")
        try message.checkBytes()
        (self.message, self.session, self.path) = (message, session, path)
        carrying = message.records.filter { record in
            record.fields.contains { if case .omitted = $0.content { true } else { false } }
        }.map(\.recordName).filter(Names.isPlain)
    }

    /// Where the same user's saves to the same zone are remembered.
    var groundKey: SaveGround.Key {
        SaveGround.Key(
            account: session.accountID, path: path, ownerName: message.zone.ownerName, zoneName: message.zone.zoneName)
    }
}
