import Foundation
import SealClient
import SealWire
import SwiftProtobuf
import Testing

/// A message as it is written by hand, and as SwiftProtobuf has it.
struct MessagePair: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The name that SwiftProtobuf's has.
    let generatedName: String
    /// Bytes of a message that the seed fills.
    let fill: @Sendable (_ seed: UInt64) -> [UInt8]
    /// What is read is written again; nil for what is refused.
    let byHand: @Sendable ([UInt8]) -> [UInt8]?
    let bySwiftProtobuf: @Sendable ([UInt8]) -> [UInt8]?
    /// Every field under its name, once from each.
    let shown: @Sendable ([UInt8]) throws -> (byHand: String, bySwiftProtobuf: String)

    init<Hand: WireMessage, Generated: SwiftProtobuf.Message>(_: Hand.Type, _: Generated.Type) {
        testDescription = "\(Hand.self)"
        generatedName = Generated.protoMessageName.split(separator: ".").dropFirst(2).joined(separator: ".")
        fill = { seed in
            var filler = MessageFiller(seed: seed)
            return filler.message(Hand.self).protobuf()
        }
        byHand = { bytes in (try? Hand(protobuf: bytes))?.protobuf() }
        bySwiftProtobuf = { bytes in
            var options = BinaryDecodingOptions()
            options.discardUnknownFields = true
            guard let message = try? Generated(serializedBytes: bytes, options: options) else { return nil }
            return try? message.serializedBytes()
        }
        shown = { bytes in
            var options = JSONEncodingOptions()
            options.alwaysPrintEnumsAsInts = true
            let json = try Generated(serializedBytes: bytes).jsonUTF8Data(options: options)
            return (
                byHand: show(Mirror(reflecting: try Hand(protobuf: bytes))),
                bySwiftProtobuf: show(try JSONSerialization.jsonObject(with: json))
            )
        }
    }

    /// All messages that are written by hand.
    static let all: [MessagePair] = [
        MessagePair(Wire.Failure.self, Sealkit_V1_Failure.self),
        MessagePair(Wire.Location.self, Sealkit_V1_Location.self),
        MessagePair(Wire.Reference.self, Sealkit_V1_Reference.self),
        MessagePair(Wire.Value.self, Sealkit_V1_Value.self),
        MessagePair(Wire.ListValue.self, Sealkit_V1_ListValue.self),
        MessagePair(Wire.SealedValue.self, Sealkit_V1_SealedValue.self),
        MessagePair(Wire.AssetField.self, Sealkit_V1_AssetField.self),
        MessagePair(Wire.PublicAssetField.self, Sealkit_V1_PublicAssetField.self),
        MessagePair(Wire.Field.self, Sealkit_V1_Field.self),
        MessagePair(Wire.StatementProof.self, Sealkit_V1_StatementProof.self),
        MessagePair(Wire.Record.self, Sealkit_V1_Record.self),
        MessagePair(Wire.SignedMove.self, Sealkit_V1_SignedMove.self),
        MessagePair(Wire.DerivedDeletion.self, Sealkit_V1_DerivedDeletion.self),
        MessagePair(Wire.TakenRecord.self, Sealkit_V1_TakenRecord.self),
        MessagePair(Wire.TakenRecords.self, Sealkit_V1_TakenRecords.self),
        MessagePair(Wire.ModifyRecordsRequest.self, Sealkit_V1_ModifyRecordsRequest.self),
        MessagePair(Wire.RecordResult.self, Sealkit_V1_RecordResult.self),
        MessagePair(Wire.ModifyRecordsResponse.self, Sealkit_V1_ModifyRecordsResponse.self),
        MessagePair(Wire.DesiredKeys.self, Sealkit_V1_DesiredKeys.self),
        MessagePair(Wire.LookupRecordsRequest.self, Sealkit_V1_LookupRecordsRequest.self),
        MessagePair(Wire.LookupRecordsResponse.self, Sealkit_V1_LookupRecordsResponse.self),
        MessagePair(Wire.RecordChangesRequest.self, Sealkit_V1_RecordChangesRequest.self),
        MessagePair(Wire.RecordChangesResponse.self, Sealkit_V1_RecordChangesResponse.self),
        MessagePair(Wire.ZonesRecordChangesRequest.self, Sealkit_V1_ZonesRecordChangesRequest.self),
        MessagePair(Wire.ZoneRecordChanges.self, Sealkit_V1_ZoneRecordChanges.self),
        MessagePair(Wire.ZonesRecordChangesResponse.self, Sealkit_V1_ZonesRecordChangesResponse.self),
        MessagePair(Wire.ZoneID.self, Sealkit_V1_ZoneID.self),
        MessagePair(Wire.ScopeHead.self, Sealkit_V1_ScopeHead.self),
        MessagePair(Wire.Zone.self, Sealkit_V1_Zone.self),
        MessagePair(Wire.ZoneSave.self, Sealkit_V1_ZoneSave.self),
        MessagePair(Wire.ZoneDelete.self, Sealkit_V1_ZoneDelete.self),
        MessagePair(Wire.ModifyZonesRequest.self, Sealkit_V1_ModifyZonesRequest.self),
        MessagePair(Wire.ZoneResult.self, Sealkit_V1_ZoneResult.self),
        MessagePair(Wire.ModifyZonesResponse.self, Sealkit_V1_ModifyZonesResponse.self),
        MessagePair(Wire.LookupZonesRequest.self, Sealkit_V1_LookupZonesRequest.self),
        MessagePair(Wire.LookupZonesResponse.self, Sealkit_V1_LookupZonesResponse.self),
        MessagePair(Wire.DatabaseChangesRequest.self, Sealkit_V1_DatabaseChangesRequest.self),
        MessagePair(Wire.ZoneDeletion.self, Sealkit_V1_ZoneDeletion.self),
        MessagePair(Wire.DatabaseChangesResponse.self, Sealkit_V1_DatabaseChangesResponse.self),
        MessagePair(Wire.SignedEntry.self, Sealkit_V1_SignedEntry.self),
        MessagePair(Wire.Grant.self, Sealkit_V1_Grant.self),
        MessagePair(Wire.RosterRequest.self, Sealkit_V1_RosterRequest.self),
        MessagePair(Wire.FetchRostersRequest.self, Sealkit_V1_FetchRostersRequest.self),
        MessagePair(Wire.RosterTail.self, Sealkit_V1_RosterTail.self),
        MessagePair(Wire.FetchRostersResponse.self, Sealkit_V1_FetchRostersResponse.self),
        MessagePair(Wire.AppendRosterRequest.self, Sealkit_V1_AppendRosterRequest.self),
        MessagePair(Wire.AppendRosterResponse.self, Sealkit_V1_AppendRosterResponse.self),
        MessagePair(Wire.ShareOpening.self, Sealkit_V1_ShareOpening.self),
        MessagePair(Wire.ShareClosing.self, Sealkit_V1_ShareClosing.self),
        MessagePair(Wire.Link.self, Sealkit_V1_Link.self),
        MessagePair(Wire.SealedLink.self, Sealkit_V1_SealedLink.self),
        MessagePair(Wire.PlaceholderAddress.self, Sealkit_V1_PlaceholderAddress.self),
        MessagePair(Wire.LinksRequest.self, Sealkit_V1_LinksRequest.self),
        MessagePair(Wire.LinksResponse.self, Sealkit_V1_LinksResponse.self),
        MessagePair(Wire.QueryMatch.self, Sealkit_V1_QueryMatch.self),
        MessagePair(Wire.QueryRecordsResponse.self, Sealkit_V1_QueryRecordsResponse.self),
        MessagePair(Wire.UpdateLinksRequest.self, Sealkit_V1_UpdateLinksRequest.self),
        MessagePair(Wire.SharePlaceRequest.self, Sealkit_V1_SharePlaceRequest.self),
        MessagePair(Wire.SharePlaceResponse.self, Sealkit_V1_SharePlaceResponse.self),
        MessagePair(Wire.ShareMetadataRequest.self, Sealkit_V1_ShareMetadataRequest.self),
        MessagePair(Wire.ShareMetadataResponse.self, Sealkit_V1_ShareMetadataResponse.self),
        MessagePair(Wire.AcceptShareRequest.self, Sealkit_V1_AcceptShareRequest.self),
        MessagePair(Wire.AcceptShareResponse.self, Sealkit_V1_AcceptShareResponse.self),
        MessagePair(Wire.ShareOwnerRequest.self, Sealkit_V1_ShareOwnerRequest.self),
        MessagePair(Wire.ShareOwnerResponse.self, Sealkit_V1_ShareOwnerResponse.self),
        MessagePair(Wire.RequestShareAccessRequest.self, Sealkit_V1_RequestShareAccessRequest.self),
        MessagePair(Wire.RequestShareAccessResponse.self, Sealkit_V1_RequestShareAccessResponse.self),
        MessagePair(Wire.BeginVerificationRequest.self, Sealkit_V1_BeginVerificationRequest.self),
        MessagePair(Wire.BeginVerificationResponse.self, Sealkit_V1_BeginVerificationResponse.self),
        MessagePair(Wire.CompleteVerificationRequest.self, Sealkit_V1_CompleteVerificationRequest.self),
        MessagePair(Wire.CompleteVerificationResponse.self, Sealkit_V1_CompleteVerificationResponse.self),
        MessagePair(Wire.ChallengeRequest.self, Sealkit_V1_ChallengeRequest.self),
        MessagePair(Wire.ChallengeResponse.self, Sealkit_V1_ChallengeResponse.self),
        MessagePair(Wire.CreateAccountRequest.self, Sealkit_V1_CreateAccountRequest.self),
        MessagePair(Wire.LoginRequest.self, Sealkit_V1_LoginRequest.self),
        MessagePair(Wire.SessionResponse.self, Sealkit_V1_SessionResponse.self),
        MessagePair(Wire.AccountResponse.self, Sealkit_V1_AccountResponse.self),
        MessagePair(Wire.DeleteAccountRequest.self, Sealkit_V1_DeleteAccountRequest.self),
        MessagePair(Wire.DeleteAccountResponse.self, Sealkit_V1_DeleteAccountResponse.self),
        MessagePair(Wire.RecoveryBundle.self, Sealkit_V1_RecoveryBundle.self),
        MessagePair(Wire.RecoverRequest.self, Sealkit_V1_RecoverRequest.self),
        MessagePair(Wire.RecoverResponse.self, Sealkit_V1_RecoverResponse.self),
        MessagePair(Wire.DeleteRecoveryBundleRequest.self, Sealkit_V1_DeleteRecoveryBundleRequest.self),
        MessagePair(Wire.RecoveryBundlesRequest.self, Sealkit_V1_RecoveryBundlesRequest.self),
        MessagePair(Wire.RecoveryBundlesResponse.self, Sealkit_V1_RecoveryBundlesResponse.self),
        MessagePair(Wire.RecoveryBundlesResponse.Bundle.self, Sealkit_V1_RecoveryBundlesResponse.Bundle.self),
        MessagePair(Wire.RotateKeysRequest.self, Sealkit_V1_RotateKeysRequest.self),
        MessagePair(Wire.SignedIdentity.self, Sealkit_V1_SignedIdentity.self),
        MessagePair(Wire.IdentityChain.self, Sealkit_V1_IdentityChain.self),
        MessagePair(Wire.RegisterIdentityRequest.self, Sealkit_V1_RegisterIdentityRequest.self),
        MessagePair(Wire.RegisterIdentityResponse.self, Sealkit_V1_RegisterIdentityResponse.self),
        MessagePair(Wire.LookupInfo.self, Sealkit_V1_LookupInfo.self),
        MessagePair(Wire.LookupIdentitiesRequest.self, Sealkit_V1_LookupIdentitiesRequest.self),
        MessagePair(Wire.IdentityResult.self, Sealkit_V1_IdentityResult.self),
        MessagePair(Wire.LookupIdentitiesResponse.self, Sealkit_V1_LookupIdentitiesResponse.self),
        MessagePair(Wire.Device.self, Sealkit_V1_Device.self),
        MessagePair(Wire.ListDevicesRequest.self, Sealkit_V1_ListDevicesRequest.self),
        MessagePair(Wire.DevicesResponse.self, Sealkit_V1_DevicesResponse.self),
        MessagePair(Wire.NameDeviceRequest.self, Sealkit_V1_NameDeviceRequest.self),
        MessagePair(Wire.RevokeDeviceRequest.self, Sealkit_V1_RevokeDeviceRequest.self),
        MessagePair(Wire.OpenEnrolmentRequest.self, Sealkit_V1_OpenEnrolmentRequest.self),
        MessagePair(Wire.OpenEnrolmentResponse.self, Sealkit_V1_OpenEnrolmentResponse.self),
        MessagePair(Wire.ClaimEnrolmentRequest.self, Sealkit_V1_ClaimEnrolmentRequest.self),
        MessagePair(Wire.ClaimEnrolmentResponse.self, Sealkit_V1_ClaimEnrolmentResponse.self),
        MessagePair(Wire.AnswerEnrolmentRequest.self, Sealkit_V1_AnswerEnrolmentRequest.self),
        MessagePair(Wire.RevealEnrolmentRequest.self, Sealkit_V1_RevealEnrolmentRequest.self),
        MessagePair(Wire.DeliverEnrolmentRequest.self, Sealkit_V1_DeliverEnrolmentRequest.self),
        MessagePair(Wire.EnrolmentResponse.self, Sealkit_V1_EnrolmentResponse.self),
        MessagePair(Wire.EnrolmentStateRequest.self, Sealkit_V1_EnrolmentStateRequest.self),
        MessagePair(Wire.EnrolmentStateResponse.self, Sealkit_V1_EnrolmentStateResponse.self),
        MessagePair(Wire.EndEnrolmentRequest.self, Sealkit_V1_EndEnrolmentRequest.self),
        MessagePair(Wire.BeginUploadRequest.self, Sealkit_V1_BeginUploadRequest.self),
        MessagePair(Wire.PartRange.self, Sealkit_V1_PartRange.self),
        MessagePair(Wire.UploadState.self, Sealkit_V1_UploadState.self),
        MessagePair(Wire.FinishUploadRequest.self, Sealkit_V1_FinishUploadRequest.self),
        MessagePair(Wire.FinishUploadResponse.self, Sealkit_V1_FinishUploadResponse.self),
        MessagePair(Wire.AbandonUploadRequest.self, Sealkit_V1_AbandonUploadRequest.self),
        MessagePair(Wire.AbandonUploadResponse.self, Sealkit_V1_AbandonUploadResponse.self),
        MessagePair(Wire.Limit.self, Sealkit_V1_Limit.self),
        MessagePair(Wire.LimitsResponse.self, Sealkit_V1_LimitsResponse.self),
        MessagePair(Wire.Condition.self, Sealkit_V1_Condition.self),
        MessagePair(Wire.NotificationInfo.self, Sealkit_V1_NotificationInfo.self),
        MessagePair(Wire.Subscription.self, Sealkit_V1_Subscription.self),
        MessagePair(Wire.ModifySubscriptionsRequest.self, Sealkit_V1_ModifySubscriptionsRequest.self),
        MessagePair(Wire.SubscriptionResult.self, Sealkit_V1_SubscriptionResult.self),
        MessagePair(Wire.ModifySubscriptionsResponse.self, Sealkit_V1_ModifySubscriptionsResponse.self),
        MessagePair(Wire.LookupSubscriptionsRequest.self, Sealkit_V1_LookupSubscriptionsRequest.self),
        MessagePair(Wire.LookupSubscriptionsResponse.self, Sealkit_V1_LookupSubscriptionsResponse.self),
        MessagePair(Wire.ListSubscriptionsRequest.self, Sealkit_V1_ListSubscriptionsRequest.self),
        MessagePair(Wire.ListSubscriptionsResponse.self, Sealkit_V1_ListSubscriptionsResponse.self),
        MessagePair(Wire.NotificationField.self, Sealkit_V1_NotificationField.self),
        MessagePair(Wire.Notification.self, Sealkit_V1_Notification.self),
    ]
}

/// JSON with keys in order and in lower case, since Swift and JSON differ in the case of "ID".
private func show(_ json: Any) -> String {
    switch json {
    case let fields as [String: Any]:
        "{" + fields.map { "\($0.key.lowercased()):\(show($0.value))" }.sorted().joined(separator: ",") + "}"
    case let elements as [Any]: "[" + elements.map { show($0) }.joined(separator: ",") + "]"
    case let text as String: "\"\(text)\""
    case let number as NSNumber: "\(number.doubleValue)"
    default: "\(json)"
    }
}

/// The same of a message, as protobuf's JSON would have it.
private func show(_ message: Mirror) -> String {
    let fields = message.children.compactMap { child -> String? in
        guard let name = child.label, let value = unwrapped(child.value) else { return nil }
        let mirror = Mirror(reflecting: value)
        if !(value is any WireValue), mirror.displayStyle == .enum {
            guard let member = mirror.children.first, let name = member.label else { return nil }
            return "\(name.lowercased()):\(show(value: member.value))"
        }
        if let value = value as? any WireValue, value.isDefault { return nil }
        if mirror.displayStyle == .collection, mirror.children.isEmpty { return nil }
        return "\(name.lowercased()):\(show(value: value))"
    }
    return "{" + fields.sorted().joined(separator: ",") + "}"
}

private func show(value: Any) -> String {
    switch value {
    case let text as String: "\"\(text)\""
    case let bytes as [UInt8]: "\"\(Data(bytes).base64EncodedString())\""
    case let number as UInt64: "\"\(number)\""
    case let number as Int64: "\"\(number)\""
    case let number as UInt32: "\(Double(number))"
    case let number as Double: "\(number)"
    case let flag as Bool: flag ? "1.0" : "0.0"
    case let comparator as Wire.Comparator: "\(Double(comparator.rawValue))"
    case let nested as Nested<Wire.Record>: show(Mirror(reflecting: nested.message))
    case let list as [Any]: "[" + list.map { show(value: $0) }.joined(separator: ",") + "]"
    default: show(Mirror(reflecting: value))
    }
}

private func unwrapped(_ value: Any) -> Any? {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional ? mirror.children.first?.value : value
}
