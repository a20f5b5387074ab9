import Foundation
import SealClient
import SealLab
import Testing

@testable import SealKit

/// `sealkit backup`, `restore` and `check` beside and instead of a real server.
@Suite(.timeLimit(.minutes(60))) struct BackupCommandTests {
    private func with(_ body: (BackedUpServer, Person, RecordZone.ID) async throws -> Void) async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        let ann = try await Person(server.process)
        let zone = try await ann.makeZone()
        try await ann.saveFile("first", in: zone, bytes: 200_000, folder: server.folder)
        try await body(server, ann, zone)
    }

    private func blobs(_ server: BackedUpServer) throws -> [String] {
        try server.files("place").filter { $0.contains("/blobs") && !$0.hasSuffix(".txt") }
    }

    @Test func everythingComesBackAndTheSecondBackupCopiesWhatIsNew() async throws {
        try await with { server, ann, zone in
            // Somebody saves all the while.
            let writing = Task {
                var count = 0
                while !Task.isCancelled {
                    try await ann.own.save(ann.note(in: zone, "during", name: "during-\(count)"))
                    count += 1
                }
                return count
            }
            let first = try await server.backUp()
            #expect(first["blobs"] as? Int == 1)
            #expect(first["copied"] as? Int == 1)
            writing.cancel()
            let written = await writing.result
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            let second = try await server.backUp()
            #expect(second["blobs"] as? Int == 2)
            #expect(second["copied"] as? Int == 1)
            #expect(second["missing"] as? [String] == [])
            try await server.call("backup", "verify", "--from", "place/")
            let listed = try await server.call("backup", "list", "--from", "place", "--quiet")
            #expect(listed.output.split(separator: "\n").count == 2)

            try server.loseData()
            try await server.call("restore", "--from", "place", "--data", "data/", "--secrets", "data.secrets/")
            try await server.call("check", "--data", "data")
            try server.restart()
            let reader = try ann.onFreshDevice()
            #expect(try await reader.hasFile("first", in: zone, bytes: 200_000))
            #expect(try await reader.hasFile("second", in: zone, bytes: 70_000))
            if case .success(let count) = written, count > 0 {
                let last = Record.ID(recordName: "during-\(count - 1)", zoneID: zone)
                #expect(try await reader.own.record(for: last).encryptedValues["body"] == "during")
            }
            // The data is this user's alone, as it was.
            let mode = try FileManager.default.attributesOfItem(atPath: server.data)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    @Test func devicesNoticeTheNewHistoryAndGiveBackWhatWasLost() async throws {
        let server = try BackedUpServer()
        defer { server.stop() }
        let (ann, bob) = (try await Person(server.process), try await Person(server.process))
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await ann.own.save(ann.note(in: zone.zoneID, "first", name: "note"))
        let good = try await ann.own.recordZoneChanges(inZoneWith: zone.zoneID).changeToken
        // The server runs on: the backup knows the run that the tokens of afterwards name.
        _ = try await server.backUp()
        try await ann.own.rotateKeys(of: zone.zoneID)
        let lost = ann.note(in: zone.zoneID, "since the backup", name: "lost")
        try await ann.own.save(lost)
        let future = try await ann.own.recordZoneChanges(inZoneWith: zone.zoneID).changeToken
        for person in [ann, bob] { try await zone.view(of: person) }
        let head = try await zone.view(of: ann).roster.head
        try server.loseData()
        try await server.call("restore", "--from", "place", "--data", "data")
        try server.restart()

        let told = await failure { _ = try await zone.database(of: bob).record(for: zone.recordID("note", for: bob)) }
        #expect(told == .rollback)
        let found = try await zone.database(of: bob).record(for: zone.recordID("note", for: bob))
        #expect(found.encryptedValues["body"] == "first")
        for person in [ann, bob] { #expect(try await zone.view(of: person).roster.head == head) }
        let expired = await failure {
            _ = try await ann.own.recordZoneChanges(inZoneWith: zone.zoneID, since: future)
        }
        #expect(expired == .changeTokenExpired)
        _ = try await ann.own.modifyRecords(saving: [lost], savePolicy: .restoring)
        let since = try await ann.own.recordZoneChanges(inZoneWith: zone.zoneID, since: good)
        let again = since.modifications.map(\.recordID.recordName)
        #expect(again.contains("lost"))
    }

    @Test func sealedBackupsOpenWithTheKeyAlone() async throws {
        try await with { server, ann, zone in
            let recipient = try await server.call("backup", "key", "--out", "backup.key", "--quiet").output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let keyFile = server.folder.appendingPathComponent("backup.key").path
            #expect(try FileManager.default.attributesOfItem(atPath: keyFile)[.posixPermissions] as? Int == 0o600)
            try await server.call("backup", "key", "--out", "backup.key", status: 73)
            try await server.call("backup", "key", "--out", "other.key")
            let first = try await server.backUp("--recipient", recipient, "--secrets-to", "secrets.sealed")
            #expect(first["copied"] as? Int == 1)
            try await ann.saveFile("second", in: zone, bytes: 65_536, folder: server.folder)
            #expect(try await server.backUp("--recipient", recipient)["copied"] as? Int == 1)
            for file in try server.files("place") {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                #expect(bytes.range(of: Data("SQLite format".utf8)) == nil, "\(file)")
                #expect(bytes.range(of: Data("org.example.notes".utf8)) == nil, "\(file)")
            }
            let draft = server.data + "/backup-draft.sqlite"
            #expect(!FileManager.default.fileExists(atPath: draft))
            // It needs no key to be looked at.
            try await server.call("backup", "verify", "--from", "place")

            try server.loseData()
            try FileManager.default.moveItem(atPath: server.data + ".secrets", toPath: server.data + ".gone")
            let restore = ["restore", "--from", "place", "--data", "data", "--secrets", "secrets.sealed"]
            #expect(try await server.run(restore).errors.contains("--key"))
            let wrong = try await server.run(restore + ["--key", "other.key"])
            #expect(wrong.status == 65, "\(wrong.errors)")
            #expect(!FileManager.default.fileExists(atPath: server.data))
            let done = try await server.run(restore + ["--key", "backup.key"])
            #expect(done.status == 0, "\(done.errors)")
            try server.restart()
            let reader = try ann.onFreshDevice()
            #expect(try await reader.hasFile("first", in: zone, bytes: 200_000))
            #expect(try await reader.hasFile("second", in: zone, bytes: 65_536))
        }
    }

    @Test func aBackupThatIsKilledIsNone() async throws {
        try await with { server, ann, zone in
            for index in 0..<8 {
                try await ann.saveFile("more-\(index)", in: zone, bytes: 400_000, folder: server.folder)
            }
            for round in 0..<24 {
                let process = Process()
                process.executableURL = ServerProcess.executable
                process.arguments = ["backup", "--data", server.data, "--to", server.place]
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try process.start()
                try await Task.sleep(for: .milliseconds(20 + 15 * round))
                kill(process.processIdentifier, SIGKILL)
                await process.end()
                let place = server.place + "/backups"
                let whole = ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).filter {
                    !$0.hasPrefix(".")
                }
                if !whole.isEmpty { try await server.call("backup", "verify", "--from", "place") }
            }
            let last = try await server.backUp()
            #expect(last["blobs"] as? Int == 9)
            try await server.call("backup", "verify", "--from", "place")
            let left = try FileManager.default.contentsOfDirectory(atPath: server.place + "/backups")
            let hidden = left.filter { $0.hasPrefix(".") }
            #expect(hidden == [])
            let drafts = try server.files("place").filter { $0.hasSuffix(".new") }
            #expect(drafts == [])
        }
    }

    /// What was copied before the kill is not copied again.
    @Test func theNextBackupGoesOnWhereOneWasKilled() async throws {
        try await with { server, ann, zone in
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            let made = try #require(try await server.backUp()["backup"] as? String)
            // As one leaves it that was killed after its blobs, with half of another one.
            let backups = server.place + "/backups/"
            try FileManager.default.moveItem(atPath: backups + made, toPath: backups + ".draft-2020")
            for name in ["manifest.json", "manifest.json.sha256"] {
                try FileManager.default.removeItem(atPath: backups + ".draft-2020/" + name)
            }
            let half = try #require(try blobs(server).first) + ".new"
            try Data([1]).write(to: URL(fileURLWithPath: half))
            #expect(try await server.backUp()["copied"] as? Int == 0)
            #expect(!FileManager.default.fileExists(atPath: half))
            #expect(!FileManager.default.fileExists(atPath: backups + ".draft-2020"))
            try await server.call("backup", "verify", "--from", "place")
        }
    }

    @Test(arguments: ["blob", "manifest", "list", "database"]) func whatIsDamagedIsNamedAndNotRestored(_ what: String)
        async throws
    {
        try await with { server, ann, zone in
            let first = try #require(try await server.backUp()["backup"] as? String)
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            let newest = try #require(try await server.backUp()["backup"] as? String)
            let folder = server.place + "/backups/" + newest
            let victim =
                switch what {
                case "manifest": folder + "/manifest.json"
                case "list": folder + "/blobs.txt"
                case "database": folder + "/sealkit.sqlite"
                default:
                    try #require(
                        try blobs(server).first { path in
                            try Data(contentsOf: URL(fileURLWithPath: path)).count < 100_000
                        })
                }
            try BackedUpServer.flip(victim)
            #expect(try await server.call("backup", "verify", "--from", "place", status: 76).output.contains(victim))
            // A list that is damaged keeps nobody from the next backup.
            try await ann.saveFile("third", in: zone, bytes: 1_000, folder: server.folder)
            let third = try #require(try await server.backUp()["backup"] as? String)
            try server.loseData()
            let refused = try await server.call(
                "restore", "--from", "place", "--data", "data", "--backup", newest, status: 76)
            #expect(refused.errors.contains(what == "manifest" ? folder : victim), "\(refused.errors)")
            #expect(refused.errors.contains("--backup \(first)"), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: server.data))
            #expect(!FileManager.default.fileExists(atPath: server.data + ".restoring"))
            try await server.call(
                "restore", "--from", "place", "--data", "data", "--backup", what == "blob" ? first : third)
            try await server.call("check", "--data", "data")
        }
    }

    /// What several backups have is damaged in all of them, and keeps nobody from all the rest.
    @Test(arguments: [false, true]) func aDamagedAssetDoesNotKeepTheRestFromBeingRestored(isMissing: Bool) async throws
    {
        try await with { server, ann, zone in
            let first = try #require(try await server.backUp()["backup"] as? String)
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            _ = try await server.backUp()
            let victim = try #require(
                try blobs(server).first { try Data(contentsOf: URL(fileURLWithPath: $0)).count > 100_000 })
            if isMissing {
                try FileManager.default.removeItem(atPath: victim)
            } else {
                try BackedUpServer.flip(victim)
            }
            let verified = try await server.call("backup", "verify", "--from", "place", status: 76)
            #expect(verified.output.contains("remove that file") == !isMissing, "\(verified)")
            #expect(verified.output.contains("is missing") == isMissing, "\(verified)")
            try server.loseData()
            let restore = ["restore", "--from", "place", "--data", "data"]
            for backup in [[], ["--backup", first]] {
                let refused = try await server.run(restore + backup)
                #expect(refused.status == 76, "\(refused)")
                #expect(refused.errors.contains(victim) && refused.errors.contains("--without-damaged"), "\(refused)")
                // It has the same file.
                #expect(!refused.errors.contains("--backup"), "\(refused)")
                #expect(!FileManager.default.fileExists(atPath: server.data))
            }
            let done = try await server.run(restore + ["--without-damaged", "--json"])
            #expect(done.status == 76, "\(done)")
            let said = try #require(
                try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any])
            #expect(said["damaged"] as? [String] == [victim])
            #expect(said["blobs"] as? Int == 1)
            let checked = try await server.call("check", "--data", "data", "--json", status: 76)
            #expect(checked.output.contains("missing-blob"), "\(checked)")
            try server.restart()
            let reader = try ann.onFreshDevice()
            #expect(try await reader.hasFile("second", in: zone, bytes: 70_000))
            let id = Record.ID(recordName: "first", zoneID: zone)
            #expect(try await reader.own.fetchingAssets(.onDemand).record(for: id).recordID == id)
            #expect(await failure { _ = try await reader.own.record(for: id) } == .assetNotAvailable)
        }
    }

    /// With sums that hold: whoever wrote it so could write those as well.
    @Test func aListThatEndsEarlyIsNone() async throws {
        try await with { server, ann, zone in
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            let made = try #require(try await server.backUp()["backup"] as? String)
            try server.cutShort(made)
            let list = "\(server.place)/backups/\(made)/blobs.txt"
            #expect(try await server.call("backup", "verify", "--from", "place", status: 76).output.contains(list))
            // Nobody can tell any more which blobs it needs.
            let before = try blobs(server)
            let said = try await server.run(["backup", "--data", "data", "--to", "place", "--keep", "2"])
            #expect(said.status == 72, "\(said.errors)")
            #expect(said.errors.contains(list), "\(said.errors)")
            #expect(try blobs(server) == before)
            try server.loseData()
            let refused = try await server.call(
                "restore", "--from", "place", "--data", "data", "--backup", made, status: 76)
            #expect(refused.errors.contains(list), "\(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: server.data))
        }
    }

    /// Files and folders of somebody's, and a clock that was ahead, cost no backup what it needs.
    @Test func whatElseLiesInThePlaceCostsNothing() async throws {
        try await with { server, ann, zone in
            let first = try #require(try await server.backUp()["backup"] as? String)
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            let (files, backups) = (FileManager.default, server.place + "/backups/")
            try files.copyItem(atPath: backups + first, toPath: backups + "before-upgrade")
            try files.copyItem(atPath: backups + first, toPath: backups + "2099-01-01T000000Z")
            // By its name behind all blobs, and by its folder before them.
            let stray = server.place + "/blobs/!/00/ffffffff"
            try files.createDirectory(
                atPath: server.place + "/blobs/!/00", withIntermediateDirectories: true)
            for path in [stray, server.place + "/blobs/note"] { try Data([1]).write(to: URL(fileURLWithPath: path)) }
            let made = try #require(try await server.backUp("--keep", "1")["backup"] as? String)
            #expect(try files.contentsOfDirectory(atPath: backups).sorted() == [made, "before-upgrade"])
            #expect(files.fileExists(atPath: stray))
            try await server.call("backup", "verify", "--from", "place")
        }
    }

    /// Names go by the clock, and what was made last by its number.
    @Test func aClockThatWasSetBackUpsetsNothing() async throws {
        try await with { server, ann, zone in
            let (files, backups) = (FileManager.default, server.place + "/backups/")
            let first = try #require(try await server.backUp()["backup"] as? String)
            // As if the clock had been a hundred years ahead.
            try files.moveItem(atPath: backups + first, toPath: backups + "2126-01-01T000000Z")
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            let second = try #require(try await server.backUp()["backup"] as? String)
            let listed = try await server.call("backup", "list", "--from", "place", "--json").output
            let names = try listed.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["backup"]
                    as? String
            }
            #expect(names == ["2126-01-01T000000Z", second])
            try server.loseData()
            let restored = try await server.call("restore", "--from", "place", "--data", "data", "--quiet").output
            #expect(restored.trimmingCharacters(in: .whitespacesAndNewlines) == second)
            try server.restart()
            #expect(try await ann.onFreshDevice().hasFile("second", in: zone, bytes: 70_000))
            // The oldest goes, which is not the one that the clock says.
            let third = try #require(try await server.backUp("--keep", "2")["backup"] as? String)
            #expect(try Set(files.contentsOfDirectory(atPath: backups)) == [second, third])
            // Which is the newest nobody can tell where one does not say its number.
            try BackedUpServer.flip(backups + second + "/manifest.json")
            try server.loseData()
            let refused = try await server.call("restore", "--from", "place", "--data", "data", status: 76)
            #expect(refused.errors.contains(second), "\(refused.errors)")
            #expect(refused.errors.contains("--backup \(third)"), "\(refused.errors)")
            #expect(!files.fileExists(atPath: server.data))
            try await server.call("restore", "--from", "place", "--data", "data", "--backup", third)
        }
    }

    /// Sealed again a blob has another sum: where an older backup names it, it stays as it is.
    @Test func aSealedBlobThatAnOlderBackupNamesStays() async throws {
        try await with { server, ann, zone in
            let recipient = try await server.call("backup", "key", "--out", "backup.key", "--quiet").output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let first = try #require(try await server.backUp("--recipient", recipient)["backup"] as? String)
            try await ann.own.deleteRecord(withID: Record.ID(recordName: "first", zoneID: zone))
            #expect(try await server.backUp("--recipient", recipient)["blobs"] as? Int == 0)
            try server.loseData()
            try await server.call(
                "restore", "--from", "place", "--data", "data", "--backup", first, "--key", "backup.key")
            let again = try await server.backUp("--recipient", recipient)
            #expect(again["blobs"] as? Int == 1)
            #expect(again["copied"] as? Int == 0)
            try await server.call("backup", "verify", "--from", "place")
        }
    }

    @Test func restoringTouchesNothingThatIsThere() async throws {
        try await with { server, _, _ in
            _ = try await server.backUp()
            let full = try await server.call("restore", "--from", "place", "--data", "data", status: 65)
            #expect(full.errors.contains("not empty"))
            // Without what the kernel mounts this says nothing.
            let mount = try await server.call(
                "restore", "--from", "place", "--data", "/proc", "--secrets", "data.secrets", status: 65)
            #expect(mount.errors.contains("mounted"), "\(mount.errors)")
            server.process.terminate()
            try FileManager.default.createDirectory(
                atPath: server.folder.path + "/empty", withIntermediateDirectories: true)
            try await server.call("restore", "--from", "place", "--data", "empty", "--secrets", "data.secrets/")
            try await server.call("check", "--data", "empty", "--secrets", "data.secrets")
            // A draft of that name with something else in it is somebody's.
            let draft = server.folder.path + "/mine.restoring"
            try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
            try Data([1]).write(to: URL(fileURLWithPath: draft + "/letter"))
            try await server.call(
                "restore", "--from", "place", "--data", "mine", "--secrets", "data.secrets", status: 65)
            #expect(FileManager.default.fileExists(atPath: draft + "/letter"))
            try await server.call(
                "restore", "--from", "nothing", "--data", "x", "--secrets", "data.secrets", status: 66)
            try await server.call(
                "restore", "--from", "place", "--backup", "2000", "--data", "x", "--secrets", "data.secrets", status: 66
            )
            // What would be removed there some day may be another server's.
            try await server.call("backup", "--data", "empty", "--secrets", "data.secrets", "--to", "data", status: 65)
            let key = try await server.call("backup", "key", "--out", "pair.key", "--quiet").output
            try await server.call(
                "backup", "--data", "data", "--to", "place", "--secrets-to", "pair.key", "--recipient",
                key.trimmingCharacters(in: .whitespacesAndNewlines), status: 65)
            // Paths that have no folder above them as they are written.
            try await server.call("backup", "--data", "data", "--to", ".", status: 65)
            try await server.call("restore", "--from", ".", "--data", ".", status: 66)
            try await server.call("backup", "--data", ".", "--to", "..", status: 66)
        }
    }

    @Test func ofTwoRestoresAtOnceOneIsRefused() async throws {
        try await with { server, _, _ in
            _ = try await server.backUp()
            for _ in 0..<4 {
                try server.loseData()
                let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
                    for _ in 0..<3 {
                        group.addTask {
                            try await server.run(["restore", "--from", "place", "--data", "data"]).status
                        }
                    }
                    return try await group.reduce(into: [Int32]()) { $0.append($1) }.sorted()
                }
                #expect(statuses.first == 0, "\(statuses)")
                // Another one is at work, or has ended.
                let others = statuses.dropFirst().filter { $0 != 65 && $0 != 75 }
                #expect(others == [], "\(statuses)")
                try await server.call("check", "--data", "data")
                #expect(!FileManager.default.fileExists(atPath: server.data + ".restoring"))
            }
        }
    }

    @Test func aDatabaseDoesNotComeToOtherSecrets() async throws {
        try await with { server, _, _ in
            _ = try await server.backUp()
            try server.loseData()
            let key = server.data + ".secrets/address.key"
            try BackedUpServer.flip(key)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            let refused = try await server.call(
                "restore", "--from", "place", "--data", "data", "--secrets", "data.secrets/", status: 65)
            #expect(refused.errors.contains("address.key"), "\(refused.errors)")
            try await server.call("restore", "--from", "place", "--data", "data", "--secrets", "elsewhere", status: 66)
            #expect(!FileManager.default.fileExists(atPath: server.data))
        }
    }

    @Test func whatNobodyNeedsGoesOnceTheNewBackupIsWhole() async throws {
        try await with { server, ann, zone in
            _ = try await server.backUp()
            try await ann.own.deleteRecord(withID: Record.ID(recordName: "first", zoneID: zone))
            try await ann.saveFile("second", in: zone, bytes: 70_000, folder: server.folder)
            _ = try await server.backUp()
            let newest = try #require(try await server.backUp("--keep", "3")["backup"] as? String)
            #expect(try blobs(server).count == 2)
            let kept = try await server.backUp("--keep", "2")
            #expect(kept["removedBackups"] as? Int == 2)
            #expect(kept["removedBlobs"] as? Int == 1)
            #expect(try blobs(server).count == 1)
            try await server.call("backup", "verify", "--from", "place")
            // Which blobs a backup needs whose list is damaged nobody can tell: the new one is whole all the same.
            try BackedUpServer.flip(server.place + "/backups/" + newest + "/blobs.txt")
            let said = try await server.run(["backup", "--data", "data", "--to", "place", "--keep", "3"])
            #expect(said.status == 72, "\(said.output)\(said.errors)")
            #expect(said.errors.contains("whole"), "\(said.errors)")
            #expect(said.errors.contains(newest), "\(said.errors)")
            #expect(try blobs(server).count == 1)
        }
    }

    @Test func whatTheServerHasLostIsSaidAndNothingOlderIsRemoved() async throws {
        try await with { server, _, _ in
            _ = try await server.backUp()
            let blob = try #require(try server.files("data/blobs").first)
            try FileManager.default.removeItem(atPath: blob)
            // The place has it: nothing is missing.
            #expect(try await server.backUp()["missing"] as? [String] == [])
            let said = try await server.run(["backup", "--data", "data", "--to", "other", "--keep", "1", "--json"])
            #expect(said.status == 76, "\(said.output)\(said.errors)")
            #expect(said.output.contains((blob as NSString).lastPathComponent), "\(said.output)")
        }
    }
}
