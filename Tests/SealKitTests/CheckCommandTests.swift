import Foundation
import SealLab
import Testing

@testable import SealKit

/// `sealkit check` finds what does not go together.
@Suite(.timeLimit(.minutes(60))) struct CheckCommandTests {
    enum Fault: String, CaseIterable {
        case missing, size, sum, unknown, claim, assets, place, run, roster, bill, notification, page
    }

    @Test(arguments: Fault.allCases) func eachFaultIsFound(_ fault: Fault) async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        let ann = try await Person(server.process)
        let zone = try await ann.makeZone()
        for name in ["one", "two"] { try await ann.saveFile(name, in: zone, bytes: 200_000, folder: server.folder) }
        let running = try await server.call("check", "--data", "data", status: 75)
        #expect(running.errors.contains("in use"), "\(running.errors)")
        server.process.terminate()
        let clean = try await server.call("check", "--data", "data", "--json")
        #expect(clean.output == "")

        let blob = try #require(try server.files("data/blobs").first)
        let kind: String
        switch fault {
        case .missing:
            try FileManager.default.removeItem(atPath: blob)
            kind = "missing-blob"
        case .size:
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: blob))
            kind = "wrong-size"
        case .sum:
            try BackedUpServer.flip(blob)
            kind = "wrong-sum"
        case .unknown:
            try Data([1]).write(to: URL(fileURLWithPath: (blob as NSString).deletingLastPathComponent + "/letter"))
            kind = "unknown-file"
        case .claim:
            try server.change("UPDATE blob SET record = 'nobody'")
            kind = "records"
        case .assets:
            try server.change("UPDATE record SET assets = assets + 1 WHERE name = 'one'")
            kind = "records"
        case .place:
            try server.change("UPDATE zone SET position = 1")
            kind = "feeds"
        case .run:
            try server.change("DELETE FROM server_run")
            kind = "feeds"
        case .roster:
            try server.change("UPDATE zone SET sequence = sequence + 1 WHERE name <> '_defaultZone'")
            kind = "feeds"
        case .bill:
            try server.change("UPDATE storage_usage SET bytes = bytes + 1 WHERE owner <> 0")
            kind = "sums"
        case .notification:
            try server.change(
                """
                INSERT INTO notification (owner, environment, database, subscription, zone_owner, zone, record, kind,
                    number, other_number, origin, payload, changed) VALUES (1, 1, 1, 'x', 1, 1, 'x', 1, 5, 0, '', '', 0)
                """)
            kind = "feeds"
        case .page:
            // A page in the middle of the file.
            let path = server.data + "/sealkit.sqlite"
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            let size = try file.seekToEnd()
            for page in stride(from: UInt64(4096 * 8), to: size, by: 4096 * 3) {
                try file.seek(toOffset: page)
                try file.write(contentsOf: Data(repeating: 0xA5, count: 64))
            }
            try file.close()
            kind = "database"
        }
        let found = try await server.call("check", "--data", "data", "--json", status: 76)
        #expect(found.output.contains("\"kind\":\"\(kind)\""), "\(found.output)\(found.errors)")
        #expect(found.output.contains("remedy"))
        // What is damaged is not copied over what is whole.
        if fault == .page {
            try await server.call("backup", "--data", "data", "--to", "place", status: 76)
            let made = (try? FileManager.default.contentsOfDirectory(atPath: server.place + "/backups")) ?? []
            #expect(made.filter { !$0.hasPrefix(".") } == [])
        }
    }

    /// Whoever has not started the new server yet is not to give up what was written since the newest backup.
    @Test func aDatabaseOfAnOlderVersionIsNotDamaged() async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        server.process.terminate()
        try server.change("DELETE FROM migrations WHERE position > 3")
        try server.change("DROP TABLE database_feed")
        let said = try await server.call("check", "--data", "data", status: 65)
        #expect(said.errors.contains("made by an older version"), "\(said)")
        #expect(!(said.output + said.errors).contains("restore"), "\(said)")
    }

    /// The server would not start with these, and no backup of them would help.
    @Test func otherSecretsAreTold() async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        server.process.terminate()
        try await server.call("check", "--data", "data")
        try BackedUpServer.flip(server.data + ".secrets/registration.key")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: server.data + ".secrets/registration.key")
        for command in [["check"], ["backup", "--to", "place"]] {
            let said = try await server.run(command + ["--data", "data"])
            #expect(said.status == 65, "\(said)")
            #expect(said.errors.contains("written with other secrets: registration.key"), "\(said)")
        }
        // A copy that has none beside it is looked at all the same.
        try FileManager.default.removeItem(atPath: server.data + ".secrets")
        try await server.call("check", "--data", "data")
    }

    /// Scripts go by the status: a disk that is full is another one.
    @Test func aDamagedDatabaseIsNotServed() async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        server.process.terminate()
        try server.damage("settings")
        let said = try await server.call("serve", "--data", "data", "--listen", "127.0.0.1:0", status: 76)
        #expect(said.errors.contains("sealkit check --data="), "\(said)")
        try await server.call("check", "--data", "data", status: 76)
    }

    /// Whoever looks into the file meanwhile has not damaged it.
    @Test func aDatabaseThatIsHeldIsNotDamaged() async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        server.process.terminate()
        try await server.holdingDatabase {
            for words in [["check"], ["backup", "--to", "place"]] {
                let said = try await server.run(words + ["--data", "data"])
                #expect(said.status == 75, "\(said)")
                #expect(said.errors.contains("another program holds"), "\(said)")
                #expect(!(said.output + said.errors).contains("restore"), "\(said)")
            }
        }
        try await server.call("check", "--data", "data")
    }

    @Test func thereHasToBeADatabase() async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        try await server.call("check", "--data", "nothing", status: 66)
        try await server.call("check", status: 65)
        #expect(!FileManager.default.fileExists(atPath: server.folder.path + "/nothing"))
    }
}
