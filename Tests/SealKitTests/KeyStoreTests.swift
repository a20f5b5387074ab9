import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import Synchronization
import Testing

@testable import SealKit

/// Where accounts are kept on a device: what goes in comes out, nothing is lost on the way, and nobody else reads it.
@Suite(.timeLimit(.minutes(60))) struct KeyStoreTests {
    private let temporary: TemporaryFolder
    private var file: URL { temporary.url.appendingPathComponent("key.json") }

    init() throws { temporary = try TemporaryFolder() }

    private func secrets(_ count: Int = 1, device: String? = "lamp") throws -> AccountSecrets {
        var random = SystemRandom()
        return try AccountSecrets(
            server: "http://127.0.0.1:1", seeds: (0..<count).map { _ in AccountSeed(random: &random) },
            deviceName: device)
    }

    /// As apps write theirs: bytes in a place that knows nothing of them.
    private final class Keychain: KeyStore {
        private let item = Mutex<Data?>(nil)
        func load() async throws(SealKitError) -> AccountSecrets? {
            guard let data = item.withLock({ $0 }) else { return nil }
            return try AccountSecrets(encoded: data)
        }
        func save(_ secrets: AccountSecrets, replacing old: AccountSecrets?) async throws(SealKitError) {
            try old.checkIsStill(try await load())
            let data = try secrets.encoded()
            item.withLock { $0 = data }
        }
        func delete() async throws(SealKitError) { item.withLock { $0 = nil } }
    }

    @Test func everyStoreKeepsReplacesAndForgets() async throws {
        let sealed = temporary.url.appendingPathComponent("sealed.json")
        let stores: [any KeyStore] = [
            MemoryKeyStore(), Keychain(), FileKeyStore(file: file),
            FileKeyStore(file: sealed, passphrase: { () throws(SealKitError) in "correct horse" }),
        ]
        for store in stores {
            #expect(try await store.load() == nil)
            let first = try secrets()
            try await store.save(first, replacing: nil)
            let loaded = try #require(try await store.load())
            #expect(loaded.isSame(as: first))
            #expect(loaded.deviceName == "lamp")
            #expect(loaded.server == first.server)
            // Of two that both start from the same, one wins.
            var grown = first
            grown.seeds += try secrets().seeds
            try await store.save(grown, replacing: first)
            let other = try secrets(2)
            #expect(await failure { try await store.save(other, replacing: first) } == .constraintViolation)
            #expect(await failure { try await store.save(other, replacing: nil) } == .constraintViolation)
            let kept = try #require(try await store.load())
            #expect(kept.isSame(as: grown))
            #expect(kept.seeds.count == 2)
            let named = try await store.update { $0.deviceName = nil }
            #expect(named.deviceName == nil)
            #expect(named.seeds.count == 2)
            try await store.delete()
            try await store.delete()
            #expect(try await store.load() == nil)
            #expect(await failure { try await store.save(other, replacing: grown) } == .constraintViolation)
            #expect(await failure { try await store.update { _ in } } == .notAuthenticated)
            // Nothing at all is no account.
            var none = other
            none.seeds = []
            #expect(await failure { try await store.save(none, replacing: nil) } == .invalidArguments)
            #expect(try await store.load() == nil)
            // One that was begun to be made is none, until it is made.
            var begun = try secrets()
            var random = SystemRandom()
            begun.recoveryKey = RecoveryKey(random: &random)
            try await store.save(begun, replacing: nil)
            #expect(try await store.load()?.isSame(as: begun) == true)
            #expect(try await Account.load(from: store) == nil)
            var made = begun
            made.recoveryKey = nil
            #expect(await failure { try await store.save(begun, replacing: made) } == .constraintViolation)
            try await store.save(made, replacing: begun)
            #expect(try await store.load()?.isUnfinished == false)
            #expect(try await Account.load(from: store) != nil)
        }
        #expect(await failure { _ = try secrets(65) } == .invalidArguments)
    }

    @Test func thePassphraseIsAskedForOnceAndChanges() async throws {
        let asked = Mutex(0)
        let ask: FileKeyStore.Passphrase = { () throws(SealKitError) in
            asked.withLock { $0 += 1 }
            return "correct horse"
        }
        let store = FileKeyStore(file: file, passphrase: ask)
        let first = try secrets()
        try await store.save(first, replacing: nil)
        try await store.update { $0.deviceName = "desk" }
        #expect(asked.withLock { $0 } == 1)
        let old = try Data(contentsOf: file)
        #expect(try KeyFile(contentsOf: file).isSealed)

        try await store.changePassphrase(to: "battery staple")
        #expect(
            try await FileKeyStore(file: file) { () throws(SealKitError) in "battery staple" }.load()?.isSame(
                as: try #require(try await store.load())) == true)
        // The store that changed it goes on with the new one.
        try await store.update { $0.deviceName = "again" }
        #expect(
            try await FileKeyStore(file: file) { () throws(SealKitError) in "battery staple" }.load()?.deviceName
                == "again")
        #expect(await failure { _ = try await FileKeyStore(file: file, passphrase: ask).load() } == .wrongPassphrase)
        #expect(await failure { _ = try await FileKeyStore(file: file).load() } == .wrongPassphrase)
        #expect(await failure { try await store.changePassphrase(to: "") } == .invalidArguments)
        // A process that still has the old passphrase cannot put it back.
        let late = FileKeyStore(file: file, passphrase: ask)
        #expect(await failure { try await late.update { $0.deviceName = "late" } } == .wrongPassphrase)
        try await store.changePassphrase(to: nil)
        #expect(try await FileKeyStore(file: file).load()?.seeds.count == 1)
        #expect(
            await failure {
                try await FileKeyStore(file: temporary.url.appendingPathComponent("none")).changePassphrase(to: "a")
            } == .notAuthenticated)
        // Another keyboard composes letters otherwise.
        try await store.changePassphrase(to: "caf\u{E9} noir")
        let other = FileKeyStore(file: file) { () throws(SealKitError) in "cafe\u{301} noir" }
        #expect(try await other.load()?.seeds.count == 1)
        // A wrong one is asked for again, not remembered.
        try old.write(to: file)
        let answers = Mutex(["wrong", "correct horse"])
        let patient = FileKeyStore(file: file) { () throws(SealKitError) in answers.withLock { $0.removeFirst() } }
        #expect(await failure { _ = try await patient.load() } == .wrongPassphrase)
        #expect(try await patient.load()?.deviceName == "desk")
    }

    /// An app that locks itself has no key any more: neither where it used them, nor where they came from.
    @Test func aLockedAccountIsAskedForAgain() async throws {
        let answers = Mutex(["correct horse", "wrong", "correct horse", "correct horse"])
        let store = FileKeyStore(file: file) { () throws(SealKitError) in answers.withLock { $0.removeFirst() } }
        try await store.save(try secrets(), replacing: nil)
        let accounts = AccountProvider()
        try await accounts.signIn(from: store)
        #expect(answers.withLock { $0.count } == 3, "what was typed is asked for once")
        accounts.lock()
        #expect(await failure { try await accounts.signIn(from: store) } == .wrongPassphrase)
        #expect(accounts.account == nil)
        try await accounts.signIn(from: store)
        #expect(accounts.account != nil)
        #expect(answers.withLock { $0.count } == 1)
        accounts.signOut()
        try await accounts.signIn(from: store)
        #expect(answers.withLock { $0.isEmpty })
    }

    /// To the account it is another device than the one that was removed, whatever was verified there before.
    @Test(arguments: [true, false]) func aRemovedDeviceComesBackByTheRecoveryKey(withItsTrust: Bool) async throws {
        let transport = try HTTPTransport(server: ServerProcess.shared.get().origin)
        let (store, trust) = (MemoryKeyStore(), try TrustStore())
        let (account, key) = try await Account.create(
            transport: transport, deviceName: "desk", trust: trust, in: store)
        let phone = try await Account.recover(key, transport: transport, deviceName: "phone", trust: try TrustStore())
        let own = try #require(try await account.devices().first { $0.isCurrent })
        try await phone.revokeDevice(own.id)
        #expect(await failure { _ = try await account.devices() } == .notAuthenticated)
        try await store.delete()
        let back = try await Account.recover(
            key, transport: transport, deviceName: "desk", trust: withItsTrust ? trust : nil, in: store)
        back.deviceKeeper.attach(trust)
        #expect(try await back.devices().map(\.name) == ["phone", "desk"])
        // And after the next start.
        let again = try #require(try await Account.load(from: store))
        again.deviceKeeper.attach(trust)
        #expect(try await again.devices().map(\.isCurrent) == [false, true])
    }

    @Test func oneThatIsCutOffOrNotOursIsRefusedWhole() async throws {
        let store = FileKeyStore(file: file)
        try await store.save(try secrets(3), replacing: nil)
        let whole = try Data(contentsOf: file)
        for length in [0, 1, whole.count / 2, whole.count - 3] {
            try whole.prefix(length).write(to: file)
            #expect(await failure { _ = try await store.load() } == .invalidArguments)
            // Nothing is written over it either: somebody may still save a part.
            #expect(await failure { try await store.save(try secrets(), replacing: nil) } == .invalidArguments)
            #expect(try Data(contentsOf: file) == whole.prefix(length))
        }
        // Half a seed, and none.
        let text = try #require(String(data: whole, encoding: .utf8))
        let seeds = try #require(text.split(separator: "\"seeds\" : \"").last?.prefix { $0 != "\"" })
        for part in [String(seeds.dropLast(22)), ""] {
            try Data(text.replacing(seeds, with: part).utf8).write(to: file)
            #expect(await failure { _ = try await store.load() } == .invalidArguments)
        }
        try Data(text.replacing("\"version\" : 1", with: "\"version\" : 2").utf8).write(to: file)
        #expect(await failure { _ = try await store.load() } == .incompatibleVersion)
        // What a process that was killed while it wrote has left behind is no hindrance; what somebody keeps beside it
        // is theirs.
        try whole.write(to: file)
        let draft = temporary.url.appendingPathComponent(".\(file.lastPathComponent).new")
        try whole.prefix(20).write(to: draft)
        let kept = URL(fileURLWithPath: file.path + ".new")
        try whole.write(to: kept)
        try await store.update { $0.deviceName = "after" }
        #expect(try await FileKeyStore(file: file).load()?.deviceName == "after")
        #expect(!FileManager.default.fileExists(atPath: draft.path))
        // And goes with the account: its bytes are the account's.
        try whole.write(to: draft)
        try await store.delete()
        #expect(try Data(contentsOf: kept) == whole)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: temporary.url.path) == [kept.lastPathComponent])
    }

    /// Of many that make one file at once, the one that is told so has it there.
    @Test func oneOfManyMakesAFile() async throws {
        let file = file
        let made = try await withThrowingTaskGroup(of: AccountSecrets?.self) { group in
            for _ in 0..<8 {
                let secrets = try secrets()
                group.addTask {
                    let content = try KeyFile.content(secrets, passphrase: nil)
                    let code = await failure { try PrivateFile.create(at: file, content: content) }
                    #expect(code == nil || code == .constraintViolation)
                    return code == nil ? secrets : nil
                }
            }
            return try await group.compactMap { $0 }.reduce(into: []) { $0.append($1) }
        }
        #expect(made.count == 1)
        let kept = try #require(try await FileKeyStore(file: file).load())
        #expect(kept.seeds.first?.bytes.copyBytes() == made.first?.seeds.first?.bytes.copyBytes())
    }

    @Test func filesThatOthersReachAreRefused() async throws {
        func set(_ mode: Int, _ url: URL) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        }
        let sealed = temporary.url.appendingPathComponent("sealed.json")
        try await FileKeyStore(file: file).save(try secrets(), replacing: nil)
        try await FileKeyStore(file: sealed) { () throws(SealKitError) in "correct horse" }.save(
            try secrets(), replacing: nil)
        func isRefused(_ url: URL) async -> SealKitError.Code? {
            await failure {
                _ = try await FileKeyStore(file: url) { () throws(SealKitError) in "correct horse" }.load()
            }
        }
        for mode in [0o644, 0o640, 0o604, 0o620, 0o602] {
            try set(mode, file)
            #expect(await isRefused(file) == .permissionFailure)
            #expect(await failure { _ = try KeyFile(contentsOf: file) } == .permissionFailure)
        }
        try set(0o400, file)
        #expect(await isRefused(file) == nil)
        // What a passphrase seals may be read, but not be replaced.
        try set(0o644, sealed)
        #expect(await isRefused(sealed) == nil)
        for mode in [0o664, 0o646] {
            try set(mode, sealed)
            #expect(await isRefused(sealed) == .permissionFailure)
        }
    }

    @Test func aLinkStaysALink() async throws {
        let target = temporary.url.appendingPathComponent("elsewhere.json")
        try await FileKeyStore(file: target).save(try secrets(), replacing: nil)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        try await FileKeyStore(file: file).update { $0.deviceName = "through the link" }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == target.path)
        #expect(try await FileKeyStore(file: target).load()?.deviceName == "through the link")
        #expect(try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int == 0o600)
    }

    /// Many writers at once, each a store of its own as processes have them: no change is lost, and no reader sees half
    /// a file.
    @Test func processesTakeTurns() async throws {
        try await FileKeyStore(file: file).save(try secrets(), replacing: nil)
        let (file, writers, rounds) = (file, 4, 5)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    let store = FileKeyStore(file: file)
                    var done = 0
                    while done < rounds {
                        var random = SystemRandom()
                        let seed = AccountSeed(random: &random)
                        do {
                            try await store.update { $0.seeds.append(seed) }
                            done += 1
                        } catch SealKitError.Code.constraintViolation {
                        } catch {
                            throw error
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<200 { _ = try await FileKeyStore(file: file).load() }
            }
            try await group.waitForAll()
        }
        #expect(try await FileKeyStore(file: file).load()?.seeds.count == 1 + writers * rounds)
    }

    @Test func anAccountIsMadeKeptAndSignedInFromAStore() async throws {
        let server = try ServerProcess.shared.get()
        let store = FileKeyStore(file: file) { () throws(SealKitError) in "correct horse" }
        let transport = try HTTPTransport(server: server.origin)
        let (account, recoveryKey) = try await Account.create(transport: transport, deviceName: "first", in: store)
        #expect(account.keyStore != nil)
        #expect(try await account.status() == .available)

        // A second account never takes the place of the first.
        #expect(await failure { _ = try await Account.create(transport: transport, in: store) } == .constraintViolation)
        #expect(
            await failure { _ = try await Account.recover(recoveryKey, transport: transport, in: store) }
                == .constraintViolation)

        let accounts = AccountProvider()
        let container = try Container("org.example.notes", accounts: accounts)
        let again = FileKeyStore(file: file) { () throws(SealKitError) in "correct horse" }
        try await accounts.signIn(from: again)
        #expect(try container.userRecordID() == Container("org.example.notes", account: account).userRecordID())
        #expect(try await container.accountStatus() == .available)
        #expect(accounts.account?.session.deviceName == "first")

        // A passphrase that is wrong leaves whoever is signed in; an empty store is nobody.
        let wrong = FileKeyStore(file: file) { () throws(SealKitError) in "wrong" }
        #expect(await failure { try await accounts.signIn(from: wrong) } == .wrongPassphrase)
        #expect(accounts.account != nil)
        try await accounts.signIn(from: MemoryKeyStore())
        #expect(accounts.account == nil)

        // What was begun and not made is in nobody's way.
        var begun = try secrets()
        var random = SystemRandom()
        begun.recoveryKey = RecoveryKey(random: &random)
        let elsewhere = MemoryKeyStore(begun)
        let recovered = try await Account.recover(recoveryKey, transport: transport, in: elsewhere)
        #expect(try await elsewhere.load()?.isSame(as: recovered.secrets) == true)
        #expect(SecretBytes.areEqual(recovered.seed.bytes, account.seed.bytes))
    }

    @Test func anAccountThatItsPassphraseBringsBackIsKeptInAStore() async throws {
        let transport = try HTTPTransport(server: try ServerProcess.shared.get().origin)
        let first = MemoryKeyStore()
        let (account, _) = try await Account.create(transport: transport, in: first)
        let passphrase = try Account.RecoveryPassphrase(
            name: UUID().uuidString, passphrase: "four words that nobody says")
        try await account.setRecoveryPassphrase(passphrase)

        #expect(
            await failure { _ = try await Account.recover(passphrase, transport: transport, in: first) }
                == .constraintViolation)
        let (store, trust) = (MemoryKeyStore(), try TrustStore())
        let recovered = try await Account.recover(passphrase, transport: transport, trust: trust, in: store)
        #expect(recovered.keyStore != nil)
        let kept = try #require(try await Account.load(from: store))
        #expect(SecretBytes.areEqual(kept.seed.bytes, account.seed.bytes))
        // New keys need somewhere to go.
        try await recovered.rotateKeys(trust: trust, show: { _ async throws(SealKitError) in })
        #expect(try await store.load()?.seeds.count == 2)
    }
}
