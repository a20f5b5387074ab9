extension Endpoints {
    public static let people = PeopleEndpoints()
}

/// People by their handles, and addresses that they have proven.
public struct PeopleEndpoints: Sendable {
    public let lookup = Endpoint<BySession, Sealkit_V1_LookupIdentitiesRequest, Sealkit_V1_LookupIdentitiesResponse>(
        "directory/lookup", path: "1/directory/lookup", BySession(needsUser: false),
        again: .read, work: .sharing,
        refusals: [.message, .session, .code(.badContainer)],
        about: """
            identity chains by user record name, or by address where its account allows that; one result for each \
            handle, in order
            """)

    public let beginVerification = Endpoint<
        BySession, Sealkit_V1_BeginVerificationRequest, Sealkit_V1_BeginVerificationResponse
    >(
        "verification/begin", path: "1/verification/begin", BySession(needsUser: true),
        again: .once, work: .sharing,
        refusals: [
            .message, .session, .stored, .code(.badContainer), .code(.serverRejectedRequest),
            .code(.permissionFailure),
        ],
        about: """
            sends a code to an address. Without an identity in the container: `permissionFailure`. Without a way to that \
            kind of address: `serverRejectedRequest`. Again: one more code, another id, and it counts
            """)

    public let completeVerification = Endpoint<
        BySession, Sealkit_V1_CompleteVerificationRequest, Sealkit_V1_CompleteVerificationResponse
    >(
        "verification/complete", path: "1/verification/complete", BySession(needsUser: false),
        again: .once, work: .sharing,
        refusals: [.message, .session, .stored, .code(.verificationFailed)],
        about: """
            the code comes back under `Sign(identity key, verification-code, …)`; the address is the account's from then \
            on. The answer is a verification token. Every try counts. Again: `verificationFailed`, since the code is \
            used up; the address stays proven, so that its owner may accept without a token
            """)

    public let listAddresses = Endpoint<BySession, Sealkit_V1_ListAddressesRequest, Sealkit_V1_ListAddressesResponse>(
        "addresses/list", path: "1/addresses/list", BySession(needsUser: false),
        again: .read, work: .sharing,
        refusals: [.message, .session],
        about: "the account's proven addresses, by ids")

    public let updateAddress = Endpoint<BySession, Sealkit_V1_UpdateAddressRequest, Sealkit_V1_UpdateAddressResponse>(
        "addresses/update", path: "1/addresses/update", BySession(needsUser: false),
        again: .same, work: .sharing,
        refusals: [.message, .session, .stored, .code(.unknownItem)],
        about: "whether look-ups find the account by it")

    public let unlinkAddress = Endpoint<BySession, Sealkit_V1_UnlinkAddressRequest, Sealkit_V1_UnlinkAddressResponse>(
        "addresses/unlink", path: "1/addresses/unlink", BySession(needsUser: false),
        again: .same, work: .sharing,
        refusals: [.message, .session, .stored],
        about: "the address is nobody's from then on; again: `was_linked` is false")
}
