import SealWire
import SwiftProtobuf

/// How much work a request asks for, by what it holds: a batch of 400 counts as 400.
protocol CountedMessage: Message {
    static var kind: RateLimiter.Kind { get }
    /// What is taken from the bucket; at least 1.
    var work: Int { get }
}

extension CountedMessage {
    var work: Int { 1 }
}

/// A page of a feed: what it will hold is not known before it is read.
private let feedPage = 10

extension Sealkit_V1_ModifyRecordsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .write }
    var work: Int { max(1, records.count) }
}

extension Sealkit_V1_ModifyZonesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .write }
    var work: Int { max(1, saves.count + deletes.count) }
}

extension Sealkit_V1_LookupRecordsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { max(1, recordNames.count) }
}

extension Sealkit_V1_RecordChangesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage }
}

extension Sealkit_V1_LookupSharesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { max(feedPage, shareRecordNames.count) }
}

extension Sealkit_V1_UnsettledRecordsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage }
}

extension Sealkit_V1_DatabaseChangesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage }
}

extension Sealkit_V1_ZonesRecordChangesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage * max(1, zones.count) }
}

extension Sealkit_V1_StaleRecordsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage }
}

extension Sealkit_V1_CreatedRecordsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage }
}

/// A query looks at more than it finds.
extension Sealkit_V1_QueryRecordsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { 10 * feedPage }
}

extension Sealkit_V1_ModifySubscriptionsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .write }
    var work: Int { max(1, saves.count + deletes.count) }
}

extension Sealkit_V1_LookupSubscriptionsRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { max(1, subscriptionIds.count) }
}

extension Sealkit_V1_LookupZonesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { max(1, zones.count) }
}

extension Sealkit_V1_FetchRostersRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .read }
    var work: Int { feedPage * max(1, rosters.count) }
}

extension Sealkit_V1_AppendRosterRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

/// Every entry is replayed.
extension Sealkit_V1_RestoreRosterRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .write }
    var work: Int { max(1, entries.count + abandoned.count) }
}

extension Sealkit_V1_ShareMetadataRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_AcceptShareRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_UpdateLinksRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_ShareOwnerRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_RequestShareAccessRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_UpdateShareAccessRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_LookupIdentitiesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_BeginVerificationRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_CompleteVerificationRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_ListAddressesRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_UpdateAddressRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_UnlinkAddressRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

extension Sealkit_V1_RegisterIdentityRequest: CountedMessage {
    static var kind: RateLimiter.Kind { .sharing }
}

/// Counts one request's work against whoever sent it. It travels in the request's context.
struct WorkMeter: Sendable {
    let services: Services
    let subject: RateLimiter.Subject

    /// Throws `requestRateLimited`.
    func count(_ message: some CountedMessage) throws(ServerError) {
        let kind = type(of: message).kind
        guard let rule = services.limits.rule(of: kind) else { return }
        try services.limiter.count(kind, subject, amount: message.work, rule: rule, now: services.clock())
    }
}
