import Foundation
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// A member's records and keys that do not open, on their owner's command line.
@Suite(.timeLimit(.minutes(60))) struct InsiderCommandTests {
    let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    @Test func everyCommandGoesPastThemNamesThemAndMendsThem() async throws {
        let world = try await AttackedZone()
        let (ann, bob) = (world.ann, world.bob)
        let keyFile = temporary.url.appendingPathComponent("ann.json")
        try KeyFile.write(ann.account, to: keyFile, passphrase: nil)
        let zone = world.zone.zoneName
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable,
                arguments + ["--key-file", keyFile.path, "--container", ann.container.containerIdentifier])
        }
        let insider = Insider(person: bob, zone: world.joined)
        try await insider.signWithRandomKey("note", following: try await bob.shared.record(for: world.shared))
        try await insider.signWithRandomField("rubbish")
        try await world.carol.shared.leaveShare(of: world.joined)
        try await insider.openKey(cheating: [ann])

        // The owner is told whom to blame, and what to do itself.
        let refused = try await run("record", "save", "--zone", zone, "--type", "Note", "--name", "new")
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(refused.errors.contains("sealkit zone rotate"), "\(refused.errors)")
        #expect(!refused.errors.contains("ask the owner"), "\(refused.errors)")
        let keys = try await run("zone", "keys", zone)
        #expect(keys.status == 0, "\(keys)")
        #expect(keys.output.contains("sealkit zone rotate"), "\(keys)")
        #expect(keys.output.contains("oldest in use 0"), "\(keys)")
        let audit = try await run("audit")
        #expect(audit.status == 76, "\(audit)")
        #expect(audit.output.contains("BAD GRANTS of keys 1 (opened by \(bob.name))"), "\(audit)")
        #expect(audit.output.contains("NOT GIVEN key 1"), "\(audit)")
        #expect(!audit.output.contains("not checked"), "\(audit)")
        let rotated = try await run("zone", "rotate", zone)
        #expect(rotated.status == 0, "\(rotated)")
        #expect(rotated.output.contains("key 2"), "\(rotated)")

        let got = try await run("record", "get", "note", "--zone", zone)
        #expect(got.status == 76, "\(got.errors)")
        #expect(got.errors.contains(bob.name), "\(got.errors)")
        #expect(!got.errors.contains("server"), "\(got.errors)")
        let rekeyed = try await run("zone", "rekey", zone)
        #expect(rekeyed.status == 76, "\(rekeyed)")
        #expect(rekeyed.output.contains("1 record sealed again, 2 left"), "\(rekeyed)")
        for (index, arguments) in [
            ["zone", "keys", zone],
            ["export", "--raw", temporary.url.appendingPathComponent("raw").path, "--zone", zone],
            ["data", "export", temporary.url.appendingPathComponent("data").path, "--zone", zone],
        ].enumerated() {
            let said = try await Command.finished(
                ServerProcess.executable,
                arguments + ["--key-file", keyFile.path, "--container", ann.container.containerIdentifier])
            #expect(said.status == (index == 0 ? 0 : 76), "\(said)")
            #expect(said.errors.contains("! note: record note does not open"), "\(said)")
            #expect(said.errors.contains(bob.name), "\(said)")
            #expect(!said.output.isEmpty)
        }
        #expect(FileManager.default.fileExists(atPath: temporary.url.appendingPathComponent("raw/export.json").path))
        #expect(FileManager.default.fileExists(atPath: temporary.url.appendingPathComponent("data/manifest.json").path))

        // Its user says what goes.
        let update = try await run(
            "record", "save", "--zone", zone, "--name", "note", "--update", "--type", "Note", "--seal", "body=mended")
        #expect(update.status == 76, "\(update.errors)")
        #expect(update.errors.contains("--overwrite"), "\(update.errors)")
        let mended = try await run(
            "record", "save", "--zone", zone, "--name", "note", "--overwrite", "--type", "Note", "--seal", "body=mended"
        )
        #expect(mended.status == 0, "\(mended.errors)")
        #expect(try await run("record", "delete", "rubbish", "--zone", zone).status == 0)
        #expect(try await run("record", "get", "note", "--zone", zone, "--value", "body").output == "mended")
        #expect(try await run("audit", "--forget").status == 76)
        let clean = try await run("audit")
        #expect(clean.status == 0, "\(clean.output)")
        #expect(clean.output.hasSuffix("clean\n"), "\(clean.output)")
    }
}
