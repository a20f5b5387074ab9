import SealClient
import SealPrimitives
import SealStatements

/// Messages, the first byte choosing which: what is read is written in bytes that are read alike, and in no more of
/// them.
enum WireTarget: FuzzTarget {
    static let name = "wire"
    // Two bytes can stand for an empty record in a list, of which a message may have so many.
    static let allowance = 2_097_152
    static let seeds = messages.indices.map { index in Seed.made([UInt8(index)] + messages[index].seed) }

    static func run(_ input: [UInt8]) {
        guard let which = input.first, Int(which) < messages.count else { return }
        let bytes = [UInt8](input.dropFirst())
        guard let written = messages[Int(which)].again(bytes) else { return }
        require(written.count <= bytes.count, "a message that is written in more bytes than it had")
        require(messages[Int(which)].again(written) == written, "a message that is read otherwise once it is written")
    }

    private struct Kind {
        /// What was read, written again; nil for what is refused.
        let again: ([UInt8]) -> [UInt8]?
        let seed: [UInt8]

        init<Message: WireMessage>(_: Message.Type) {
            again = { bytes in
                guard let message = try? Message(protobuf: bytes) else { return nil }
                if let value = message as? Wire.Value { WireTarget.check(value) }
                if let field = message as? Wire.Field { WireTarget.check(field) }
                return message.protobuf()
            }
            var filler = WireFiller()
            seed = filler.message(Message.self).protobuf()
        }
    }

    /// A value that the core takes comes back as it was.
    private static func check(_ wire: Wire.Value) {
        guard let value = try? Value(wire) else { return }
        let again = certain("a value that was taken is written") { try Value(Wire.Value(value)) }
        // NaN differs from itself.
        require((try? again.canonicalBytes()) == (try? value.canonicalBytes()), "a value that comes back as another")
        require(value.fault == nil, "a value of a message has a fault")
    }

    private static func check(_ wire: Wire.Field) {
        guard let field = try? WireField(wire) else { return }
        let again = certain("a field that was taken is written") { try WireField(Wire.Field(field, name: wire.name)) }
        let digest = try? field.digest(name: wire.name)
        require((try? again.digest(name: wire.name)) == digest, "a field that comes back as another")
    }

    /// Whatever a server answers, and the requests whose parts it does not.
    private nonisolated(unsafe) static let messages = [
        Kind(Wire.Value.self), Kind(Wire.Field.self), Kind(Wire.Record.self), Kind(Wire.RecordChangesResponse.self),
        Kind(Wire.ZonesRecordChangesResponse.self), Kind(Wire.LookupRecordsResponse.self),
        Kind(Wire.ModifyRecordsResponse.self), Kind(Wire.ModifyRecordsRequest.self),
        Kind(Wire.FetchRostersResponse.self), Kind(Wire.AppendRosterRequest.self),
        Kind(Wire.ShareMetadataResponse.self), Kind(Wire.AcceptShareResponse.self), Kind(Wire.ShareOwnerResponse.self),
        Kind(Wire.SharePlaceResponse.self),
        Kind(Wire.LinksResponse.self), Kind(Wire.LookupZonesResponse.self), Kind(Wire.DatabaseChangesResponse.self),
        Kind(Wire.SessionResponse.self), Kind(Wire.CreateAccountRequest.self), Kind(Wire.DevicesResponse.self),
        Kind(Wire.RecoverResponse.self), Kind(Wire.RecoveryBundlesResponse.self), Kind(Wire.RotateKeysRequest.self),
        Kind(Wire.LookupIdentitiesResponse.self), Kind(Wire.EnrolmentStateResponse.self), Kind(Wire.UploadState.self),
        Kind(Wire.LimitsResponse.self), Kind(Wire.ModifySubscriptionsRequest.self),
        Kind(Wire.LookupSubscriptionsResponse.self), Kind(Wire.Notification.self), Kind(Wire.Failure.self),
        Kind(Wire.AbandonUploadResponse.self), Kind(Wire.AccountResponse.self), Kind(Wire.AppendRosterResponse.self),
        Kind(Wire.BeginVerificationResponse.self), Kind(Wire.ChallengeResponse.self),
        Kind(Wire.ClaimEnrolmentResponse.self), Kind(Wire.CompleteVerificationResponse.self),
        Kind(Wire.DeleteAccountResponse.self), Kind(Wire.EnrolmentResponse.self),
        Kind(Wire.FinishUploadResponse.self), Kind(Wire.ListSubscriptionsResponse.self),
        Kind(Wire.ModifySubscriptionsResponse.self), Kind(Wire.ModifyZonesResponse.self),
        Kind(Wire.OpenEnrolmentResponse.self), Kind(Wire.RegisterIdentityResponse.self),
        Kind(Wire.RequestShareAccessResponse.self),
    ]
}
