import Foundation
import SealKit
import Testing

@testable import SealTorture

/// What the torture takes for a fault, and what not.
@Suite(.timeLimit(.minutes(60))) struct TortureChecksTests {
    @Test(arguments: ["ROUNDS", "MODEL", "MINUTES", "CLIENTS"])
    func aRunOfNothingIsRefused(_ name: String) throws {
        #expect(throws: Finding.self) { try TortureSettings(arguments: [], environment: [name: "0"]) }
        #expect(throws: Finding.self) { try TortureSettings(arguments: [], environment: [name: "-1"]) }
        _ = try TortureSettings(arguments: [], environment: [name: "1", "SEED": "0"])
    }

    // MARK: While servers are struck

    private static let away = SealKitError(.serviceUnavailable, "the server is away")
    private static let wrong = SealKitError(.internalError, "something else")

    @Test func aServerThatIsLeftIsExcusedForAShortTimeAlone() {
        let journal = Journal()
        #expect(!journal.excuses(Self.away))
        journal.strike()
        #expect(journal.excuses(Self.away))
        #expect(!journal.excuses(Self.wrong))
        journal.excuse(for: .seconds(3_600))
        #expect(journal.excuses(Self.away))
        #expect(!journal.excuses(Self.wrong))
        journal.excuse(for: .zero)
        #expect(!journal.excuses(Self.away))
        journal.goDown()
        #expect(journal.excuses(Self.away))
        #expect(journal.excuses(Self.wrong))
        journal.comeUp()
        #expect(!journal.excuses(Self.away))
    }

    @Test func allGoesOnOnceEachZoneIsServed() {
        var served = Journal.Served()
        served.add("first")
        served.add("second")
        let before = served
        for _ in 0..<3 { served.add("first") }
        #expect(!served.goesOn(since: before))
        served.add("second")
        #expect(served.goesOn(since: before))
        #expect(!served.goesOn(since: served))
    }

    @Test func aZoneThatNobodyWasServedInIsNotWaitedFor() {
        var served = Journal.Served()
        let before = served
        for _ in 0..<2 { served.add("first") }
        #expect(!served.goesOn(since: before))
        served.add("first")
        #expect(served.goesOn(since: before))
    }

    // MARK: After a crash

    @Test func whatWasAcknowledgedHasToBeThere() throws {
        var known = KnownWorld(0)
        known.stepped(to: 1)
        try known.goOn(from: 1) { "\($0)" }
        #expect(throws: Finding.self) { try known.goOn(from: 0) { "\($0)" } }
    }

    @Test func whatGotNoAnswerIsAsBeforeOrAsAfter() throws {
        var known = KnownWorld(0)
        known.missed(2)
        #expect(throws: Finding.self) { try known.goOn(from: 1) { "\($0)" } }
        known.missed(2)
        try known.goOn(from: 2) { "\($0)" }
        #expect(known.world == 2)
        known.missed(4)
        try known.goOn(from: 2) { "\($0)" }
        #expect(known.unheardAndDone == 1)
        // Whatever it was, it is decided now.
        #expect(throws: Finding.self) { try known.goOn(from: 4) { "\($0)" } }
    }

    // MARK: On a full disk

    /// A torture that fails without a word, and one that is killed.
    @Test(arguments: ["exit 1", "exit 77", "kill -9 $$"])
    func aTortureThatDoesNotEndWellIsNoFullDiskThatNobodyMayMake(_ end: String) throws {
        let program = FileManager.default.temporaryDirectory.appendingPathComponent("torture-\(UUID().uuidString)")
        try Data("#!/bin/sh\n\(end)\n".utf8).write(to: program)
        defer { try? FileManager.default.removeItem(at: program) }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        // Nothing is said by what ends well.
        guard try DiskTorture.inNamespace(seed: 1, program: "/bin/true").isEmpty else { return }
        #expect(throws: Finding.self) { try DiskTorture.inNamespace(seed: 1, program: program.path) }
    }
}
