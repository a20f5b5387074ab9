import Foundation
import NIOCore
import SealKit
import SealKitTesting
import Testing

/// A device's network does what a network does: what is open ends with it, and a fault says whether it was met.
@Suite(.timeLimit(.minutes(60))) struct NetworkTests {
    // MARK: What is open

    @Test func aDeviceWithoutANetworkIsToldLater() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            _ = try await notes.alice.own.save(DatabaseSubscription(subscriptionID: "all"))
            let laptop = try await notes.alice.anotherDevice(named: "laptop")
            var heard = laptop.container.notifications().makeAsyncIterator()
            #expect(try await heard.next()?.content == .ready)
            let outage = laptop.network.inject(.offline)
            #expect(outage.times > 0)
            try await notes.bob.edit(notes.bobs, body: "second")
            laptop.network.beHonest()
            guard case .fired(let fired)? = try await heard.next()?.content else {
                Issue.record("nothing was told")
                return
            }
            #expect(fired.zoneID == notes.zone)
            // By a stream that was opened after the first one had ended.
            #expect(laptop.network.requests.count { $0.hasSuffix("/notifications") } > 1)
        }
    }

    @Test func aStreamEndsWithTheNetworkAndWithWhoeverAnswersIt() async throws {
        let network = TestNetwork(Endless())
        for fault in [ServerFault.offline, ServerFault(elsewhere: Endless())] {
            var injection: TestNetwork.Injection?
            await expectRefused(.networkFailure, "\(fault)") {
                try await network.events("/", token: "", lastEventID: nil) { _ in injection = network.inject(fault) }
            }
            #expect(injection?.times == 1)
            network.beHonest()
        }
        // The server is back: who listens to the other one hears it no more.
        let other = network.inject(ServerFault(elsewhere: Endless()))
        await expectRefused(.networkFailure) {
            try await network.events("/", token: "", lastEventID: nil) { _ in other.remove() }
        }
        #expect(other.times == 1)
    }

    @Test func aDownloadEndsWithTheNetwork() async throws {
        let network = TestNetwork(Endless())
        var parts = 0
        await expectRefused(.networkFailure) {
            try await network.download("/", range: 0..<9, token: "") { _ in
                parts += 1
                network.inject(.offline)
            }
        }
        #expect(parts == 1)
        network.beHonest()
    }

    /// A lie is of what is asked from then on.
    @Test func aDownloadOutlastsALie() async throws {
        let network = TestNetwork(Endless())
        var (lie, bytes): (TestNetwork.Injection?, Data) = (nil, Data())
        try await network.download("/", range: 0..<9, token: "") { part in
            if lie == nil { lie = network.inject(.alteredChunks(.cut)) }
            bytes += Data(part.readableBytesView)
        }
        #expect(bytes.count == 9)
        #expect(lie?.times == 0)
        bytes = Data()
        try await network.download("/", range: 0..<9, token: "") { bytes += Data($0.readableBytesView) }
        #expect(bytes.count == 8)
        #expect(lie?.times == 1)
    }

    // MARK: What is met

    @Test func aFaultThatConcernsNothingSaysSo() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            // As Alice has it: with Bob that would be in a zone of his own.
            let mistaken = notes.bob.network.inject(.deniedRecord(notes.note))
            #expect(try await notes.bob.body(of: notes.bobs) == "first")
            let meant = notes.bob.network.inject(.deniedRecord(notes.bobs))
            await expectRefused(.rollback) { _ = try await notes.bob.body(of: notes.bobs) }
            notes.bob.network.beHonest()
            #expect(mistaken.times == 0)
            #expect(meant.times > 0)
        }
    }

    @Test func aRefusalIsCountedAsOftenAsItIsMade() async throws {
        try await TestServer.run { server in
            let notes = try await Notes(server)
            let refusal = notes.alice.network.inject(.refusal(.serviceUnavailable, of: "records/modify", times: 2))
            let unmet = notes.alice.network.inject(.refusal(.serviceUnavailable, of: "share/accept"))
            try await notes.alice.save("new", in: notes.zone, body: "new")
            #expect(refusal.times == 2)
            #expect(unmet.times == 0)
        }
    }
}

/// A server whose stream says something once and then nothing for half a minute, and whose downloads are three parts.
private struct Endless: Transport {
    let origin = "https://endless.test"

    func post(_ path: String, body: Data, token: String?) async throws(SealKitError) -> TransportResponse {
        TransportResponse(status: 200, body: Data())
    }

    func get(_ path: String, token: String?) async throws(SealKitError) -> TransportResponse {
        TransportResponse(status: 200, body: Data())
    }

    func upload(
        _ path: String, length: Int64, parts: AsyncThrowingStream<ByteBuffer, any Error>, token: String
    ) async throws(SealKitError) -> TransportResponse {
        TransportResponse(status: 200, body: Data())
    }

    func download(
        _ path: String, range: Range<UInt64>, token: String, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        for _ in 0..<3 { try await give(consume) }
    }

    func events(
        _ path: String, token: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try await give(consume)
        try? await Task.sleep(for: .seconds(30))
    }

    private func give(_ consume: (ByteBuffer) async throws -> Void) async throws(SealKitError) {
        do { try await consume(ByteBuffer(string: "abc")) } catch {
            throw error as? SealKitError ?? SealKitError(.internalError, "\(error)")
        }
    }
}
