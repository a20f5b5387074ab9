@testable import CloudKit
import SealPrimitives
import SealStatements
import Testing

/// What a webhook sends, as an app delegate would have got it.
@Suite(.timeLimit(.minutes(60))) struct WebhookTests {
    private let url = "https://hooks.example.org/notes?key=1"
    private let time: Int64 = 1_800_000_000
    private var now: Date { Date(timeIntervalSince1970: Double(time)) }
    private let body = Data(
        """
        {"deliveryId":"one","notifications":[{"subscriptionId":"hook","kind":1,"container":"org.example.app",\
        "environment":"development","database":"private","zone":{"ownerName":"_ann","zoneName":"Notes"},\
        "recordName":"a","recordType":"Note","reason":2,"pruned":true}]}
        """.utf8)

    private func key() throws -> SigningKey {
        var random = SystemRandom()
        return try SigningKey(seed: SecretBytes(random: &random))
    }

    private func signature(by key: SigningKey) -> String {
        let id = KeyIdentifier.paserk(of: key.verificationKey)
        let signed = WebhookSignature.signedBytes(keyID: id, time: time, url: url, body: [UInt8](body))
        return WebhookSignature(keyID: id, time: time, signature: key.sign(signed)).headerValue
    }

    private func receiver(_ key: SigningKey) throws -> CKWebhookReceiver {
        try CKWebhookReceiver(
            url: url, keys: [KeyIdentifier.paserk(of: key.verificationKey): Data(key.verificationKey.bytes)])
    }

    @Test func theSameAsANotification() throws {
        let key = try key()
        let told = try receiver(key).notifications(in: body, signature: signature(by: key), now: now)
        let notification = CKNotification(fromRemoteNotificationDictionary: try #require(told.first))
        let query = try #require(notification as? CKQueryNotification)
        #expect(told.count == 1)
        #expect(query.subscriptionID == "hook")
        #expect(query.containerIdentifier == "org.example.app")
        #expect(query.queryNotificationReason == .recordUpdated)
        #expect(query.recordID == CKRecord.ID(recordName: "a", zoneID: .init(zoneName: "Notes", ownerName: "_ann")))
        #expect(query.databaseScope == .private)
        #expect(query.isPruned)
        #expect(query.subscriptionOwnerUserRecordID == nil)
    }

    @Test func whatTheServerDidNotSendIsRefused() throws {
        let (key, other) = (try key(), try key())
        let receiver = try receiver(key)
        let signature = signature(by: key)
        func refused(_ body: Data, _ signature: String?, at time: Date) -> CKError.Code? {
            do {
                _ = try receiver.notifications(in: body, signature: signature, now: time)
                return nil
            } catch { return (error as? CKError)?.code }
        }
        #expect(refused(body, nil, at: now) == .serverRejectedRequest)
        #expect(refused(body, self.signature(by: other), at: now) == .serverRejectedRequest)
        #expect(refused(body + Data(" ".utf8), signature, at: now) == .serverRejectedRequest)
        #expect(refused(body, signature, at: now + 301) == .serverRejectedRequest)
        #expect(refused(body, signature, at: now) == nil)
        #expect(refused(body, signature, at: now) == .serverRejectedRequest)
        #expect(throws: CKError.self) { try CKWebhookReceiver(url: url, keys: ["k4.pid.x": Data([1])]) }
    }
}
