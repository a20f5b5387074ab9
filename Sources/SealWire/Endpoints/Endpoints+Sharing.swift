extension Endpoints {
    public static let sharing = SharingEndpoints()
}

/// Rosters, links, and shares as those see them who are not in yet.
public struct SharingEndpoints: Sendable {
    public let fetchRosters = Endpoint<InDatabase, Sealkit_V1_FetchRostersRequest, Sealkit_V1_FetchRostersResponse>(
        "rosters/fetch", path: "rosters/fetch", InDatabase(.reader, .privateAndShared),
        again: .read, work: .read { feedPage * max(1, $0.rosters.count) },
        refusals: [.message, .user, .path],
        about: """
            tails of rosters, each named once, with the caller's grants, in pages ("Pages of rosters"); each fails by \
            itself, by `RosterTail.failure` in place of a head. Former members read on to the entry that ended them, \
            owners read closed rosters too
            """)

    public let appendRoster = Endpoint<InDatabase, Sealkit_V1_AppendRosterRequest, Sealkit_V1_AppendRosterResponse>(
        "rosters/append", path: "rosters/append", InDatabase(.member, .privateAndShared),
        again: .operation, work: .sharing,
        refusals: [
            .message, .user, .path, .zone, .roster, .stored, .code(.alreadyShared), .code(.unknownItem),
            .code(.quotaExceeded),
        ],
        about: """
            appends one entry, with the grants that it commits to, new links and addresses. Neither `open`, `close` nor \
            `accept`. Only after the head that the server has: else `rosterChanged`
            """)

    public let restoreRoster = Endpoint<InDatabase, Sealkit_V1_RestoreRosterRequest, Sealkit_V1_RestoreRosterResponse>(
        "rosters/restore", path: "rosters/restore", InDatabase(.member, .privateAndShared),
        again: .same, work: .write { $0.entries.count + $0.abandoned.count },
        refusals: [.message, .user, .path, .zone, .roster, .stored, .code(.unknownItem), .code(.quotaExceeded)],
        about: """
            gives entries back that a server has lost, or ends a fork (PROTOCOL.md, "Forks"); those that it has are \
            passed over. An `open` that follows a `close` waits until what the zone held is gone: the answer's head says \
            that the entries before it were taken, and where it is the first one, the answer is `zoneBusy`
            """)

    public let fetchLinks = Endpoint<InDatabase, Sealkit_V1_LinksRequest, Sealkit_V1_LinksResponse>(
        "links/fetch", path: "links/fetch", InDatabase(.administrator, .privateAndShared),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path, .zone, .code(.permissionFailure), .code(.unknownItem)],
        about: "the share-wide link, and the caller's one-time links")

    public let updateLinks = Endpoint<InDatabase, Sealkit_V1_UpdateLinksRequest, Sealkit_V1_UpdateLinksResponse>(
        "links/update", path: "links/update", InDatabase(.administrator, .privateAndShared),
        again: .same, work: .sharing,
        refusals: [
            .message, .user, .path, .zone, .stored, .code(.permissionFailure), .code(.unknownItem),
            .code(.quotaExceeded),
        ],
        about: """
            another preview of links, always as it is to be (an empty one empties it); another kept secret, unless \
            empty; the share-wide secret for further administrators
            """)

    public let lookupShares = Endpoint<InDatabase, Sealkit_V1_LookupSharesRequest, Sealkit_V1_LookupSharesResponse>(
        "shares/lookup", path: "shares/lookup", InDatabase(.reader, .privateAndShared),
        again: .read, work: .read { max(feedPage, $0.shareRecordNames.count) },
        refusals: [.message, .user, .path, .zone, .code(.unknownItem)],
        about: """
            a zone's open hierarchical shares, in the order of their making; to participants those that they take part \
            in
            """)

    public let unsettledRecords = Endpoint<
        InDatabase, Sealkit_V1_UnsettledRecordsRequest, Sealkit_V1_UnsettledRecordsResponse
    >(
        "shares/unsettled", path: "shares/unsettled", InDatabase(.owner, .private),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path, .zone, .stored],
        about: "records that the owner's devices have to move between scopes. Private only")

    public let fetchAccess = Endpoint<
        InDatabase, Sealkit_V1_FetchShareAccessRequest, Sealkit_V1_FetchShareAccessResponse
    >(
        "share/access/fetch", path: "share/access/fetch", InDatabase(.administrator, .privateAndShared),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path, .zone, .code(.permissionFailure), .code(.unknownItem)],
        about: "who has asked for access")

    public let updateAccess = Endpoint<
        InDatabase, Sealkit_V1_UpdateShareAccessRequest, Sealkit_V1_UpdateShareAccessResponse
    >(
        "share/access/update", path: "share/access/update", InDatabase(.administrator, .privateAndShared),
        again: .same, work: .sharing,
        refusals: [.message, .user, .path, .zone, .stored, .code(.permissionFailure), .code(.unknownItem)],
        about: "lets strangers ask, or not; denies requests")

    public let place = Endpoint<BySession, Sealkit_V1_SharePlaceRequest, Sealkit_V1_SharePlaceResponse>(
        "share/place", path: "1/share/place", BySession(needsUser: false),
        again: .read, work: .sharing,
        refusals: [.message, .session, .code(.unknownItem)],
        about: """
            container and environment that a link leads into, and nothing else of it: for a client that no app has told \
            which. The share may have ended; what it is now, `share/metadata` says
            """)

    public let metadata = Endpoint<BySession, Sealkit_V1_ShareMetadataRequest, Sealkit_V1_ShareMetadataResponse>(
        "share/metadata", path: "1/share/metadata", BySession(needsUser: true),
        again: .read, work: .sharing,
        refusals: [
            .message, .user, .code(.unknownItem), .code(.participantMayNeedVerification), .code(.permissionFailure),
        ],
        about: """
            what a link leads to: the roster in pages from `first_sequence` on, and with the last the seat that the \
            caller may take with its grant, and the preview
            """)

    public let newcomer = Endpoint<ByAnyone, Sealkit_V1_ShareMetadataRequest, Sealkit_V1_AccountResponse>(
        "share/newcomer", path: "1/share/newcomer", ByAnyone(),
        again: .read, work: .sharing,
        refusals: [.message, .code(.unknownItem)],
        about: """
            whether a link has a seat that somebody without an account could take, once they have one and, where it \
            waits for an address, have proven it; the share-wide one has while the share is public. Only `routing_id` \
            counts. The answer is empty; else `unknownItem`
            """)

    public let accept = Endpoint<BySession, Sealkit_V1_AcceptShareRequest, Sealkit_V1_AcceptShareResponse>(
        "share/accept", path: "1/share/accept", BySession(needsUser: true),
        again: .operation, work: .sharing,
        refusals: [
            .message, .user, .roster, .stored, .code(.unknownItem), .code(.quotaExceeded),
            .code(.participantMayNeedVerification), .code(.verificationFailed),
        ],
        about: "takes a seat by an entry `accept`. A participant already: `invalidArguments`")

    public let owner = Endpoint<BySession, Sealkit_V1_ShareOwnerRequest, Sealkit_V1_ShareOwnerResponse>(
        "share/owner", path: "1/share/owner", BySession(needsUser: true),
        again: .read, work: .sharing,
        refusals: [.message, .user, .code(.unknownItem), .code(.participantAlreadyInvited), .code(.invalidArguments)],
        about: "whose share a link leads to, where strangers may ask for access")

    public let requestAccess = Endpoint<
        BySession, Sealkit_V1_RequestShareAccessRequest, Sealkit_V1_RequestShareAccessResponse
    >(
        "share/request", path: "1/share/request", BySession(needsUser: true),
        again: .same, work: .sharing,
        refusals: [
            .message, .user, .stored, .code(.unknownItem), .code(.quotaExceeded), .code(.participantAlreadyInvited),
            .code(.invalidArguments),
        ],
        about: "asks for access; the newer request takes the older one's place")
}
