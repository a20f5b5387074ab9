import Foundation
import SealLab
import SealQuery
import SealStatements
import Testing

@testable import SealKit

/// Subscriptions in the public database, with a real server.
@Suite(.timeLimit(.minutes(60))) struct PublicPushTests {
    private func post(_ body: String) -> Record {
        var record = Record(recordType: "Bulletin")
        record["body"] = body
        return record
    }

    private func fired(
        _ notifications: inout AsyncThrowingStream<Container.Notification, any Error>.Iterator
    ) async throws -> Container.Notification.Fired {
        while let notification = try await notifications.next() {
            if case .fired(let fired) = notification.content { return fired }
        }
        throw SealKitError(.internalError, "the stream ended")
    }

    @Test func whoeverSubscribedIsToldAndFetches() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let database = bob.container.publicDatabase
        let mark = UUID().uuidString
        var subscription = QuerySubscription(
            recordType: "Bulletin", predicate: Query.Predicate([Query.Field<String>("body") == mark]),
            subscriptionID: "bulletins", options: [.firesOnRecordCreation, .firesOnRecordDeletion])
        subscription.zoneID = .default
        subscription.notificationInfo = NotificationInfo()
        subscription.notificationInfo?.desiredKeys = ["body"]
        let saved = try await database.save(subscription)
        #expect(saved as? QuerySubscription == subscription)
        #expect(try await database.subscription(for: "bulletins") as? QuerySubscription == subscription)
        #expect(try await database.allSubscriptions().map(\.subscriptionID) == ["bulletins"])
        #expect(try await bob.own.allSubscriptions().isEmpty)

        var notifications = bob.container.notifications().makeAsyncIterator()
        #expect(try await notifications.next()?.content == .ready)
        _ = try await ann.container.publicDatabase.save(post("of no interest"))
        let record = try await ann.container.publicDatabase.save(post(mark))
        let told = try await fired(&notifications)
        #expect(told.subscriptionID == "bulletins")
        #expect(told.subscriptionType == .query)
        #expect(told.databaseScope == .public)
        #expect(told.recordID == record.recordID)
        #expect(told.zoneID == .default)
        #expect(told.recordType == "Bulletin")
        #expect(told.queryNotificationReason == .recordCreated)
        #expect(told.recordFields == ["body": .string(mark)])
        // It was a hint: what is there is fetched, and verified.
        let id = try #require(told.recordID)
        let found = try await database.record(for: id)
        #expect(found["body"] == mark)
        #expect(found.creatorUserRecordID?.recordName == ann.name)
        try await ann.container.publicDatabase.deleteRecord(withID: record.recordID)
        #expect(try await fired(&notifications).queryNotificationReason == .recordDeleted)

        try await database.deleteSubscription(withID: "bulletins")
        #expect(await failure { _ = try await database.subscription(for: "bulletins") } == .unknownItem)
    }

    @Test func whatThePublicDatabaseDoesNotTakeIsRefused() async throws {
        let ann = try await Person()
        let database = ann.container.publicDatabase
        let query = QuerySubscription(recordType: "Bulletin", predicate: .constant(true), subscriptionID: "q")
        #expect(await failure { try await database.save(DatabaseSubscription(subscriptionID: "d")) } == .badDatabase)
        #expect(
            await failure { try await database.save(RecordZoneSubscription(zoneID: .default, subscriptionID: "z")) }
                == .badDatabase)
        var zoned = query
        zoned.zoneID = RecordZone.ID(zoneName: "notes")
        let sent = zoned
        #expect(await failure { try await database.save(sent) } == .badDatabase)
        // Without an account there is nobody to tell.
        let world = try Container(
            ann.container.containerIdentifier, transport: HTTPTransport(server: ann.server.origin))
        #expect(await failure { try await world.publicDatabase.save(query) } == .notAuthenticated)
        var unheard = world.notifications().makeAsyncIterator()
        #expect(await failure { _ = try await unheard.next() } == .notAuthenticated)
        // A server-to-server key subscribes, for its webhooks; it has no stream.
        let credential = try await ann.container.createServerKey(name: "hooks")
        let machine = try Container(serverCredential: credential)
        try await machine.publicDatabase.save(query)
        #expect(try await machine.publicDatabase.allSubscriptions().map(\.subscriptionID) == ["q"])
        #expect(try await database.allSubscriptions().isEmpty)
        var stream = machine.notifications().makeAsyncIterator()
        #expect(await failure { _ = try await stream.next() } == .notAuthenticated)
    }

    @Test func theCommandLineSubscribesAndWatches() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let (ann, bob) = (
            server.folder.appendingPathComponent("ann.json").path, server.folder.appendingPathComponent("bob.json").path
        )
        for file in [ann, bob] {
            _ = try await sealkit(["account", "create", "--server", server.origin, "--key-file", file])
        }
        let made = try await sealkit([
            "subscription", "create", "places", "--database", "public", "--records-of", "Place", "--key-file", bob,
        ])
        #expect(made.contains("subscribed places"))
        let listed = try await sealkit(["subscription", "list", "--database", "public", "--json", "--key-file", bob])
        #expect(listed.contains("\"subscription\":\"places\""))
        #expect(
            try await sealkit(["subscription", "list", "--database", "private", "--quiet", "--key-file", bob]) == "")
        // Where no database is named it is that of all.
        #expect(
            try await sealkit(["subscription", "list", "--key-file", bob]).contains(
                "places                  public  query"))
        let save = [
            "record", "save", "--database", "public", "--type", "Place", "--name", "berlin", "--set", "city=Berlin",
        ]
        let watching = Process()
        watching.executableURL = ServerProcess.executable
        watching.arguments = ["watch", "--json", "--key-file", bob]
        let output = Pipe()
        watching.standardOutput = output
        watching.standardInput = FileHandle.nullDevice
        try watching.start()
        defer { watching.terminate() }
        let ready = await output.line()
        #expect(ready.contains("\"event\":\"ready\""))
        _ = try await sealkit(save + ["--key-file", ann])
        let told = await output.line()
        #expect(told.contains("\"database\":\"public\""))
        #expect(told.contains("\"record\":\"berlin\""))
        #expect(told.contains("\"reason\":\"created\""))
        _ = try await sealkit(["subscription", "delete", "places", "--database", "public", "--key-file", bob])
        let query = ["record", "query", "--type", "Place", "--database", "public", "--key-file", bob]
        let found = try await sealkit(query + ["--quiet"])
        #expect(found == "berlin\n")
        let zoned = try await Command.finished(ServerProcess.executable, query + ["--zone", "Notes"])
        #expect(zoned.status == 64)
        // Others are refused with a reason.
        let refused = try await Command.finished(
            ServerProcess.executable, ["subscription", "create", "all", "--database", "public", "--key-file", bob])
        #expect(refused.status != 0)
        #expect(refused.errors.contains("The public database takes query subscriptions"))
        let both = try await Command.finished(
            ServerProcess.executable, ["subscription", "list", "--database", "public", "--shared", "--key-file", bob])
        #expect(both.status == 64)
    }

    private func sealkit(_ arguments: [String]) async throws -> String {
        let command = try await Command.finished(ServerProcess.executable, arguments)
        #expect(command.status == 0, "\(command.errors)")
        return command.output
    }
}
