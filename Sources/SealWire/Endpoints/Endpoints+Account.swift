extension Endpoints {
    public static let accounts = AccountEndpoints()
}

/// Accounts: logging in, identities, keys and their recovery.
public struct AccountEndpoints: Sendable {
    public let challenge = Endpoint<ByAnyone, Sealkit_V1_ChallengeRequest, Sealkit_V1_ChallengeResponse>(
        "accounts/challenge", path: "1/accounts/challenge", ByAnyone(),
        again: .read, work: .request,
        refusals: [.message],
        about: #"gives a challenge ("Logging in")"#)

    public let create = Endpoint<ByAnyone, Sealkit_V1_CreateAccountRequest, Sealkit_V1_SessionResponse>(
        "accounts/create", path: "1/accounts/create", ByAnyone(),
        again: .once, work: .request,
        refusals: [
            .message, .stored, .code(.notAuthenticated), .code(.keysReplaced), .code(.serverRejectedRequest),
            .code(.permissionFailure), .code(.verificationFailed), .code(.accountSuspended),
        ],
        about: """
            makes an account, or logs in to it; where the server takes them by invitation only, with a \
            `registration_code`: none, or none taken at all, is `permissionFailure`, one that is wrong, used or expired \
            `verificationFailed`; keeps the recovery bundle that comes along. Again: the challenge is spent \
            (`notAuthenticated`); with a new one it logs in
            """)

    public let login = Endpoint<ByAnyone, Sealkit_V1_LoginRequest, Sealkit_V1_SessionResponse>(
        "accounts/login", path: "1/accounts/login", ByAnyone(),
        again: .once, work: .request,
        refusals: [
            .message, .stored, .code(.notAuthenticated), .code(.unknownItem), .code(.keysReplaced),
            .code(.permissionFailure), .code(.accountSuspended),
        ],
        about: "begins a session. Again: as create")

    public let logout = Endpoint<BySession, NoContent, Sealkit_V1_AccountResponse>(
        "accounts/logout", .post, path: "1/accounts/logout", BySession(needsUser: false),
        again: .once, work: .request,
        refusals: [.session, .stored],
        about: """
            ends the session; the body is not read, the answer is empty. Again: `sessionExpired`, which says that it was \
            done
            """)

    public let me = Endpoint<BySession, NoContent, Sealkit_V1_AccountResponse>(
        "accounts/me", .get, path: "1/accounts/me", BySession(needsUser: false),
        again: .read, work: .read(1),
        refusals: [.session],
        about: "the account's name, its identities, the session's end")

    public let usage = Endpoint<BySession, NoContent, Sealkit_V1_StorageUsageResponse>(
        "accounts/usage", .get, path: "1/accounts/usage", BySession(needsUser: false),
        again: .read, work: .read(feedPage),
        refusals: [.session],
        about: "what the account stores, by container")

    public let registerIdentity = Endpoint<
        BySession, Sealkit_V1_RegisterIdentityRequest, Sealkit_V1_RegisterIdentityResponse
    >(
        "accounts/identity", path: "1/accounts/identity", BySession(needsUser: false),
        again: .same, work: .sharing,
        refusals: [
            .message, .session, .stored, .code(.badContainer), .code(.integrityFailure),
            .code(.serverRejectedRequest), .code(.quotaExceeded),
        ],
        about: """
            registers who the account is in a container, or adds generations: the chain has to continue the one that is \
            there, and its newest key to have signed the login key (`login-binding`). An account has one identity in a \
            container
            """)

    public let rotate = Endpoint<ByAnyone, Sealkit_V1_RotateKeysRequest, Sealkit_V1_SessionResponse>(
        "accounts/rotate", path: "1/accounts/rotate", ByAnyone(),
        again: .once, work: .request,
        refusals: [
            .message, .stored, .code(.notAuthenticated), .code(.keysReplaced), .code(.unknownItem),
            .code(.serverRejectedRequest), .code(.permissionFailure), .code(.accountSuspended),
            .code(.constraintViolation),
        ],
        about: """
            gives the account a new login key, signed by the one before; ends every session, server-to-server key and \
            webhook of the account, forgets the devices, and puts the bundles that come along in the place of all \
            others. A bundle's id that another account's bundle has is `constraintViolation`, and changes nothing. \
            Again: the challenge is spent; with a new one the same rotation succeeds, and begins a session
            """)

    public let delete = Endpoint<ByAnyone, Sealkit_V1_DeleteAccountRequest, Sealkit_V1_DeleteAccountResponse>(
        "accounts/delete", path: "1/accounts/delete", ByAnyone(),
        again: .once, work: .request,
        refusals: [
            .message, .stored, .code(.notAuthenticated), .code(.unknownItem), .code(.accountSuspended),
            .code(.constraintViolation),
        ],
        about: """
            closes the account for ever. Refused while it shares a zone or takes part in somebody's share. Erasing \
            follows; `erased` says when nothing is left. Again: with a new challenge, the same answer
            """)

    public let recover = Endpoint<ByAnyone, Sealkit_V1_RecoverRequest, Sealkit_V1_RecoverResponse>(
        "accounts/recover", path: "1/accounts/recover", ByAnyone(),
        again: .read, work: .request,
        refusals: [.message, .code(.unknownItem)],
        about: "the recovery bundle of an id")

    public let saveRecovery = Endpoint<BySession, Sealkit_V1_RecoveryBundle, Sealkit_V1_AccountResponse>(
        "accounts/recovery", path: "1/accounts/recovery", BySession(needsUser: false),
        again: .same, work: .write(1),
        refusals: [.message, .session, .stored, .code(.serverRejectedRequest)],
        about: """
            keeps a bundle in the place of the account's one of that kind; the answer is empty. An id that another \
            bundle has is refused
            """)

    public let deleteRecovery = Endpoint<BySession, Sealkit_V1_DeleteRecoveryBundleRequest, Sealkit_V1_AccountResponse>(
        "accounts/recovery/delete", path: "1/accounts/recovery/delete", BySession(needsUser: false),
        again: .same, work: .request,
        refusals: [.message, .session, .stored],
        about: "removes the bundle of a kind, if there is one; the answer is empty")

    public let listRecovery = Endpoint<
        BySession, Sealkit_V1_RecoveryBundlesRequest, Sealkit_V1_RecoveryBundlesResponse
    >(
        "accounts/recovery/list", path: "1/accounts/recovery/list", BySession(needsUser: false),
        again: .read, work: .read(1),
        refusals: [.message, .session],
        about: "which kinds of bundles there are")
}
