import SealWire
import SwiftProtobuf

/// What sending a request twice would do.
enum Effect: Sendable {
    /// Nothing more than sending it once: it only reads.
    case none
    /// Nothing more either, since the server knows it again by its operation id, or it says how things are to be; but it
    /// changes something.
    case repeatable
    /// Something again: another mail, or a refusal because something is good once, or is done.
    case once
}

/// A request of the protocol. Each says what it does: one that was taken for reading would be sent again after its answer was
/// lost, and its refusal then told as the outcome of a change that was made.
protocol ServerRequest: Message {
    static var effect: Effect { get }
}

// MARK: Reading

extension Sealkit_V1_ChallengeRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_RecoverRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_RecoveryBundlesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ListDevicesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_EnrolmentStateRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_LookupIdentitiesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ListAddressesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_LookupZonesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_DatabaseChangesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_LookupRecordsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_RecordChangesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ZonesRecordChangesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_QueryRecordsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_StaleRecordsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_CreatedRecordsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_FetchRostersRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_LinksRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_LookupSharesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_UnsettledRecordsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_FetchShareAccessRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ShareMetadataRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ShareOwnerRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_LookupSubscriptionsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ListSubscriptionsRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ListServerKeysRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ExportSchemaRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ListRolesRequest: ServerRequest { static var effect: Effect { .none } }
extension Sealkit_V1_ListManagementTokensRequest: ServerRequest { static var effect: Effect { .none } }

// MARK: Saying how things are to be

extension Sealkit_V1_ModifyZonesRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ModifyRecordsRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AppendRosterRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RestoreRosterRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AcceptShareRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UpdateLinksRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UpdateShareAccessRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RequestShareAccessRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ModifySubscriptionsRequest: ServerRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_BeginUploadRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_FinishUploadRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AbandonUploadRequest: ServerRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_NameDeviceRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RevokeDeviceRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ClaimEnrolmentRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AnswerEnrolmentRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RevealEnrolmentRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_DeliverEnrolmentRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_EndEnrolmentRequest: ServerRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_RegisterIdentityRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RecoveryBundle: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_DeleteRecoveryBundleRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UpdateAddressRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UnlinkAddressRequest: ServerRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_CreateServerKeyRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ImportSchemaRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_DeploySchemaRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ResetSchemaRequest: ServerRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AssignRoleRequest: ServerRequest { static var effect: Effect { .repeatable } }

// MARK: Good once

extension Sealkit_V1_BeginVerificationRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_CompleteVerificationRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_OpenEnrolmentRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_CreateAccountRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_LoginRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_RotateKeysRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_DeleteAccountRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_CreateManagementTokenRequest: ServerRequest { static var effect: Effect { .once } }

// Again it is `unknownItem`, as for what never was: only who asks can tell that it was done.
extension Sealkit_V1_RevokeServerKeyRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_RevokeRoleRequest: ServerRequest { static var effect: Effect { .once } }
extension Sealkit_V1_RevokeManagementTokenRequest: ServerRequest { static var effect: Effect { .once } }
