import Foundation
import SealWire
import SwiftProtobuf

/// One route, and what is sent there. A route that is not in the table fails `RefusalTableTests`.
struct RefusalRoute: Sendable {
    enum Content: Sendable {
        /// Nothing is read of the body.
        case none
        /// An asset's bytes.
        case upload
        /// Well formed, with something in it; what it says need not be right.
        case message(any Message)
    }

    enum Access: Sendable {
        case open
        case session
        /// The operator's token.
        case management
    }

    let method: String
    /// The route's template.
    let path: String
    let access: Access
    let content: Content
    /// The one that takes such requests.
    var databaseName = "private"

    static let database = "/database/1/{container}/{environment}/{database}/"

    static func get(_ path: String, session: Bool = false) -> Self {
        Self(method: "GET", path: path, access: session ? .session : .open, content: .none)
    }

    static func post(_ path: String, _ sample: any Message, session: Bool = true) -> Self {
        Self(method: "POST", path: path, access: session ? .session : .open, content: .message(sample))
    }

    static func inDatabase(_ path: String, _ sample: any Message) -> Self { post(database + path, sample) }

    static func inPublic(_ path: String, _ sample: any Message) -> Self {
        Self(method: "POST", path: database + path, access: .session, content: .message(sample), databaseName: "public")
    }

    static func managing(_ path: String, _ sample: any Message) -> Self {
        Self(method: "POST", path: path, access: .management, content: .message(sample))
    }

    var sample: (any Message)? { if case .message(let sample) = content { sample } else { nil } }
    /// The path with something in the place of each parameter.
    func filled(_ values: [String: String] = [:]) -> String {
        let known = [
            "container": TestClient.container, "environment": "development", "database": databaseName, "owner": "-",
            "zone": "notes", "id": String(repeating: "0", count: 32), "part": "0", "routing": String(repeating: "A", count: 22),
        ].merging(values) { $1 }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("{") ? known[String(part.dropFirst().dropLast())] ?? "unknown" : String(part)
        }.joined(separator: "/")
    }
}

/// Everything that the server answers.
enum RefusalTable {
    private static let id = Data(repeating: 7, count: 16)
    private static let zone = Sealkit_V1_ZoneID.with { $0.zoneName = "notes" }
    private static let login = Sealkit_V1_LoginRequest.with {
        $0.loginKey = Data(repeating: 1, count: 32)
        $0.deviceName = "canary-device"
    }

    private static let schema = "/database/1/{container}/{environment}/schema/"

    static let routes: [RefusalRoute] = [
        .get("/health"),
        .get("/1/limits"),
        .get("/.well-known/sealkit/token-keys"),
        .get("/.well-known/sealkit/webhook-keys"),
        .get("/s/{routing}"),
        RefusalRoute(method: "HEAD", path: "/s/{routing}", access: .open, content: .none),

        // Accounts
        .post("/1/accounts/challenge", Sealkit_V1_ChallengeRequest.with { $0.loginKey = Data(repeating: 1, count: 32) }, session: false),
        .post("/1/accounts/create", Sealkit_V1_CreateAccountRequest.with { $0.deviceName = "canary-device" }, session: false),
        .post("/1/accounts/login", login, session: false),
        .post("/1/accounts/delete", Sealkit_V1_DeleteAccountRequest.with { $0.loginKey = Data(repeating: 1, count: 32) }, session: false),
        .post("/1/accounts/recover", Sealkit_V1_RecoverRequest.with { $0.recoveryID = id }, session: false),
        .post("/1/accounts/recovery", Sealkit_V1_RecoveryBundle.with { $0.recoveryID = id }),
        .post("/1/accounts/recovery/delete", Sealkit_V1_DeleteRecoveryBundleRequest.with { $0.kind = 2 }),
        .post("/1/accounts/recovery/list", Sealkit_V1_RecoveryBundlesRequest()),
        .post("/1/accounts/rotate", Sealkit_V1_RotateKeysRequest.with { $0.login = login }, session: false),
        .post("/1/accounts/identity", Sealkit_V1_RegisterIdentityRequest.with { $0.container = "canary.container" }),
        .get("/1/accounts/me", session: true),
        .get("/1/accounts/usage", session: true),
        RefusalRoute(method: "POST", path: "/1/accounts/logout", access: .session, content: .none),
        .post("/1/devices/list", Sealkit_V1_ListDevicesRequest()),
        .post("/1/devices/name", Sealkit_V1_NameDeviceRequest.with { $0.name = "canary-device" }),
        .post("/1/devices/revoke", Sealkit_V1_RevokeDeviceRequest.with { $0.id = id }),
        .post("/1/devices/enrol/open", Sealkit_V1_OpenEnrolmentRequest.with { $0.enrolmentID = id }, session: false),
        .post("/1/devices/enrol/claim", Sealkit_V1_ClaimEnrolmentRequest.with { $0.enrolmentID = id }),
        .post("/1/devices/enrol/answer", Sealkit_V1_AnswerEnrolmentRequest.with { $0.enrolmentID = id }),
        .post("/1/devices/enrol/reveal", Sealkit_V1_RevealEnrolmentRequest.with { $0.enrolmentID = id }, session: false),
        .post("/1/devices/enrol/deliver", Sealkit_V1_DeliverEnrolmentRequest.with { $0.enrolmentID = id }),
        .post("/1/devices/enrol/state", Sealkit_V1_EnrolmentStateRequest.with { $0.enrolmentID = id }, session: false),
        .post("/1/devices/enrol/end", Sealkit_V1_EndEnrolmentRequest.with { $0.enrolmentID = id }, session: false),
        .post(
            "/1/directory/lookup",
            Sealkit_V1_LookupIdentitiesRequest.with {
                $0.container = TestClient.container
                $0.handles = [.with { $0.email = "canary@example.org" }]
            }),
        .post("/1/verification/begin", Sealkit_V1_BeginVerificationRequest.with { $0.address = "canary@example.org" }),
        .post("/1/addresses/list", Sealkit_V1_ListAddressesRequest()),
        .post("/1/addresses/update", Sealkit_V1_UpdateAddressRequest.with { $0.address.address = "canary@example.org" }),
        .post("/1/addresses/unlink", Sealkit_V1_UnlinkAddressRequest.with { $0.address.address = "canary@example.org" }),
        .post("/1/verification/complete", Sealkit_V1_CompleteVerificationRequest.with { $0.verificationID = id }),

        // Shares
        .post("/1/share/metadata", Sealkit_V1_ShareMetadataRequest.with { $0.routingID = id }),
        .post("/1/share/accept", Sealkit_V1_AcceptShareRequest.with { $0.operationID = id }),
        .inDatabase("rosters/fetch", Sealkit_V1_FetchRostersRequest.with { $0.rosters = [.with { $0.zone = zone }] }),
        .inDatabase("shares/lookup", Sealkit_V1_LookupSharesRequest.with { $0.zone = zone }),
        .inDatabase("shares/unsettled", Sealkit_V1_UnsettledRecordsRequest.with { $0.zone = zone }),
        .inDatabase("rosters/append", Sealkit_V1_AppendRosterRequest.with { $0.operationID = id }),
        .inDatabase("rosters/restore", Sealkit_V1_RestoreRosterRequest.with { $0.zone = zone }),
        .inDatabase("links/fetch", Sealkit_V1_LinksRequest.with { $0.zone = zone }),
        .inDatabase("links/update", Sealkit_V1_UpdateLinksRequest.with { $0.zone = zone }),
        .post("/1/share/owner", Sealkit_V1_ShareOwnerRequest.with { $0.routingID = id }),
        .post("/1/share/request", Sealkit_V1_RequestShareAccessRequest.with { $0.routingID = id }),
        .inDatabase("share/access/fetch", Sealkit_V1_FetchShareAccessRequest.with { $0.zone = zone }),
        .inDatabase("share/access/update", Sealkit_V1_UpdateShareAccessRequest.with { $0.zone = zone }),

        // Zones, records, assets
        .inDatabase("zones/modify", Sealkit_V1_ModifyZonesRequest.with { $0.operationID = id }),
        .inDatabase("zones/lookup", Sealkit_V1_LookupZonesRequest.with { $0.zones = [zone] }),
        .inDatabase("zones/changes", Sealkit_V1_DatabaseChangesRequest.with { $0.token = id }),
        .inDatabase(
            "records/modify",
            Sealkit_V1_ModifyRecordsRequest.with {
                $0.operationID = id
                $0.zone = zone
                $0.records = [.with { $0.recordName = "canary-record" }]
            }),
        .inDatabase(
            "records/lookup",
            Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = zone
                $0.recordNames = ["canary-record"]
            }),
        .inDatabase("records/changes", Sealkit_V1_RecordChangesRequest.with { $0.zone = zone }),
        RefusalRoute(
            method: "PUT", path: RefusalRoute.database + "assets/{owner}/{zone}/{id}", access: .session, content: .upload),
        .get(RefusalRoute.database + "assets/{owner}/{zone}/{id}", session: true),
        .inDatabase("assets/{owner}/{zone}/{id}/begin", Sealkit_V1_BeginUploadRequest.with { $0.contentBytes = 100 }),
        .get(RefusalRoute.database + "assets/{owner}/{zone}/{id}/parts", session: true),
        RefusalRoute(
            method: "PUT", path: RefusalRoute.database + "assets/{owner}/{zone}/{id}/parts/{part}", access: .session,
            content: .upload),
        .inDatabase("assets/{owner}/{zone}/{id}/finish", Sealkit_V1_FinishUploadRequest.with { $0.root = id + id }),
        .inDatabase("assets/{owner}/{zone}/{id}/abandon", Sealkit_V1_AbandonUploadRequest()),
        .inDatabase("changes/zone", Sealkit_V1_ZonesRecordChangesRequest.with { $0.zones = [.with { $0.zone = zone }] }),
        .inDatabase("records/stale", Sealkit_V1_StaleRecordsRequest.with { $0.zone = zone }),
        .inDatabase("records/query", Sealkit_V1_QueryRecordsRequest.with { $0.query.recordType = "canary" }),

        // Subscriptions
        .inDatabase("subscriptions/modify", Sealkit_V1_ModifySubscriptionsRequest.with { $0.operationID = id }),
        .inDatabase("subscriptions/lookup", Sealkit_V1_LookupSubscriptionsRequest.with { $0.subscriptionIds = ["canary"] }),
        .inDatabase("subscriptions/list", Sealkit_V1_ListSubscriptionsRequest()),
        .get("/database/1/{container}/{environment}/notifications", session: true),

        // The public database
        .inPublic("records/created", Sealkit_V1_CreatedRecordsRequest.with { $0.after = "canary-record" }),

        // Management
        .inPublic("server-keys/create", Sealkit_V1_CreateServerKeyRequest.with { $0.name = "canary" }),
        .inPublic("server-keys/list", Sealkit_V1_ListServerKeysRequest()),
        .inPublic("server-keys/revoke", Sealkit_V1_RevokeServerKeyRequest.with { $0.userRecordName = "canary" }),
        .managing("/1/management-tokens/create", Sealkit_V1_CreateManagementTokenRequest.with { $0.name = "canary" }),
        .managing("/1/management-tokens/list", Sealkit_V1_ListManagementTokensRequest.with { $0.container = TestClient.container }),
        .managing("/1/management-tokens/revoke", Sealkit_V1_RevokeManagementTokenRequest.with { $0.id = "canary" }),
        .managing(schema + "export", Sealkit_V1_ExportSchemaRequest()),
        .managing(schema + "import", Sealkit_V1_ImportSchemaRequest.with { $0.schema = "canary" }),
        .managing(schema + "deploy", Sealkit_V1_DeploySchemaRequest.with { $0.dryRun = true }),
        .managing(schema + "reset", Sealkit_V1_ResetSchemaRequest.with { $0.dryRun = true }),
        .managing(schema + "roles/assign", Sealkit_V1_AssignRoleRequest.with { $0.assignment.role = "canary" }),
        .managing(schema + "roles/revoke", Sealkit_V1_RevokeRoleRequest.with { $0.assignment.role = "canary" }),
        .managing(schema + "roles/list", Sealkit_V1_ListRolesRequest.with { $0.after = "canary" }),
    ]
}
