import SealWire

extension Sealkit_V1_SubscriptionResult {
    /// One item's outcome, which may be its failure (`ServerError.isOfItem`). Anything else ends the request.
    init(_ id: String, _ body: () throws -> OneOf_Outcome) throws {
        self.init()
        subscriptionID = id
        do {
            outcome = try body()
        } catch let error as ServerError where error.isOfItem {
            failure = error.failure
        }
    }
}
