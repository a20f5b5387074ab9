import SealPrimitives
import SealWire

/// Where a batch notes what it is about to send, so that another process can go on with it.
struct ZoneJournal: Sendable {
    let rows: OperationRows
    let uploads: UploadJournal
    /// Which of the operation's zones it is.
    let zone: Int

    private var requestName: String { "request/\(zone)" }
    private var outcomeName: String { "outcome/\(zone)" }

    /// On the disk when it returns, in the place of the batch's request before, whose answer has been taken in.
    func willSend(_ request: KeptRequest) async throws(SealKitError) {
        try await rows.put(try rows.reading { () throws(SealError) in try request.bytes() }, as: requestName)
    }

    /// What all of the zone's items have become. What led there is of no use any more.
    func hasEnded(_ results: ModificationResults) async throws(SealKitError) {
        let bytes = try rows.reading { () throws(SealError) in
            var writer = CanonicalWriter(capacity: 4096)
            try results.write(to: &writer)
            return writer.bytes
        }
        try await rows.put(bytes, as: outcomeName, removing: [requestName])
    }

    /// What all of the zone's items have become, where they have.
    func outcome(in steps: [String: [UInt8]]) throws(SealKitError) -> ModificationResults? {
        guard let bytes = steps[outcomeName] else { return nil }
        return try rows.reading { () throws(SealError) in
            var reader = CanonicalReader(bytes)
            let results = try ModificationResults(reading: &reader)
            try reader.finish()
            return results
        }
    }

    /// What was sent last, or was about to be.
    func request(in steps: [String: [UInt8]]) throws(SealKitError) -> KeptRequest? {
        guard let bytes = steps[requestName] else { return nil }
        return try rows.reading { () throws(SealError) in try KeptRequest(bytes) }
    }
}
