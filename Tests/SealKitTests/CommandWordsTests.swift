import ArgumentParser
import Foundation
import SealClient
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import sealkit

/// The command line speaks of its commands, the SDK of its calls.
@Suite(.timeLimit(.minutes(60))) struct CommandWordsTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    /// Every text of several words in a module's code: what is put into it is left out.
    private static func texts(in module: String) throws -> [(place: String, text: String)] {
        let folder = sources.appendingPathComponent(module)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && !$0.hasSuffix(".pb.swift") }.sorted()
            .flatMap { name in
                let source = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                return literals(of: source).filter { $0.contains(" ") }.map { ("\(module)/\(name)", $0) }
            }
    }

    private static func literals(of source: String) -> [String] {
        source.split(separator: "\n").flatMap { line -> [String] in
            let code = line.drop { $0 == " " }
            guard !code.hasPrefix("//"), !code.contains("\"\"\"") else { return [] }
            var (found, text, depth, isText, isEscaped): ([String], String, Int, Bool, Bool) = ([], "", 0, false, false)
            for character in code {
                if depth > 0 {
                    depth += character == "(" ? 1 : character == ")" ? -1 : 0
                } else if isEscaped {
                    isEscaped = false
                    if character == "(" { depth = 1 } else { text.append(" ") }
                } else if isText, character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    if isText { found.append(text) }
                    (isText, text) = (!isText, "")
                } else if isText {
                    text.append(character)
                }
            }
            return found
        }
    }

    /// Words of the language that apps are written in: calls, names with a capital inside, and what only an app does.
    private static func codeWords(in text: String) -> [String] {
        let types = ["Asset", "KeyStore", "FileKeyStore", "Database", "TrustStore", "RecordZone"]
        let isStatement =
            text.wholeMatch(of: /.*\b(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|COALESCE|LENGTH)\b.*/) != nil
        guard !isStatement else { return [] }
        let steps = text.matches(
            of: /[Ff]etch the (database|zone)'s changes|[Ss]ave the (zone|share) |Verify the invited/
        ).map { String($0.output.0) }
        return steps
            + text.matches(
                of: /[A-Za-z]+\([^ ]*|\b[a-z]+[A-Z][A-Za-z]*|\b(an?|the) [A-Z][a-z]+[A-Z]?[a-z]*|\b[A-Z][A-Za-z]+\b/
            ).compactMap { match in
                let word = String(match.output.0)
                if word.contains("(") { return word }
                guard word.contains(" ") || word.first?.isUppercase == true else { return word }
                let type = String(word.split(separator: " ").last ?? "")
                return types.contains(type) || (word.contains(" ") && type == "Share") ? word : nil
            }
    }

    /// What both sides call so: values that the command line takes, and names in the predicate language.
    private static let shared: Set = [
        "readOnly", "readWrite", "privateUser", "creationDate", "modificationDate", "recordID",
    ]

    /// Texts that no command shows: descriptions for logs, statements, and what the wire itself says.
    private static func isShown(_ text: String, in place: String) -> Bool {
        let silent = [
            "SealKit/Container/Printing.swift", "SealKit/LongLived/Database+LongLived.swift",
            "SealKit/Trust/TrustStore+Contacts.swift",
            "SealService/Push/SubscriptionDraft.swift",
            "SealService/Sharing/ZoneChange.swift", "SealServer/Configuration/MessageConfiguration.swift",
            "SealServer/Application/LocalServer.swift",
        ]
        return !silent.contains(place)
            && text.wholeMatch(of: /(Share|Record|KeyFile|ServerCredential|Contact|Asset)\(.*/) == nil
    }

    @Test(arguments: ["SealKit", "SealStorage", "SealService", "SealServer"])
    func noTextHasWordsOfCodeOnceItIsInTheCommandLines(_ module: String) throws {
        let texts = try Self.texts(in: module).filter { Self.isShown($0.text, in: $0.place) }
        #expect(texts.count > 20)
        for (place, text) in texts {
            let said = CommandWords.of(text)
            let words = Self.codeWords(in: said).filter { !Self.shared.contains($0) }
            #expect(words.isEmpty, "\(place): \(said): \(words)")
        }
    }

    /// Each of them is still said somewhere, so that the list holds nothing that nobody says.
    @Test func everyPhraseIsOneOfTheSDKOrTheServer() throws {
        let texts = try ["SealKit", "SealStorage", "SealService", "SealServer"].flatMap { try Self.texts(in: $0) }.map(
            \.text)
        for phrase in CommandWords.phrases {
            #expect(texts.contains { $0.contains(phrase.ofCode) }, "\(phrase.ofCode)")
            #expect(Self.codeWords(in: phrase.ofCommand).isEmpty, "\(phrase.ofCommand)")
        }
    }

    /// Apps are told nothing of a command line that their users do not have.
    @Test func theSDKSpeaksOfNoCommands() throws {
        for (place, text) in try Self.texts(in: "SealKit") {
            #expect(text.firstMatch(of: /\bsealkit [a-z]|--[a-z]/) == nil, "\(place): \(text)")
        }
    }

    @Test func everyCommandThatIsNamedIsThere() throws {
        var known: Set<String> = []
        func add(_ type: any ParsableCommand.Type, _ words: [String]) {
            known.insert((["sealkit"] + words).joined(separator: " "))
            for command in type.configuration.subcommands { add(command, words + [command._commandName]) }
        }
        add(SealKitCommand.self, [])
        for text in CommandWords.phrases.map(\.ofCommand) {
            for match in text.matches(of: /sealkit [a-z-]+ [a-z-]+/) {
                #expect(known.contains(String(match.output)), "\(text)")
            }
        }
    }

    @Test func theHelpOfACommandHasNoWordsOfCode() {
        func check(_ type: any ParsableCommand.Type) {
            for line in SealKitCommand.helpMessage(for: type).split(separator: "\n") {
                let words = Self.codeWords(in: String(line)).filter { !Self.shared.contains($0) }
                #expect(words.isEmpty, "\(type): \(line): \(words)")
            }
            for command in type.configuration.subcommands { check(command) }
        }
        check(SealKitCommand.self)
    }

    /// Not only where an error ends the command: beside a record, in an audit, in a warning.
    @Test func everyReasonThatIsShownIsInTheCommandLinesWords() throws {
        let folder = Self.sources.appendingPathComponent("sealkit")
        let shown =
            /\.(reason|remedy)\.escaped|\.string\([a-z.]*\b(error|violation|away)\.(reason|remedy)\)|note\(.*\.(reason|remedy)\b/
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where name.hasSuffix(".swift") {
            let source = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            for line in source.split(separator: "\n") {
                #expect(line.firstMatch(of: shown) == nil, "\(name): \(line)")
            }
        }
    }

    /// A member hands it on to the owner, with all that belongs to it.
    @Test func whatEndsAForkIsSpelledOut() throws {
        let hash = String(repeating: "3f", count: 32)
        let head = RosterChange.AbandonedHead(sequence: 17, hash: try Digest(Hex.decode(hash)))
        let owner = UserID(try ID16([UInt8](repeating: 1, count: 16)))
        func advice(in zone: String, of name: String, share: String = "") throws -> String {
            let scope = SealStatements.Scope(
                container: "org.example.notes", environment: .production, owner: owner, zoneName: zone,
                shareRecordName: share)
            return SealKitError(.forked(from: head), of: scope, in: RecordZone.ID(zoneName: zone, ownerName: name))
                .advice(after: try GlobalOptions.parse(["--account", "my own", "--container", "org.example.notes"]))
        }
        let place = "--container=org.example.notes --environment=production"
        let mine = try advice(in: "Notes", of: RecordZone.ID.currentUser)
        #expect(mine.hasSuffix("with sealkit zone end-fork --account='my own' \(place) Notes"), "\(mine)")
        let theirs = try advice(in: "Bob's notes", of: owner.recordName)
        let ending = "with sealkit zone end-fork \(place) --abandon 17:\(hash)"
        #expect(theirs.hasSuffix(#"\#(ending) 'Bob'\''s notes'"#), "\(theirs)")
        // Its owner chooses the name.
        let named = try advice(in: "--yes", of: owner.recordName)
        #expect(named.hasSuffix("\(ending) -- --yes"), "\(named)")
        // A share's fork ends with the share.
        let shared = try advice(in: "Notes", of: owner.recordName, share: "list")
        #expect(
            shared.hasSuffix("with sealkit zone end-fork \(place) --share=list --abandon 17:\(hash) Notes"), "\(shared)"
        )
        #expect(shared.contains("shares its root anew"))
        let ownShare = try advice(in: "Notes", of: RecordZone.ID.currentUser, share: "list")
        #expect(
            ownShare.hasSuffix("with sealkit zone end-fork --account='my own' \(place) --share=list Notes"),
            "\(ownShare)")
    }

    /// As a command that ends with it prints it.
    @Test func whatEndsAForkIsSpelledOutWhereACommandFails() throws {
        let hash = String(repeating: "3f", count: 32)
        let head = RosterChange.AbandonedHead(sequence: 17, hash: try Digest(Hex.decode(hash)))
        let owner = UserID(try ID16([UInt8](repeating: 1, count: 16)))
        let name = #"Bob's \notes"#
        let scope = SealStatements.Scope(
            container: "org.example.notes", environment: .production, owner: owner, zoneName: name, shareRecordName: "")
        let error = SealKitError(
            .forked(from: head), of: scope, in: RecordZone.ID(zoneName: name, ownerName: owner.recordName))
        let command =
            "sealkit zone end-fork --container=org.example.notes --environment=production --abandon 17:\(hash) "
            + "'Bob'\\''s \\notes'"
        #expect(Failure.text(of: error, asJSON: false).contains(command), "\(Failure.text(of: error, asJSON: false))")
        let json = try JSONSerialization.jsonObject(with: Data(Failure.text(of: error, asJSON: true).utf8))
        let remedy = ((json as? [String: Any])?["error"] as? [String: Any])?["remedy"] as? String
        #expect(remedy?.contains(command) == true, "\(json)")
    }

    /// A record that a newer version made does not hide one that was forged.
    @Test func whatDoesNotVerifyGoesBeforeOtherFailures() throws {
        let id = Record.ID(recordName: "a", zoneID: RecordZone.ID(zoneName: "Notes"))
        func failed(_ codes: SealKitError.Code...) throws -> SealKitError.Code? {
            var shown = ShownRecords()
            let results = codes.map { (id, Result<Record, SealKitError>.failure(SealKitError($0, "as the test says"))) }
            try shown.show(results, Output(isJSON: false, isQuiet: true))
            return shown.failed?.code
        }
        #expect(try failed() == nil)
        #expect(try failed(.integrityFailure, .incompatibleVersion) == .integrityFailure)
        #expect(try failed(.incompatibleVersion, .rollback, .limitExceeded) == .rollback)
        #expect(try failed(.incompatibleVersion, .limitExceeded) == .incompatibleVersion)
    }

    /// Nobody signs a notification: its names may move a terminal's cursor, or be several lines of a script's.
    @Test func aNotificationsNamesAreEscaped() throws {
        let wire = Sealkit_V1_Notification.with {
            ($0.subscriptionID, $0.kind, $0.database) = ("all", 1, "private")
            ($0.zone.zoneName, $0.recordName) = ("Notes", "first\nsecond\u{1B}]52;c;\u{7}")
        }
        let fired = try #require(Container.Notification.Fired(wire, own: "_0"))
        #expect(NotificationText.bare(fired) == #"first\nsecond\u{1b}]52;c;\u{7}"#)
        #expect(NotificationText.text(fired).unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test func aListsLastElementEndsBeforeTheLineDoes() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("values").path
        try Data("1,2\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try FieldArgument("n:list-int=@\(file)").value == .list([.int64(1), .int64(2)]))
        try Data(" a,b \n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try FieldArgument("n:list-string=@\(file)").value == .list([.string(" a"), .string("b ")]))
        // A text is what the file has.
        #expect(try FieldArgument("n=@\(file)").value == .string(" a,b \n"))
        #expect(FieldArgument.readsStandardInput("n:list-int=@-"))
        #expect(!FieldArgument.readsStandardInput("n:date=@-") && !FieldArgument.readsStandardInput("n=a=@-"))
    }

    /// A device, or the wrong file, does not fill the memory.
    @Test func aValueIsReadNoFurtherThanARecordHasRoom() {
        let error = #expect(throws: SealKitError.self) { _ = try FieldArgument("n=@/dev/zero") }
        #expect(error?.code == .limitExceeded)
        #expect(error?.reason.contains("field n: /dev/zero") == true, "\(String(describing: error))")
        #expect(error?.remedy.contains("--asset") == true, "\(String(describing: error))")
    }

    /// The name was free when the command looked: it reads the pipe after that.
    @Test func whoLosesARaceToTheFirstSaveIsNotToldWhatTheyDid() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let folder = try TemporaryFolder()
        let keyFile = folder.url.appendingPathComponent("ann.json")
        let pipe = folder.url.appendingPathComponent("pipe").path
        try KeyFile.write(ann.account, to: keyFile, passphrase: nil)
        #expect(mkfifo(pipe, 0o600) == 0)
        let container = ann.container.containerIdentifier
        let running = Task {
            let said = try await Command.finished(
                ServerProcess.executable,
                [
                    "record", "save", "--zone", zone.zoneName, "--type", "Note", "--name", "same", "--update", "--seal",
                    "body=@\(pipe)", "--key-file", keyFile.path, "--container", container,
                ])
            // One that never came to the pipe leaves nobody waiting there.
            return (said, open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
        }
        let writer = await Thread.waiting { open(pipe, O_WRONLY | O_CLOEXEC) }
        try await ann.own.save(ann.note(in: zone, "of another device", name: "same"))
        #expect(write(writer, "mine", 4) == 4)
        close(writer)
        let (said, reader) = try await running.value
        close(reader)
        #expect(said.status == 79, "\(said.errors)")
        #expect(said.errors.contains("somebody else has made"), "\(said.errors)")
        #expect(!said.errors.contains("--update"), "\(said.errors)")
    }

    /// By the command itself, as its user sees it.
    @Test func aRemedyIsShownInTheCommandLinesWords() async throws {
        let server = try ServerProcess(mail: false)
        defer { server.stop() }
        let keyFile = server.folder.appendingPathComponent("ann.json").path
        func run(_ arguments: String...) async throws -> Command {
            try await Command.finished(ServerProcess.executable, arguments, environment: ["SEALKIT_KEY_FILE": keyFile])
        }
        #expect(try await run("account", "create", "--server", server.origin).status == 0)
        #expect(try await run("zone", "create", "Notes").status == 0)
        let elsewhere = try await run("record", "list", "--zone", "Nots")
        #expect(elsewhere.status == 66, "\(elsewhere.errors)")
        #expect(elsewhere.errors.contains("sealkit zone create"), "\(elsewhere.errors)")
        let missing = try await run("record", "get", "nothing", "--zone", "Notes")
        #expect(missing.status == 66, "\(missing.errors)")
        #expect(missing.errors.contains("sealkit record list"), "\(missing.errors)")
        for flags in [[], ["--json"]] as [[String]] {
            let said = try await Command.finished(
                ServerProcess.executable, ["share", "show", "Notes"] + flags, environment: ["SEALKIT_KEY_FILE": keyFile]
            )
            #expect(said.status == 66, "\(said.errors)")
            #expect(said.errors.contains("sealkit share create"), "\(said.errors)")
        }
    }
}
