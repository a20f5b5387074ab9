import CloudKit
import SealKitTesting
import Synchronization
import Testing

/// Calls about shares, in their three faces, and the way in for somebody without an account.
@Suite(.timeLimit(.minutes(60))) struct ShareCallTests {
    private func run(_ operation: CKOperation, in container: CKContainer) async {
        await withCheckedContinuation { done in
            operation.completionBlock = { done.resume() }
            container.add(operation)
        }
    }

    private func code(_ error: (any Error)?) -> String { error.map { "\(($0 as? CKError)?.errorCode ?? 0)" } ?? "ok" }
    private func code<Value>(_ result: Result<Value, any Error>) -> String {
        switch result {
        case .success: "ok"
        case .failure(let error): code(error)
        }
    }

    /// Ann's share of a zone that anybody with its URL may join.
    private func withOpenShare(_ body: (CKContainer, CKContainer, CKShare) async throws -> Void) async throws {
        try await Cloud.run { cloud in
            let (ann, bob) = (try await cloud.container(of: "ann"), try await cloud.container(of: "bob"))
            let zone = try await ann.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            let root = CKRecord.note("root", in: zone.zoneID)
            root["title"] = "a"
            let share = CKShare(rootRecord: root)
            share.publicPermission = .readOnly
            share.allowsAccessRequests = true
            try await ann.privateCloudDatabase.modifyRecords(saving: [root, share])
            try await body(ann, bob, share)
        }
    }

    @Test func operationsForMetadataAndAccepting() async throws {
        try await withOpenShare { _, bob, share in
            let (log, url) = (Log(), try #require(share.url))
            let cut = try #require(URL(string: String(url.absoluteString.dropLast(8))))
            let found = Metadatas()
            let fetch = CKFetchShareMetadataOperation(shareURLs: [url, cut, url])
            fetch.shouldFetchRootRecord = true
            fetch.perShareMetadataBlock = { log.note("old \($0 == url) \($1 != nil) \(self.code($2))") }
            fetch.perShareMetadataResultBlock = { shared, result in
                log.note("\(shared == url) \(self.code(result))")
                if let metadata = try? result.get() { found.note(metadata) }
            }
            fetch.fetchShareMetadataCompletionBlock = { log.note("old end \(self.code($0))") }
            fetch.fetchShareMetadataResultBlock = { log.note("end \(self.code($0))") }
            await run(fetch, in: bob)
            #expect(
                log.all == [
                    "old true true ok", "true ok", "old false false 12", "false 12", "old end 2", "end 2",
                ])
            let metadata = try #require(found.first)
            // Only who is in it reads the root.
            #expect(metadata.rootRecord == nil)

            let told = Log()
            let accept = CKAcceptSharesOperation(shareMetadatas: [metadata])
            accept.perShareCompletionBlock = { told.note("old \($0 == metadata) \($1 != nil) \(self.code($2))") }
            accept.perShareResultBlock = { told.note("\($0 == metadata) \(self.code($1))") }
            accept.acceptSharesCompletionBlock = { told.note("old end \(self.code($0))") }
            accept.acceptSharesResultBlock = { told.note("end \(self.code($0))") }
            await run(accept, in: bob)
            #expect(told.all == ["old true true ok", "true ok", "old end ok", "end ok"])

            let again = CKFetchShareMetadataOperation(shareURLs: [url])
            again.shouldFetchRootRecord = true
            again.rootRecordDesiredKeys = ["title"]
            let roots = Log()
            again.perShareMetadataResultBlock = { _, result in
                roots.note((try? result.get())?.rootRecord?["title"] as? String ?? "-")
            }
            await run(again, in: bob)
            #expect(roots.all == ["a"])
        }
    }

    /// What was accepted is told, whatever becomes of those after it.
    @Test func aNetworkThatIsGoneTakesNoAcceptedShareBack() async throws {
        try await Cloud.run { cloud in
            let (ann, device) = (try await cloud.container(of: "ann"), try await cloud.device(of: "bob"))
            let bob = device.container
            var found: [CKShare.Metadata] = []
            for name in ["Notes", "Lists", "Plans"] {
                let zone = try await ann.privateCloudDatabase.save(CKRecordZone(zoneName: name))
                let root = CKRecord.note("root", in: zone.zoneID)
                let share = CKShare(rootRecord: root)
                share.publicPermission = .readOnly
                try await ann.privateCloudDatabase.modifyRecords(saving: [root, share])
                let url = try #require(share.url)
                found.append(try await bob.shareMetadata(for: url))
            }
            let (log, metadatas) = (Log(), found)
            let gone = device.inject(.offline)
            await expectFailure(.networkFailure) { _ = try await bob.accept(metadatas) }
            gone.remove()
            let loss = device.loseNetwork(atSecond: "share/accept")
            let accept = CKAcceptSharesOperation(shareMetadatas: metadatas)
            accept.perShareResultBlock = { metadata, result in
                log.note("\(metadatas.firstIndex(of: metadata) ?? -1) \(self.code(result))")
            }
            accept.acceptSharesResultBlock = { log.note("end \(self.code($0))") }
            await run(accept, in: bob)
            #expect(log.all == ["0 ok", "1 4", "2 4", "end 2"])
            loss.remove()
            let again = try await bob.accept(metadatas)
            let codes = again.values.map(\.code)
            #expect(codes == [nil, nil, nil])
        }
    }

    @Test func handlersAndMany() async throws {
        try await withOpenShare { ann, bob, share in
            let url = try #require(share.url)
            let cut = try #require(URL(string: "https://example.org/#"))
            let many = try await bob.shareMetadatas(for: [url, cut])
            #expect(many[url]?.code == nil)
            #expect(many[cut]?.code == .invalidArguments)
            let metadata: CKShare.Metadata? = await withCheckedContinuation { done in
                bob.fetchShareMetadata(with: url) { metadata, _ in done.resume(returning: metadata) }
            }
            let accepted: CKShare? = await withCheckedContinuation { done in
                if let metadata {
                    bob.accept(metadata) { share, _ in done.resume(returning: share) }
                } else {
                    done.resume(returning: nil)
                }
            }
            let name = accepted?.recordID.recordName
            #expect(name == share.recordID.recordName)
            let known = try #require(metadata)
            let all = try await bob.accept([known])
            #expect(all[known]?.code == nil)
            // Metadata is of one container.
            let other = try await ann.shareMetadata(for: url)
            #expect(other.participantRole == .owner)
            let bobsName = try await bob.userRecordID().recordName
            let nobody = String(bobsName.dropLast()) + (bobsName.hasSuffix("0") ? "1" : "0")
            await expectFailure(.unknownItem) {
                _ = try await ann.shareParticipant(forUserRecordID: CKRecord.ID(recordName: nobody))
            }
            await expectFailure(.invalidArguments) {
                _ = try await ann.shareParticipant(forUserRecordID: CKRecord.ID(recordName: "_nobody"))
            }
            let participant: CKShare.Participant? = await withCheckedContinuation { done in
                ann.fetchShareParticipant(withEmailAddress: "carl@example.org") { found, _ in
                    done.resume(returning: found)
                }
            }
            #expect(participant?.userIdentity.hasiCloudAccount == false)
            #expect(participant?.userIdentity.lookupInfo?.emailAddress == "carl@example.org")
            let results = try await ann.shareParticipants(forEmailAddresses: ["carl@example.org", "nobody"])
            #expect(results["carl@example.org"]?.code == nil)
            #expect(results["nobody"]?.code == .invalidArguments)

            let log = Log()
            let lookup = CKFetchShareParticipantsOperation(
                userIdentityLookupInfos: CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a@example.org", "b"]))
            lookup.shareParticipantFetchedBlock = {
                log.note("old \($0.userIdentity.lookupInfo?.emailAddress ?? "-")")
            }
            lookup.perShareParticipantResultBlock = { log.note("\($0.emailAddress ?? "-") \(self.code($1))") }
            lookup.fetchShareParticipantsCompletionBlock = { log.note("old end \(self.code($0))") }
            lookup.fetchShareParticipantsResultBlock = { log.note("end \(self.code($0))") }
            await run(lookup, in: ann)
            #expect(log.all == ["old a@example.org", "a@example.org ok", "b 12", "old end 2", "end 2"])

            let requests = Log()
            let ask = CKShareRequestAccessOperation(shareURLs: [url])
            ask.perShareAccessRequestResultBlock = { requests.note("\($0 == url) \(self.code($1))") }
            ask.shareAccessRequestResultBlock = { requests.note("end \(self.code($0))") }
            await run(ask, in: bob)
            #expect(requests.all == ["true 12", "end 2"])
        }
    }

    /// Somebody who is invited by an address that is nobody's yet: the URL of its own, the code, the share.
    @Test func somebodyWithoutAnAccountIsInvited() async throws {
        try await Cloud.run { cloud in
            let (ann, bob) = (try await cloud.container(of: "ann"), try await cloud.container(of: "bob"))
            let zone = try await ann.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
            let share = CKShare(recordZoneID: zone.zoneID)
            share[CKShare.SystemFieldKey.title] = "Notes"
            share.addParticipant(try await ann.shareParticipant(forEmailAddress: "bob@example.org"))
            let whoever = CKShare.Participant.oneTimeURLParticipant()
            share.addParticipant(whoever)
            #expect(share.oneTimeURL(for: whoever.participantID) == nil)
            try await ann.privateCloudDatabase.save(share)
            let isKept = share.participants.contains { $0 === whoever }
            #expect(isKept)
            let free = try #require(share.oneTimeURL(for: whoever.participantID))
            let bobs = share.participants.first { $0.userIdentity.lookupInfo?.emailAddress == "bob@example.org" }
            let invited = try #require(bobs)
            let url = try #require(share.oneTimeURL(for: invited.participantID))
            let text = CKShareLink(share).description
            #expect(text.contains(url.absoluteString))
            #expect(text.contains(free.absoluteString))

            let error = await expectFailure(.participantMayNeedVerification) {
                _ = try await bob.shareMetadata(for: url)
            }
            let verification = try #require(error?.shareVerification)
            let wrong = try await verification.begin(address: "bob@example.org")
            await expectFailure(.permissionFailure) { try await wrong.complete("0000 0000") }

            let handled = Log()
            bob.userDidAcceptShareHandler = {
                handled.note($0.share[CKShare.SystemFieldKey.title] as? String ?? "-")
            }
            let reader = Reader { try await cloud.code(sentTo: "bob@example.org") }
            let opened = try await bob.open(url, as: reader)
            let accepted = try #require(opened)
            #expect(accepted[CKShare.SystemFieldKey.title] as? String == "Notes")
            #expect(handled.all == ["Notes"])
            #expect(reader.log.all == ["address false", "code bob@example.org 5", "accepts pending"])

            let carl = try await cloud.container(of: "carl")
            let refusing = Reader(accepts: false) { "" }
            let left = try await carl.open(free, as: refusing)
            #expect(left == nil)
            let joined = try await carl.open(free, as: Reader { "" })
            #expect(joined != nil)
            // It is good once.
            let dora = try await cloud.container(of: "dora")
            await expectFailure(.unknownItem) { _ = try await dora.open(free, as: Reader { "" }) }
        }
    }

    @Test func discoveryFindsNobody() async throws {
        try await Cloud.run { cloud in
            let ann = try await cloud.container(of: "ann")
            #expect(try await ann.requestApplicationPermission(.userDiscoverability) == .denied)
            #expect(try await ann.applicationPermissionStatus(for: .userDiscoverability) == .denied)
            #expect(try await ann.userIdentity(forEmailAddress: "a@example.org") == nil)
            let log = Log()
            let discover = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: [])
            discover.discoverUserIdentitiesResultBlock = { log.note("some \(self.code($0))") }
            await run(discover, in: ann)
            let all = CKDiscoverAllUserIdentitiesOperation()
            all.discoverAllUserIdentitiesResultBlock = { log.note("all \(self.code($0))") }
            await run(all, in: ann)
            let token = CKFetchWebAuthTokenOperation(apiToken: "token")
            token.fetchWebAuthTokenCompletionBlock = { log.note("old \($0 == nil) \(self.code($1))") }
            token.fetchWebAuthTokenResultBlock = { log.note("token \(self.code($0))") }
            await run(token, in: ann)
            let changes = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
            changes.fetchNotificationChangesCompletionBlock = { log.note("changes \($0 == nil) \(self.code($1))") }
            await run(changes, in: ann)
            let read = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
            read.markNotificationsReadCompletionBlock = { log.note("read \($0?.count ?? -1) \(self.code($1))") }
            await run(read, in: ann)
            let badge = CKModifyBadgeOperation(badgeValue: 3)
            badge.modifyBadgeCompletionBlock = { log.note("badge \(self.code($0))") }
            await run(badge, in: ann)
            #expect(
                log.all == [
                    "some ok", "all ok", "old true 15", "token 15", "changes true ok", "read 0 ok", "badge ok",
                ])
        }
    }
}

private final class Metadatas: Sendable {
    private let all = Mutex<[CKShare.Metadata]>([])
    func note(_ metadata: CKShare.Metadata) { all.withLock { $0.append(metadata) } }
    var first: CKShare.Metadata? { all.withLock { $0.first } }
}

/// Somebody who reads the mail.
private struct Reader: CKShareInvitee {
    private let isWilling: Bool
    let log = Log()
    let mail: @Sendable () async throws -> String

    init(accepts: Bool = true, _ mail: @escaping @Sendable () async throws -> String) {
        (isWilling, self.mail) = (accepts, mail)
    }

    func address(isAgain: Bool) async throws -> String {
        log.note("address \(isAgain)")
        return "bob@example.org"
    }

    func code(sentTo address: String, expires: Date, triesLeft: Int) async throws -> String? {
        log.note("code \(address) \(triesLeft)")
        return try await mail()
    }

    func accepts(_ metadata: CKShare.Metadata) async throws -> Bool {
        log.note("accepts \(metadata.participantStatus)")
        return isWilling
    }
}
