import Foundation
import SealKit
import SealLab
import Testing

/// What the command line says to somebody who gets something wrong: what it was, what to do, and an exit code for
/// scripts.
@Suite(.timeLimit(.minutes(60))) struct CommandErrorsTests {
    private struct Mistake {
        let arguments: [String]
        let status: Int32
        let code: String
        let says: [String]

        init(_ status: Int32, _ code: String, _ arguments: String..., says: [String]) {
            (self.arguments, self.status, self.code, self.says) = (arguments, status, code, says)
        }
    }

    private static let mistakes = [
        Mistake(
            64, "usage", "record", "save", "--zone", "Notes", "--colour", "red", says: ["Unknown option '--colour'"]),
        Mistake(64, "usage", "record", "get", "first", says: ["--zone", "--database public"]),
        Mistake(
            64, "usage", "record", "query", "--type", "Place", "--database", "public", "--zone", "Notes",
            says: ["has no zones"]),
        Mistake(
            65, "invalidArguments", "record", "save", "--zone", "Notes", "--name", "new", "--set", "a=b",
            says: ["needs a type", "--type"]),
        // Without its name another record would be made, each time.
        Mistake(
            64, "usage", "record", "save", "--zone", "Notes", "--type", "Note", "--update", "--set", "a=b",
            says: ["--name"]),
        Mistake(
            64, "usage", "record", "save", "--zone", "Notes", "--type", "Note", "--overwrite", "--set", "a=b",
            says: ["--name"]),
        // What is read second would be empty.
        Mistake(
            64, "usage", "record", "save", "--zone", "Notes", "--name", "first", "--update", "--set", "a=@-", "--seal",
            "b:list-int=@-", says: ["Standard input"]),
        Mistake(
            64, "usage", "record", "save", "--zone", "Notes", "--name", "first", "--update", "--seal", "a=@-",
            "--passphrase-fd", "0", says: ["Standard input"]),
        Mistake(
            65, "invalidArguments", "record", "save", "--zone", "Notes", "--type", "Note", "--set", "novalue",
            says: ["key=value"]),
        Mistake(
            65, "invalidArguments", "record", "save", "--zone", "Notes", "--type", "Note", "--set", "n:int=x",
            says: ["not of the kind int"]),
        Mistake(
            65, "invalidArguments", "record", "query", "folder LIKE 'a*'", "--type", "Note", "--zone", "Notes",
            says: ["LIKE", "character 8", "BEGINSWITH"]),
        Mistake(
            65, "invalidArguments", "record", "query", "folder = ", "--type", "Note", "--zone", "Notes",
            says: ["character 10"]),
        Mistake(
            65, "invalidArguments", "record", "query", "title = 'a'", "--type", "Note", "--zone", "Notes",
            says: ["title is encrypted"]),
        Mistake(
            65, "invalidArguments", "record", "query", "nosuch = 'a'", "--type", "Note", "--zone", "Notes",
            says: ["no field nosuch"]),
        Mistake(
            66, "unknownItem", "record", "query", "folder = 'a'", "--type", "Nosuch", "--zone", "Notes",
            says: ["no such record type"]),
        Mistake(66, "unknownItem", "record", "get", "nothing", "--zone", "Notes", says: ["no such record"]),
        Mistake(66, "zoneNotFound", "record", "get", "first", "--zone", "Nowhere", says: ["no such zone"]),
        Mistake(66, "zoneNotFound", "zone", "delete", "Nowhere", says: ["There is no such zone, or it is not shared"]),
        Mistake(
            65, "invalidArguments", "record", "get", "first", "--zone", "Notes", "--owner", "bob",
            says: ["not a user's record name", "hexadecimal"]),
        Mistake(
            65, "invalidArguments", "zone", "create", "_own", says: ["cannot name a zone", "no leading underscore"]),
        Mistake(
            79, "serverRecordChanged", "record", "save", "--zone", "Notes", "--type", "Note", "--name", "first",
            "--set", "folder=x", says: ["first already", "--update"]),
        Mistake(65, "badContainer", "zone", "list", "--container", "a b", says: ["container identifier", "letters"]),
        Mistake(
            77, "notAuthenticated", "zone", "list", "--key-file", "/nowhere/key.json",
            says: ["no key file at /nowhere/key.json"]),
        Mistake(
            65, "invalidArguments", "share", "accept", "https://example.org/s/x", says: ["share URL", "after the #"]),
        Mistake(
            77, "notAuthenticated", "schema", "export", "--server", "http://127.0.0.1:1",
            says: ["management token", "SEALKIT_MANAGEMENT_TOKEN"]),
    ]

    private func run(_ arguments: [String], _ keyFile: URL) async throws -> Command {
        try await Command.finished(ServerProcess.executable, arguments, environment: ["SEALKIT_KEY_FILE": keyFile.path])
    }

    @Test func eachMistakeIsNamedWithItsRemedyAndCode() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let keyFile = server.folder.appendingPathComponent("ann.json")
        #expect(try await run(["account", "create", "--server", server.origin], keyFile).status == 0)
        #expect(try await run(["zone", "create", "Notes"], keyFile).status == 0)
        let first = [
            "record", "save", "--zone", "Notes", "--type", "Note", "--name", "first", "--set", "folder=work", "--seal",
            "title=Plans",
        ]
        #expect(try await run(first, keyFile).status == 0)
        for mistake in Self.mistakes {
            let said = try await run(mistake.arguments, keyFile)
            #expect(said.status == mistake.status, "\(mistake.arguments): \(said.errors)")
            #expect(said.output.isEmpty, "\(mistake.arguments): \(said.errors)")
            for text in mistake.says { #expect(said.errors.contains(text), "\(mistake.arguments): \(said.errors)") }
            // The same for scripts: one object, on standard error.
            let json = try await run(mistake.arguments + ["--json"], keyFile)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(json.errors.utf8)) as? [String: [String: Any]])
            #expect(json.status == mistake.status)
            #expect(json.output.isEmpty)
            #expect(object["error"]?["code"] as? String == mistake.code, "\(mistake.arguments): \(json.errors)")
        }
        // What was refused left nothing behind.
        #expect(try await run(["record", "list", "--zone", "Notes", "--quiet"], keyFile).output == "first\n")

        let place = [
            "record", "save", "--database", "public", "--type", "Place", "--name", "berlin", "--set", "city=Berlin",
        ]
        #expect(try await run(place, keyFile).status == 0)
        let found = try await run(
            ["record", "query", "city = 'Berlin'", "--type", "Place", "--database", "public", "--quiet"], keyFile)
        #expect(found.status == 0, "\(found.errors)")
        #expect(found.output == "berlin\n", "\(found.errors)")

        server.terminate()
        let away = try await run(["zone", "list", "--json"], keyFile)
        #expect(away.status == 69, "\(away.errors)")
        #expect(away.errors.contains(#""code":"networkFailure""#), "\(away.errors)")
    }

    /// Passed over, it would leave the command with another account, container or authority than was meant.
    @Test func aMistypedVariableOfTheEnvironmentIsRefusedByName() async throws {
        for (word, meant) in [
            ("KEYFILE", "Write SEALKIT_KEY_FILE"), ("ACOUNT", "Write SEALKIT_ACCOUNT"),
            ("CA", "Write SEALKIT_CA_FILE"), ("TLS_KEYS", "Write SEALKIT_TLS_KEY"),
            ("COLOUR", "SEALKIT_CONTAINER, SEALKIT_ENVIRONMENT"),
        ] {
            let name = "SEALKIT_" + word
            let said = try await Command.finished(
                ServerProcess.executable, ["account", "list"], environment: [name: "/nowhere"])
            #expect(said.status == 65, "\(name): \(said.errors)")
            #expect(said.errors.contains(name), "\(said.errors)")
            #expect(said.errors.contains(meant), "\(said.errors)")
        }
        // A server's settings, and what Kubernetes puts there, may be there as well.
        for name in ["SEALKIT_LISTEN", "SEALKIT_DB_SERVICE_HOST", "SEALKIT_CONTAINER", "SEALKITTEN"] {
            let said = try await Command.finished(
                ServerProcess.executable, ["account", "list"],
                environment: [name: "127.0.0.1:8080", "HOME": NSTemporaryDirectory()])
            #expect(said.status == 0, "\(name): \(said.errors)")
        }
    }

    /// What the module CloudKit works in by the same file of variables.
    @Test func theEnvironmentIsTakenFromItsVariable() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let keyFile = server.folder.appendingPathComponent("ann.json")
        func run(_ arguments: String..., in environment: String) async throws -> Command {
            try await Command.finished(
                ServerProcess.executable, arguments,
                environment: ["SEALKIT_KEY_FILE": keyFile.path, "SEALKIT_ENVIRONMENT": environment])
        }
        #expect(try await run("account", "create", "--server", server.origin, in: "").status == 0)
        #expect(try await run("zone", "create", "Notes", "--environment", "production", in: "").status == 0)
        #expect(try await run("zone", "list", "--quiet", in: "production").output.contains("Notes"))
        #expect(try await !run("zone", "list", "--quiet", in: "development").output.contains("Notes"))
        // What is given goes before it.
        let given = try await run("zone", "list", "--quiet", "--environment", "development", in: "production")
        #expect(!given.output.contains("Notes"))
        let mistyped = try await run("zone", "list", in: "staging")
        #expect(mistyped.status == 65, "\(mistyped)")
        #expect(mistyped.errors.contains("SEALKIT_ENVIRONMENT"), "\(mistyped)")

        // An archive is of one of them, and says of which.
        let folder = server.folder.appendingPathComponent("archive").path
        let exported = try await run("data", "export", folder, "--json", in: "production")
        #expect(exported.status == 0, "\(exported)")
        #expect(exported.output.contains(#""container":"org.sealkit.notes""#), "\(exported)")
        #expect(exported.output.contains(#""environment":"production""#), "\(exported)")
        // Whoever deletes the account is told what else there is to keep.
        let other = ["zone", "create", "Other", "--container", "com.example.b"]
        #expect(try await self.run(other, keyFile).status == 0)
        let asked = try await Command.atTerminal(
            ["account", "delete"], answers: [["Type delete to go on: ", "no"]],
            environment: ["SEALKIT_KEY_FILE": keyFile.path])
        #expect(asked.status == 130, "\(asked)")
        #expect(asked.output.contains("(com.example.b, org.sealkit.notes)"), "\(asked)")
    }

    /// Whoever mistypes it has no account that nobody has the keys of, and the code still.
    @Test func noAccountIsMadeForAContainerThatIsNone() async throws {
        let server = try ServerProcess(
            mail: false, arguments: ["--registration", "invite", "--operator", "127.0.0.1:0"])
        defer { server.stop() }
        let keyFile = server.folder.appendingPathComponent("ann.json")
        let code = try await Command.finished(
            ServerProcess.executable, ["admin", "invite", "--data", server.dataFolder.path, "--quiet"]
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        let create = ["account", "create", "--server", server.origin, "--registration-code", code]
        let mistyped = try await run(create + ["--container", "com.example.my_app"], keyFile)
        #expect(mistyped.status == 65, "\(mistyped)")
        #expect(mistyped.errors.contains("not a container identifier"), "\(mistyped)")
        #expect(mistyped.output.isEmpty)
        // Nor where the key file could not be written in the end.
        let link = server.folder.appendingPathComponent("link.json")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/nowhere/key.json")
        let astray = try await run(create, link)
        #expect(astray.status == 73, "\(astray)")
        #expect(astray.errors.contains("a link to a file that is not there"), "\(astray)")
        #expect(astray.output.isEmpty)
        let made = try await run(create, keyFile)
        #expect(made.status == 0, "\(made)")
    }

    /// A copy that is kept by what comes after a place has to learn that the place is lost.
    @Test func aKeptPlaceIsOfOneZone() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let keyFile = server.folder.appendingPathComponent("ann.json")
        #expect(try await run(["account", "create", "--server", server.origin], keyFile).status == 0)
        for zone in ["Notes", "Nots"] {
            #expect(try await run(["zone", "create", zone], keyFile).status == 0)
            let save = ["record", "save", "--zone", zone, "--type", "Note", "--name", "in-\(zone)"]
            #expect(try await run(save, keyFile).status == 0)
        }
        let place = server.folder.appendingPathComponent("n.token")
        func list(_ zone: String, _ options: String...) async throws -> Command {
            try await run(
                ["record", "list", "--json", "--since-file", place.path, "--zone", zone] + options, keyFile)
        }
        #expect(try await list("Notes").output.contains("in-Notes"))
        let kept = try Data(contentsOf: place)
        for other in [
            try await list("Nots"), try await list("Notes", "--container", "com.example.b"),
            try await list("Notes", "--environment", "production"),
        ] {
            #expect(other.status == 65, "\(other)")
            #expect(other.errors.contains("another zone"), "\(other)")
            #expect(other.output.isEmpty)
            #expect(try Data(contentsOf: place) == kept)
        }
        #expect(try await list("Notes").output.isEmpty)

        // A server that does not know the place: as after it was restored.
        var token = try #require(try JSONSerialization.jsonObject(with: kept) as? [String: Any])
        token["bytes"] = Data([0]).base64EncodedString()
        try JSONSerialization.data(withJSONObject: token).write(to: place)
        let anew = try await list("Notes")
        #expect(anew.status == 0, "\(anew)")
        let lines = anew.output.split(separator: "\n")
        #expect(lines.first == #"{"reset":true}"#, "\(anew)")
        #expect(lines.dropFirst().contains { $0.contains("in-Notes") }, "\(anew)")
        #expect(try await list("Notes").output.isEmpty)
    }

    /// Somebody who takes part in a zone has forgotten that it is somebody else's.
    @Test func aZoneOfSomebodyElseIsNotToBeMade() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        func keyFile(_ name: String) -> URL { server.folder.appendingPathComponent("\(name).json") }
        for name in ["ann", "bob"] {
            let made = try await run(["account", "create", "--server", server.origin], keyFile(name))
            #expect(made.status == 0, "\(made.errors)")
        }
        func name(_ person: String) async throws -> String {
            try await run(["account", "whoami", "--quiet"], keyFile(person)).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let (ann, bob) = (try await name("ann"), try await name("bob"))
        #expect(try await run(["zone", "create", "Notes"], keyFile("ann")).status == 0)
        #expect(try await run(["share", "create", "Notes"], keyFile("ann")).status == 0)
        let url = try await run(["share", "invite", "Notes", bob, "--quiet"], keyFile("ann")).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await run(["share", "accept", url], keyFile("bob")).status == 0)
        for arguments in [
            ["record", "list", "--zone", "Notes"], ["record", "get", "first", "--zone", "Notes"],
            ["record", "save", "--zone", "Notes", "--type", "Note", "--set", "a=b"],
            ["zone", "keys", "Notes"], ["share", "show", "Notes"],
        ] {
            let said = try await run(arguments, keyFile("bob"))
            #expect(said.status == 66, "\(arguments): \(said.errors)")
            #expect(said.errors.contains("--owner \(ann)"), "\(arguments): \(said.errors)")
            #expect(!said.errors.contains("zone create"), "\(arguments): \(said.errors)")
        }
        let none = try await run(["record", "list", "--zone", "Nowhere"], keyFile("bob"))
        #expect(none.errors.contains("zone create"), "\(none.errors)")
    }

    @Test func vectorsThatAreNotThereAreNamed() async throws {
        let said = try await Command.finished(ServerProcess.executable, ["vectors", "verify", "/nowhere"])
        #expect(said.status == 66, "\(said.errors)")
        #expect(said.errors.contains("no vectors to read at /nowhere"), "\(said.errors)")
    }
}
