import Foundation
import SealStorage
import SealSystem
import Testing

@testable import SealServer
@testable import SealService

/// That a place has the backups of one database.
@Suite(.withDatabaseFile, .timeLimit(.minutes(60))) struct BackupPlaceTests {
    private let place = TemporaryFolder()

    /// Of a server that has stopped.
    private func backUp(_ folder: TemporaryFolder, after seconds: Double, data: String = "data") throws
        -> Backup.Outcome
    {
        try Backup(
            dataFolder: folder.file(data), secretsFolder: folder.file("data.secrets"), place: place.file("place"),
            recipient: nil, origin: nil, now: Date(timeIntervalSince1970: 1_800_000_000 + seconds)
        ).run(keep: 1)
    }

    private func backups() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.file("place/backups"))
    }

    /// As it was made before it said whose it is.
    private func forgetRun(in name: String) throws {
        let folder = place.file("place/backups/" + name)
        let path = folder + "/" + BackupManifest.fileName
        var manifest = try #require(
            try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any])
        #expect(manifest.removeValue(forKey: "firstRun") is String)
        try JSONSerialization.data(withJSONObject: manifest).write(to: URL(fileURLWithPath: path))
        let sum = try FileSum(ofFileAt: path).sha256
        try Data("\(sum)  \(BackupManifest.fileName)\n".utf8).write(
            to: URL(fileURLWithPath: folder + "/" + BackupManifest.sumName))
    }

    /// Another server, and an empty one that has started beside the secrets of the first, whose disk is not mounted.
    @Test func whatIsAnotherDatabasesIsNeitherJoinedNorRemoved() async throws {
        let (first, second, unmounted) = (TemporaryFolder(), TemporaryFolder(), TemporaryFolder())
        try await RunningServer.with(folder: first) { _ in }
        try await RunningServer.with(folder: second) { _ in }
        try FileManager.default.copyItem(atPath: first.file("data.secrets"), toPath: unmounted.file("data.secrets"))
        try await RunningServer.with(folder: unmounted) { _ in }
        let made = try backUp(first, after: 0)
        for other in [second, unmounted] {
            let error = #expect(throws: BackupError.self) { try backUp(other, after: 1) }
            #expect(error?.kind == .badInput && error?.reason.contains(made.name) == true)
            #expect(try backups() == [made.name])
            #expect(BackupNote(in: other.file("data"))?.name == "")
        }
        // One that says nothing of it is told by the secrets.
        try forgetRun(in: made.name)
        #expect(throws: BackupError.self) { try backUp(second, after: 2) }
        #expect(try backups() == [made.name])
        let next = try backUp(first, after: 3)
        #expect(try backups() == [next.name])
    }

    /// Those of the first are in no backup, and without them its backups are of no use to anybody.
    @Test func sealedSecretsStayWhereTheBackupOfAnotherDatabaseIsRefused() async throws {
        let (first, second) = (TemporaryFolder(), TemporaryFolder())
        let (key, sealed) = (try BackupKey.generate(), place.file("secrets.sealed"))
        func seal(_ folder: TemporaryFolder) throws {
            _ = try Backup(
                dataFolder: folder.file("data"), secretsFolder: folder.file("data.secrets"),
                place: place.file("place"), recipient: key.recipient, origin: nil, now: Date()
            ).run(secretsTo: sealed)
        }
        for folder in [first, second] { try await RunningServer.with(folder: folder) { _ in } }
        try seal(first)
        let kept = try Data(contentsOf: URL(fileURLWithPath: sealed))
        #expect(throws: BackupError.self) { try seal(second) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: sealed)) == kept)
        let own = try SecretsCopy(folder: first.file("data.secrets")).fingerprints
        #expect(try SecretsCopy(sealedFile: sealed, key: key).fingerprints == own)
        // Its own are sealed anew with each backup.
        try seal(first)
        #expect(try Data(contentsOf: URL(fileURLWithPath: sealed)) != kept)
    }

    /// Both copies would be of the wrong ones, and whoever restores them could not tell.
    @Test func secretsOfAnotherServerAreNotBackedUpAsThisOnes() async throws {
        let (folder, other) = (TemporaryFolder(), TemporaryFolder())
        try await RunningServer.with(folder: folder) { _ in }
        try await RunningServer.with(folder: other) { _ in }
        let (secrets, kept) = (folder.file("data.secrets"), folder.file("kept"))
        try FileManager.default.moveItem(atPath: secrets, toPath: kept)
        func refused() throws {
            #expect(throws: ConfigurationError.self) { try backUp(folder, after: 0) }
            #expect(throws: ConfigurationError.self) {
                try SecretFingerprints.requireOwn(secrets, dataFolder: folder.file("data"))
            }
            #expect(!FileManager.default.fileExists(atPath: place.file("place")))
        }
        try FileManager.default.copyItem(atPath: other.file("data.secrets"), toPath: secrets)
        try refused()
        // One that lacks them.
        try FileManager.default.removeItem(atPath: secrets + "/address.key")
        try refused()
        try FileManager.default.removeItem(atPath: secrets)
        try FileManager.default.moveItem(atPath: kept, toPath: secrets)
        let made = try backUp(folder, after: 1)
        #expect(try backups() == [made.name])
    }

    /// A restored server is the same one, and so is what it was restored from.
    @Test func aRestoredServerGoesOnInItsPlace() async throws {
        let folder = TemporaryFolder()
        try await RunningServer.with(folder: folder) { _ in }
        let made = try backUp(folder, after: 0)
        let restore = try Restore(
            place: place.file("place"), name: nil, dataFolder: folder.file("restored"), key: nil,
            secrets: .folder(folder.file("data.secrets")), withoutDamaged: false)
        #expect(try await restore.run(now: 1_900_000_000_000_000).name == made.name)
        let next = try backUp(folder, after: 1, data: "restored")
        #expect(try backups() == [next.name])
    }
}
