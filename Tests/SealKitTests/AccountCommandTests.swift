import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import Testing

@testable import SealKit

/// Several accounts on one machine, by the command line alone.
@Suite(.timeLimit(.minutes(60))) struct AccountCommandTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Command {
        try await Command.finished(
            ServerProcess.executable, arguments,
            environment: ["HOME": home.url.path, "SEALKIT_KEY_FILE": "", "SEALKIT_ACCOUNT": ""].merging(environment) {
                $1
            })
    }

    private func folder(_ path: String) -> URL { home.url.appendingPathComponent(".config/sealkit/" + path) }

    /// Nothing but the same command uses it, and that command needs nothing else.
    @Test func anAccountWhoseMakingWasCutOffIsGoneOnWith() async throws {
        let server = try ServerProcess.shared.get()
        let file = home.url.appendingPathComponent("ann.json")
        var random = SystemRandom()
        var begun = try AccountSecrets(server: "http://127.0.0.1:1", seeds: [AccountSeed(random: &random)])
        begun.recoveryKey = RecoveryKey(random: &random)
        try await FileKeyStore(file: file).save(begun, replacing: nil)
        let cutOff = try await run("account", "create", "--server", "http://127.0.0.1:1", "--key-file", file.path)
        #expect(cutOff.status == 69, "\(cutOff.errors)")
        #expect(cutOff.errors.contains("the same command again"), "\(cutOff.errors)")
        #expect(try await FileKeyStore(file: file).load()?.isSame(as: begun) == true)
        let used = try await run("zone", "list", "--key-file", file.path)
        #expect(used.status == 77, "\(used.errors)")
        #expect(used.errors.contains("sealkit account create"), "\(used.errors)")
        // Another way in leaves it.
        let recovered = try await run("account", "recover", "--server", server.origin, "--key-file", file.path)
        #expect(recovered.status == 73, "\(recovered.errors)")
        let passphrase = home.url.appendingPathComponent("passphrase.txt")
        try Data("correct horse\n".utf8).write(to: passphrase)
        let made = try await run(
            "account", "create", "--server", server.origin, "--key-file", file.path, "--passphrase-file",
            passphrase.path)
        #expect(made.status == 0, "\(made.errors)")
        #expect(try KeyFile(contentsOf: file).isSealed)
        let store = FileKeyStore(file: file) { () throws(SealKitError) in "correct horse" }
        let kept = try #require(try await store.load())
        #expect(!kept.isUnfinished)
        #expect(kept.server == server.origin)
        #expect(kept.seeds[0].bytes.copyBytes() == begun.seeds[0].bytes.copyBytes())
    }

    @Test func accountsLieSideBySide() async throws {
        let server = try ServerProcess.shared.get()
        let made = try await run("account", "create", "--server", server.origin)
        #expect(made.status == 0, "\(made.errors)")
        #expect(try await run("account", "create", "--server", server.origin, "--account", "work").status == 0)
        let again = try await run("account", "create", "--server", server.origin, "--account", "work")
        #expect(again.status == 73)
        #expect(again.errors.contains("already"))

        let first = try await run("account", "whoami", "--quiet").output
        let second = try await run("account", "whoami", "--quiet", "--account", "work").output
        #expect(first != second)
        #expect(!first.isEmpty)
        #expect(!second.isEmpty)
        #expect(
            try await run("account", "whoami", "--quiet", environment: ["SEALKIT_ACCOUNT": "work"]).output == second)
        // What one has verified is beside its own key file.
        #expect(FileManager.default.fileExists(atPath: folder("accounts/work.json.trust").path))
        #expect(
            try await run("account", "list").output.split(separator: "\n").map { $0.prefix(9) } == [
                "* default", "  work\t\(server.origin)".prefix(9),
            ])

        let using = try await run("account", "use", "work")
        #expect(using.status == 0, "\(using.errors)")
        #expect(try await run("account", "whoami", "--quiet").output == second)
        #expect(try await run("account", "whoami", "--quiet", "--account", "default").output == first)
        #expect(try await run("account", "list", "--quiet").output == "default\nwork\n")
        let mistyped = try await run("zone", "list", "--account", "wrok")
        #expect(mistyped.status == 77, "\(mistyped)")
        #expect(mistyped.errors.contains("sealkit account list"), "\(mistyped)")
        let json = try await run("account", "list", "--json").output
        #expect(json.contains("\"name\":\"work\""))
        #expect(json.contains("\"isCurrent\":true"))

        // Removing asks; without a terminal the answer comes from standard input, of which there is none here.
        let asked = try await run("account", "remove", "work")
        #expect(asked.status == 65)
        #expect(asked.errors.contains("--yes"))
        #expect(try await run("account", "whoami", "--quiet").output == second)
        #expect(try await run("account", "remove", "work", "--yes").status == 0)
        for suffix in ["", ".trust", ".trust-wal", ".trust-shm"] {
            #expect(!FileManager.default.fileExists(atPath: folder("accounts/work.json" + suffix).path))
        }
        #expect(try await run("account", "whoami", "--quiet").output == first)
        #expect(try await run("account", "remove", "work", "--yes").status == 66)
        #expect(try await run("account", "use", "work").status == 66)
    }

    @Test func namesThatAreNoneAreRefused() async throws {
        for name in ["", "../account", ".hidden", "-x", "a/b", "a b", "ä", String(repeating: "a", count: 65)] {
            let said =
                if name.isEmpty {
                    try await run("account", "whoami", "--account", name)
                } else {
                    try await run("account", "whoami", "--account=\(name)")
                }
            #expect(said.status == 65, "\(name): \(said.errors)")
            #expect(said.output.isEmpty, "\(name): \(said.errors)")
            #expect(said.errors.contains("letters, digits"), "\(name): \(said.errors)")
            guard !name.isEmpty else { continue }
            let named = try await run("account", "whoami", "--json", environment: ["SEALKIT_ACCOUNT": name])
            #expect(named.status == 65, "\(name): \(named.errors)")
            #expect(named.errors.contains("\"remedy\""), "\(name): \(named.errors)")
            #expect(try await run("account", "use", "--", name).status == 65)
            #expect(try await run("account", "remove", "--yes", "--", name).status == 65)
        }
        let both = try await run("account", "whoami", "--account", "a", "--key-file", "b")
        #expect(both.status == 64)
        #expect(both.errors.contains("one of them"))
        // A damaged choice is not the default's by accident.
        try FileManager.default.createDirectory(at: folder(""), withIntermediateDirectories: true)
        try Data("../../elsewhere\n".utf8).write(to: folder("current"))
        let damaged = try await run("account", "whoami")
        #expect(damaged.status != 0)
        #expect(damaged.errors.contains("does not hold an account's name"))
        try FileManager.default.removeItem(at: folder("current"))
        try FileManager.default.createDirectory(at: folder("current"), withIntermediateDirectories: true)
        let unreadable = try await run("account", "whoami")
        #expect(unreadable.status != 0)
        #expect(unreadable.errors.contains("could not be read"), "\(unreadable.errors)")
        #expect(try await run("account", "whoami", "--account", "default").status == 77)
    }

    /// While another command brings the account somewhere, none takes its keys away.
    @Test func oneCommandAtATimeBringsAnAccountToOrFromItsFile() async throws {
        let server = try ServerProcess.shared.get()
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        let lock = open(folder(".account.json.lock").path, O_RDWR | O_CREAT, 0o600)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let removed = try await run("account", "remove", "--yes", "default")
        let deleted = try await run("account", "delete", "--yes")
        for said in [removed, deleted] {
            #expect(said.status == 75, "\(said.errors)")
            #expect(said.errors.contains("one at a time"), "\(said.errors)")
        }
        close(lock)
        #expect(try await run("account", "whoami").status == 0)
        #expect(try await run("account", "delete", "--yes").status == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder("").path)
        #expect(!left.contains { $0.contains("account.json") }, "\(left)")
    }

    @Test func thePassphraseChangesWithoutATerminal() async throws {
        let server = try ServerProcess.shared.get()
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        let name = try await run("account", "whoami", "--quiet").output
        let file = folder("account.json")
        // Nobody can be asked here.
        #expect(try await run("account", "passphrase").status == 77)
        #expect(
            try await run("account", "passphrase", environment: ["SEALKIT_NEW_PASSPHRASE": "correct horse"]).status == 0
        )
        #expect(try KeyFile(contentsOf: file).isSealed)
        #expect(try await run("account", "whoami", "--quiet").status == 77)
        #expect(
            try await run("account", "whoami", "--quiet", environment: ["SEALKIT_PASSPHRASE": "wrong"]).status == 77)
        #expect(
            try await run("account", "whoami", "--quiet", environment: ["SEALKIT_PASSPHRASE": "correct horse"]).output
                == name)

        let before = try Data(contentsOf: file)
        let new = home.url.appendingPathComponent("new.txt")
        try Data("battery staple\n".utf8).write(to: new)
        let wrong = try await run(
            "account", "passphrase", "--new-passphrase-file", new.path, environment: ["SEALKIT_PASSPHRASE": "wrong"])
        #expect(wrong.status == 77)
        #expect(wrong.errors.contains("wrongPassphrase"))
        #expect(try Data(contentsOf: file) == before)
        // Both by descriptors, as a script that keeps them off the disk and out of the environment gives them.
        let script = "exec \"$0\" account passphrase --passphrase-fd 3 --new-passphrase-fd 4 3<\"$1\" 4<\"$2\""
        let old = home.url.appendingPathComponent("old.txt")
        try Data("correct horse\n".utf8).write(to: old)
        let changed = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script, ServerProcess.executable.path, old.path, new.path],
            environment: ["HOME": home.url.path, "SEALKIT_KEY_FILE": ""])
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(try await run("account", "whoami", "--quiet", "--passphrase-file", new.path).output == name)
        // By a pipe, as a shell's <(…) is one.
        let piped = try await Command.finished(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", "cat \"$1\" | \"$0\" account whoami --quiet --passphrase-file /dev/stdin",
                ServerProcess.executable.path, new.path,
            ],
            environment: ["HOME": home.url.path, "SEALKIT_KEY_FILE": ""])
        #expect(piped.status == 0, "\(piped.errors)")
        #expect(piped.output == name, "\(piped.errors)")
        // One that is given is not silently none.
        let both = try await run(
            "account", "passphrase", "--remove", "--new-passphrase-file", old.path, "--passphrase-file", new.path)
        #expect(both.status == 64)
        #expect(both.errors.contains("either"))
        #expect(
            try await run(
                "account", "passphrase", "--remove", "--new-passphrase-fd", "0", "--passphrase-file", new.path
            ).status == 64)
        #expect(try KeyFile(contentsOf: file).isSealed)
        #expect(try await run("account", "passphrase", "--remove", "--passphrase-file", new.path).status == 0)
        #expect(try await run("account", "whoami", "--quiet").output == name)
        #expect(try await run("account", "passphrase", "--account", "none", "--remove").status == 77)
    }

    /// What a device has verified is written to by every command.
    @Test func aTrustFileThatCannotBeWrittenIsNotCalledDamaged() async throws {
        let server = try ServerProcess.shared.get()
        let keyFile = home.url.appendingPathComponent("key.json")
        #expect(try await run("account", "create", "--server", server.origin, "--key-file", keyFile.path).status == 0)
        let script = """
            mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99
            "$0" account whoami --key-file "$1/key.json"
            """
        let said = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["unshare", "-rm", "/bin/sh", "-c", script, ServerProcess.executable.path, home.url.path],
            environment: ["HOME": home.url.path])
        if said.status != 99, !said.errors.contains("unshare") {
            #expect(said.status == 73, "\(said.errors)")
            #expect(said.errors.contains("Read-only file system"), "\(said.errors)")
            #expect(said.errors.contains("writable"), "\(said.errors)")
        }
        try Data("nothing of the kind".utf8).write(to: home.url.appendingPathComponent("key.json.trust"))
        let damaged = try await run("account", "whoami", "--key-file", keyFile.path)
        #expect(damaged.status == 70, "\(damaged.errors)")
        #expect(damaged.errors.contains("is damaged"), "\(damaged.errors)")
        #expect(damaged.errors.contains("put back a copy"), "\(damaged.errors)")
    }

    /// What a copy onto a full disk leaves is empty.
    @Test func aTrustFileThatIsEmptyOrGoneIsToldOnce() async throws {
        let server = try ServerProcess.shared.get()
        let keyFile = home.url.appendingPathComponent("key.json")
        let trust = home.url.appendingPathComponent("key.json.trust")
        let made = try await run("account", "create", "--server", server.origin, "--key-file", keyFile.path)
        #expect(made.status == 0, "\(made.errors)")
        #expect(!made.errors.contains("remembers nothing"), "\(made.errors)")
        func isTold() async throws -> Bool {
            let done = try await run("account", "whoami", "--key-file", keyFile.path)
            #expect(done.status == 0, "\(done.errors)")
            return done.errors.contains("remembers nothing") && done.errors.contains(trust.path)
        }
        #expect(try await !isTold())
        try Data().write(to: trust)
        #expect(try await isTold())
        #expect(try await !isTold())
        try FileManager.default.removeItem(at: trust)
        #expect(try await isTold())
        #expect(try await !isTold())
    }

    /// Of a profile that was copied, say. SQLite would make the file beside it as unwritable as it is. Root may write
    /// to every file, and here may not.
    @Test func aTrustFileThatWasReadOnlyIsUsedOnceItIsNot() async throws {
        let server = try ServerProcess.shared.get()
        let keyFile = home.url.appendingPathComponent("key.json").path
        #expect(try await run("account", "create", "--server", server.origin, "--key-file", keyFile).status == 0)
        let script = """
            [ "$(id -u)" -ne 0 ] || set -- setpriv --bounding-set=-dac_override,-dac_read_search -- "$@"
            exec "$@"
            """
        func whoami() async throws -> Command {
            try await Command.finished(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", script, "sh", ServerProcess.executable.path, "account", "whoami", "--key-file", keyFile],
                environment: ["HOME": home.url.path])
        }
        func refuses(_ file: String) async throws {
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file)
            let refused = try await whoami()
            #expect(refused.status == 73, "\(refused.errors)")
            #expect(refused.errors.contains("\(file): "), "\(refused.errors)")
            #expect(refused.errors.contains("writable"), "\(refused.errors)")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        }
        try await refuses(keyFile + ".trust")
        let used = try await whoami()
        #expect(used.status == 0, "\(used.errors)")
        // What an earlier version has left beside it is named.
        #expect(FileManager.default.createFile(atPath: keyFile + ".trust-shm", contents: nil))
        try await refuses(keyFile + ".trust-shm")
        let again = try await whoami()
        #expect(again.status == 0, "\(again.errors)")
    }

    /// On a file system of its own without a byte left: the old file stays as it was.
    @Test func aFullDiskLeavesTheOldFile() async throws {
        let server = try ServerProcess.shared.get()
        let keyFile = home.url.appendingPathComponent("key.json")
        #expect(try await run("account", "create", "--server", server.origin, "--key-file", keyFile.path).status == 0)
        let script = """
            mount -t tmpfs -o size=64k,mode=0700 tmpfs "$1" 2>/dev/null || exit 99
            cp -p "$2" "$1/key.json"
            dd if=/dev/zero of="$1/filler" bs=1k 2>/dev/null
            "$0" account passphrase --key-file "$1/key.json" 2>&1
            echo "status $?"
            cmp "$2" "$1/key.json" && echo same
            ls -A "$1"
            """
        let disk = try TemporaryFolder()
        let said = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["unshare", "-rm", "/bin/sh", "-c", script, ServerProcess.executable.path, disk.url.path, keyFile.path],
            environment: ["HOME": home.url.path, "SEALKIT_NEW_PASSPHRASE": "correct horse"])
        // Where no file system may be mounted there is nothing to see.
        guard said.status != 99, !said.errors.contains("unshare") else { return }
        #expect(said.output.contains("storageFull"), "\(said.output)")
        #expect(said.output.contains("status 73"), "\(said.output)")
        #expect(said.output.contains("same"))
        #expect(!said.output.contains(".new"))
    }
}
