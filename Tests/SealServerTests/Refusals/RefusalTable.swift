import Foundation
import SealService
import SealWire
import SwiftProtobuf

/// One route, and what is sent there.
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

    let route: Route
    let content: Content

    var method: String { route.method.rawValue }
    /// The route's template.
    var path: String { route.template }
    var access: Access { route.isManaged ? .management : route.isOpen && route.database == nil ? .open : .session }

    /// - Parameter sample: of a route that takes a message.
    init(_ route: Route, _ sample: (any Message)?) {
        self.route = route
        switch route.body {
        case .none: content = .none
        case .asset, .part: content = .upload
        // Without one the route is not asked: `everyRouteIsInTheTable` names it.
        case .message: content = sample.map(Content.message) ?? .none
        }
    }

    static let database = InDatabase.prefix

    var sample: (any Message)? { if case .message(let sample) = content { sample } else { nil } }
    /// The path with something in the place of each parameter.
    func filled(_ values: [String: String] = [:]) -> String {
        let known = [
            "container": TestClient.container, "environment": "development", "database": route.database ?? "",
            "owner": "-",
            "zone": "notes", "id": String(repeating: "0", count: 32), "part": "0",
            "routing": String(repeating: "A", count: 22), "bundle": String(repeating: "0", count: 64),
            "file": "share.mjs",
        ].merging(values) { $1 }
        return route.path(known)
    }
}

/// Everything that the server answers: the table of endpoints, with a sample of each message.
enum RefusalTable {
    private static let id = Data(repeating: 7, count: 16)
    private static let zone = Sealkit_V1_ZoneID.with { $0.zoneName = "notes" }
    private static let login = Sealkit_V1_LoginRequest.with {
        $0.loginKey = Data(repeating: 1, count: 32)
        $0.deviceName = "canary-device"
    }

    static let routes = Endpoints.all.map { RefusalRoute($0, samples[$0.name]) }

    /// Routes that take a message of which there is no sample, and samples of no route.
    static var misfits: Set<String> {
        Set(Endpoints.all.filter { $0.body == .message }.map(\.name)).symmetricDifference(samples.keys)
    }

    private static func sample<Access, Question: Message, Answer>(
        _ endpoint: Endpoint<Access, Question, Answer>, _ message: Question
    ) -> (String, any Message) {
        (endpoint.route.name, message)
    }

    /// By the routes' names.
    private static let samples = Dictionary(uniqueKeysWithValues: [
        // Accounts
        sample(
            Endpoints.accounts.challenge,
            Sealkit_V1_ChallengeRequest.with { $0.loginKey = Data(repeating: 1, count: 32) }),
        sample(Endpoints.accounts.create, Sealkit_V1_CreateAccountRequest.with { $0.deviceName = "canary-device" }),
        sample(Endpoints.accounts.login, login),
        sample(
            Endpoints.accounts.delete,
            Sealkit_V1_DeleteAccountRequest.with { $0.loginKey = Data(repeating: 1, count: 32) }),
        sample(Endpoints.accounts.recover, Sealkit_V1_RecoverRequest.with { $0.recoveryID = id }),
        sample(Endpoints.accounts.saveRecovery, Sealkit_V1_RecoveryBundle.with { $0.recoveryID = id }),
        sample(Endpoints.accounts.deleteRecovery, Sealkit_V1_DeleteRecoveryBundleRequest.with { $0.kind = 2 }),
        sample(Endpoints.accounts.listRecovery, Sealkit_V1_RecoveryBundlesRequest()),
        sample(Endpoints.accounts.rotate, Sealkit_V1_RotateKeysRequest.with { $0.login = login }),
        sample(
            Endpoints.accounts.registerIdentity,
            Sealkit_V1_RegisterIdentityRequest.with { $0.container = "canary.container" }),
        sample(Endpoints.devices.list, Sealkit_V1_ListDevicesRequest()),
        sample(Endpoints.devices.name, Sealkit_V1_NameDeviceRequest.with { $0.name = "canary-device" }),
        sample(Endpoints.devices.revoke, Sealkit_V1_RevokeDeviceRequest.with { $0.id = id }),
        sample(Endpoints.devices.openEnrolment, Sealkit_V1_OpenEnrolmentRequest.with { $0.enrolmentID = id }),
        sample(Endpoints.devices.claimEnrolment, Sealkit_V1_ClaimEnrolmentRequest.with { $0.enrolmentID = id }),
        sample(Endpoints.devices.answerEnrolment, Sealkit_V1_AnswerEnrolmentRequest.with { $0.enrolmentID = id }),
        sample(Endpoints.devices.revealEnrolment, Sealkit_V1_RevealEnrolmentRequest.with { $0.enrolmentID = id }),
        sample(Endpoints.devices.deliverEnrolment, Sealkit_V1_DeliverEnrolmentRequest.with { $0.enrolmentID = id }),
        sample(Endpoints.devices.enrolmentState, Sealkit_V1_EnrolmentStateRequest.with { $0.enrolmentID = id }),
        sample(Endpoints.devices.endEnrolment, Sealkit_V1_EndEnrolmentRequest.with { $0.enrolmentID = id }),
        sample(
            Endpoints.people.lookup,
            Sealkit_V1_LookupIdentitiesRequest.with {
                $0.container = TestClient.container
                $0.handles = [.with { $0.email = "canary@example.org" }]
            }),
        sample(
            Endpoints.people.beginVerification,
            Sealkit_V1_BeginVerificationRequest.with { $0.address = "canary@example.org" }),
        sample(Endpoints.people.listAddresses, Sealkit_V1_ListAddressesRequest()),
        sample(
            Endpoints.people.updateAddress,
            Sealkit_V1_UpdateAddressRequest.with { $0.address.address = "canary@example.org" }),
        sample(
            Endpoints.people.unlinkAddress,
            Sealkit_V1_UnlinkAddressRequest.with { $0.address.address = "canary@example.org" }),
        sample(
            Endpoints.people.completeVerification,
            Sealkit_V1_CompleteVerificationRequest.with { $0.verificationID = id }),

        // Shares
        sample(Endpoints.sharing.place, Sealkit_V1_SharePlaceRequest.with { $0.routingID = id }),
        sample(Endpoints.sharing.metadata, Sealkit_V1_ShareMetadataRequest.with { $0.routingID = id }),
        sample(Endpoints.sharing.newcomer, Sealkit_V1_ShareMetadataRequest.with { $0.routingID = id }),
        sample(Endpoints.sharing.accept, Sealkit_V1_AcceptShareRequest.with { $0.operationID = id }),
        sample(
            Endpoints.sharing.fetchRosters,
            Sealkit_V1_FetchRostersRequest.with { $0.rosters = [.with { $0.zone = zone }] }),
        sample(Endpoints.sharing.lookupShares, Sealkit_V1_LookupSharesRequest.with { $0.zone = zone }),
        sample(Endpoints.sharing.unsettledRecords, Sealkit_V1_UnsettledRecordsRequest.with { $0.zone = zone }),
        sample(Endpoints.sharing.appendRoster, Sealkit_V1_AppendRosterRequest.with { $0.operationID = id }),
        sample(Endpoints.sharing.restoreRoster, Sealkit_V1_RestoreRosterRequest.with { $0.zone = zone }),
        sample(Endpoints.sharing.fetchLinks, Sealkit_V1_LinksRequest.with { $0.zone = zone }),
        sample(Endpoints.sharing.updateLinks, Sealkit_V1_UpdateLinksRequest.with { $0.zone = zone }),
        sample(Endpoints.sharing.owner, Sealkit_V1_ShareOwnerRequest.with { $0.routingID = id }),
        sample(Endpoints.sharing.requestAccess, Sealkit_V1_RequestShareAccessRequest.with { $0.routingID = id }),
        sample(Endpoints.sharing.fetchAccess, Sealkit_V1_FetchShareAccessRequest.with { $0.zone = zone }),
        sample(Endpoints.sharing.updateAccess, Sealkit_V1_UpdateShareAccessRequest.with { $0.zone = zone }),

        // Zones, records, assets
        sample(Endpoints.zones.modify, Sealkit_V1_ModifyZonesRequest.with { $0.operationID = id }),
        sample(Endpoints.zones.lookup, Sealkit_V1_LookupZonesRequest.with { $0.zones = [zone] }),
        sample(Endpoints.zones.changes, Sealkit_V1_DatabaseChangesRequest.with { $0.token = id }),
        sample(
            Endpoints.records.modify,
            Sealkit_V1_ModifyRecordsRequest.with {
                $0.operationID = id
                $0.zone = zone
                $0.records = [.with { $0.recordName = "canary-record" }]
            }),
        sample(
            Endpoints.records.lookup,
            Sealkit_V1_LookupRecordsRequest.with {
                $0.zone = zone
                $0.recordNames = ["canary-record"]
            }),
        sample(Endpoints.records.changes, Sealkit_V1_RecordChangesRequest.with { $0.zone = zone }),
        sample(Endpoints.assets.begin, Sealkit_V1_BeginUploadRequest.with { $0.contentBytes = 100 }),
        sample(Endpoints.assets.finish, Sealkit_V1_FinishUploadRequest.with { $0.root = id + id }),
        sample(Endpoints.assets.abandon, Sealkit_V1_AbandonUploadRequest()),
        sample(
            Endpoints.records.changesOfZones,
            Sealkit_V1_ZonesRecordChangesRequest.with { $0.zones = [.with { $0.zone = zone }] }),
        sample(Endpoints.records.stale, Sealkit_V1_StaleRecordsRequest.with { $0.zone = zone }),
        sample(Endpoints.records.query, Sealkit_V1_QueryRecordsRequest.with { $0.query.recordType = "canary" }),

        // Subscriptions
        sample(Endpoints.subscriptions.modify, Sealkit_V1_ModifySubscriptionsRequest.with { $0.operationID = id }),
        sample(
            Endpoints.subscriptions.lookup,
            Sealkit_V1_LookupSubscriptionsRequest.with { $0.subscriptionIds = ["canary"] }),
        sample(Endpoints.subscriptions.list, Sealkit_V1_ListSubscriptionsRequest()),

        // The public database
        sample(Endpoints.records.created, Sealkit_V1_CreatedRecordsRequest.with { $0.after = "canary-record" }),

        // Management
        sample(Endpoints.management.createServerKey, Sealkit_V1_CreateServerKeyRequest.with { $0.name = "canary" }),
        sample(Endpoints.management.listServerKeys, Sealkit_V1_ListServerKeysRequest()),
        sample(
            Endpoints.management.revokeServerKey,
            Sealkit_V1_RevokeServerKeyRequest.with { $0.userRecordName = "canary" }),
        sample(Endpoints.management.createToken, Sealkit_V1_CreateManagementTokenRequest.with { $0.name = "canary" }),
        sample(
            Endpoints.management.listTokens,
            Sealkit_V1_ListManagementTokensRequest.with { $0.container = TestClient.container }),
        sample(Endpoints.management.revokeToken, Sealkit_V1_RevokeManagementTokenRequest.with { $0.id = "canary" }),
        sample(Endpoints.management.exportSchema, Sealkit_V1_ExportSchemaRequest()),
        sample(Endpoints.management.importSchema, Sealkit_V1_ImportSchemaRequest.with { $0.schema = "canary" }),
        sample(Endpoints.management.deploySchema, Sealkit_V1_DeploySchemaRequest.with { $0.dryRun = true }),
        sample(Endpoints.management.resetSchema, Sealkit_V1_ResetSchemaRequest.with { $0.dryRun = true }),
        sample(Endpoints.management.assignRole, Sealkit_V1_AssignRoleRequest.with { $0.assignment.role = "canary" }),
        sample(Endpoints.management.revokeRole, Sealkit_V1_RevokeRoleRequest.with { $0.assignment.role = "canary" }),
        sample(Endpoints.management.listRoles, Sealkit_V1_ListRolesRequest.with { $0.after = "canary" }),
    ])
}
