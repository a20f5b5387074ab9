import SealWire

extension Sealkit_V1_ZoneResult {
    /// One item's outcome: what the server refuses about it is the item's failure. What passes by itself ends the
    /// request, as does anything else.
    init(_ id: Sealkit_V1_ZoneID, _ body: () throws -> OneOf_Outcome) throws {
        self.init()
        zoneID = id
        do {
            outcome = try body()
        } catch let error as ServerError where error.code != .internalError && error.code != .zoneBusy {
            failure = error.failure
        }
    }
}
