import SealWire

/// What sending a request twice would do.
enum Effect: Sendable {
    /// Nothing more than sending it once: it only reads, or says again what is known.
    case none
    /// Nothing more either, since the server knows it again by its operation id, or it says how things are to be; but it
    /// changes something.
    case repeatable
    /// Something again: another mail, or a refusal because something is good once.
    case once
}

/// A request whose effect is not `none`.
protocol ChangingRequest {
    static var effect: Effect { get }
}

extension Sealkit_V1_ModifyZonesRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ModifyRecordsRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AppendRosterRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RestoreRosterRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AcceptShareRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UpdateLinksRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UpdateShareAccessRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RequestShareAccessRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ModifySubscriptionsRequest: ChangingRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_NameDeviceRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RevokeDeviceRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_ClaimEnrolmentRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_AnswerEnrolmentRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_RevealEnrolmentRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_DeliverEnrolmentRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_EndEnrolmentRequest: ChangingRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_OpenEnrolmentRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_RecoveryBundle: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_DeleteRecoveryBundleRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UpdateAddressRequest: ChangingRequest { static var effect: Effect { .repeatable } }
extension Sealkit_V1_UnlinkAddressRequest: ChangingRequest { static var effect: Effect { .repeatable } }

extension Sealkit_V1_BeginVerificationRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_CompleteVerificationRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_CreateAccountRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_DeleteAccountRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_LoginRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_RotateKeysRequest: ChangingRequest { static var effect: Effect { .once } }
extension Sealkit_V1_CreateManagementTokenRequest: ChangingRequest { static var effect: Effect { .once } }
