import SealWire

extension Sealkit_V1_ZoneResult {
    /// One item's outcome, which may be its failure (`ServerError.isOfItem`). Anything else ends the request.
    init(_ id: Sealkit_V1_ZoneID, _ body: () throws -> OneOf_Outcome) throws {
        self.init()
        zoneID = id
        do {
            outcome = try body()
        } catch let error as ServerError where error.isOfItem {
            failure = error.failure
        }
    }
}
