import Foundation
import SealClient
import SealPrimitives
import SealStatements
import Testing

@testable import SealEnvelope
@testable import SealKit
@testable import SealServer
@testable import SealService

/// Prints every type that holds a secret, in every way, and sees no secret. What the types call themselves is written
/// out here: a change of it is looked at.
@Suite(.timeLimit(.minutes(60))) struct PrintingTests {
    /// A type that holds a secret, a value of it, and what the value must not show.
    struct Shown {
        let type: String
        let value: Any
        let description: String
        var secrets: [SecretBytes] = []
        var texts: [String] = []
    }

    static func core() throws -> [Shown] {
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        let keys = try seed.identityKeys(container: "com.example.notes", using: XWingHPKE.self)
        let link = LinkSecret(random: &random)
        let url = ShareURL(origin: "https://a", routingID: .zero, secret: link, scopeID: .zero)
        let invitation = try link.invitationKeys(scopeID: .zero, invitationID: .zero)
        let recovery = RecoveryKey(random: &random)
        let device = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        let context = EpochContext(scopeID: .zero, incarnations: Incarnations(zone: 1, scope: 1), epoch: 0)
        let epoch = EpochKey(random: &random, context: context)
        let secret = SecretBytes(random: &random)
        let identity = try keys.firstIdentity(time: 0)
        let author = RosterAuthor<XWingHPKE>(user: identity.userID, keys: keys)
        let scope = Scope(
            container: "com.example.notes", environment: .production, owner: identity.userID, zoneName: "z")
        let draft = try author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: identity, time: 0, random: &random)
        let asset = SealedAsset(fileKey: secret, size: 1, salt: .zero, chunkCount: 1, root: .zero)
        let roster = try Roster(opening: draft.entry, scope: scope)
        guard let key = draft.epochKey else { throw SealError.missingKey }
        let (records, signature) = try RecordSealer.seal(
            [RecordDraft(statement: statement(roster), recordKey: nil, fields: [("f", .asset(asset))])], epochKey: key,
            signingKey: keys.signingKey, random: &random)
        var verifier = StatementVerifier(roster: roster)
        let proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: [])
        let opener = try RecordOpener(
            verifier.verify(records[0].statementBytes, proof: proof, recordName: nil), epochKey: key)
        return [
            Shown(type: "SecretBytes", value: secret, description: "SecretBytes", secrets: [secret]),
            Shown(
                type: "SigningKey", value: keys.signingKey, description: "SigningKey",
                secrets: [Hash.derive(seed.bytes, .signingSeed, [UInt8]("com.example.notes".utf8))]),
            Shown(type: "AccountSeed", value: seed, description: "AccountSeed", secrets: [seed.bytes]),
            Shown(
                type: "IdentityKeys", value: keys, description: "IdentityKeys", secrets: [seed.bytes, keys.grantSeed]),
            Shown(type: "LinkSecret", value: link, description: "LinkSecret", secrets: [link.bytes]),
            Shown(
                type: "InvitationKeys", value: invitation, description: "InvitationKeys",
                secrets: [invitation.grantSeed]),
            Shown(
                type: "ShareURL", value: url, description: "https://a/s/AAAAAAAAAAAAAAAAAAAAAA", secrets: [link.bytes]),
            Shown(
                type: "RecoveryKey", value: recovery, description: "RecoveryKey", secrets: [recovery.bytes],
                texts: [recovery.text()]),
            Shown(type: "EpochKey", value: epoch, description: "EpochKey", secrets: [epoch.key, epoch.wrappingKey]),
            Shown(
                type: "AssetCipher", value: AssetCipher(asset), description: "AssetCipher",
                secrets: [secret, Hash.derive(secret, .assetChunks, Digest.zero.bytes)]),
            Shown(type: "RecordOpener", value: opener, description: "RecordOpener", secrets: [opener.recordKey]),
            Shown(type: "RosterAuthor", value: author, description: "RosterAuthor", secrets: [keys.grantSeed]),
            Shown(type: "RosterAuthor.Draft", value: draft, description: "Draft", secrets: [key.key]),
            Shown(
                type: "RecordDraft", value: RecordDraft(statement: statement(roster), recordKey: secret, fields: []),
                description: "RecordDraft", secrets: [secret]),
            Shown(type: "SealedRecord", value: records[0], description: "SealedRecord", secrets: [opener.recordKey]),
            Shown(type: "SealedAsset", value: asset, description: "SealedAsset", secrets: [secret]),
            Shown(
                type: "SettingsDraft", value: SettingsDraft(secret: link, publicAccess: (.zero, .readOnly)),
                description: "SettingsDraft", secrets: [link.bytes]),
            Shown(
                type: "Enrolment.NewDevice", value: device, description: "NewDevice", secrets: [device.seed]),
            Shown(
                type: "Enrolment.Package", value: Enrolment.Package(seeds: [seed], heads: []), description: "Package",
                secrets: [seed.bytes]),
            Shown(type: "FieldDraft", value: FieldDraft.asset(asset), description: "asset", secrets: [secret]),
            Shown(type: "OpenedField", value: OpenedField.asset(asset), description: "asset", secrets: [secret]),
        ]
    }

    private static func statement(_ roster: Roster) -> Statement {
        let scope = roster.scope
        return Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName, zoneIncarnation: 1, recordName: "n", recordType: "Note", creator: scope.owner,
            author: scope.owner, clientTime: 1, revision: 1, previous: .zero, scopeID: roster.scopeID,
            scopeIncarnation: 1,
            epoch: 0, wrappedKey: [], rosterSequence: 0, rosterHead: roster.head, checkpoint: Checkpoint.none,
            parent: nil, share: nil, salt: .zero,
            fieldsDigest: .zero)
    }

    /// With the key of its epoch.
    private static func replica(of seed: AccountSeed) throws -> ScopeReplica<XWingHPKE> {
        var random = SystemRandom()
        let own = try OwnIdentity([seed], container: "com.example.notes", using: XWingHPKE.self)
        let scope = Scope(
            container: "com.example.notes", environment: .production, owner: own.chain.userID, zoneName: "z")
        let draft = try RosterAuthor<XWingHPKE>(user: own.chain.userID, keys: own.keys).open(
            scope, following: nil, encryptionScope: .perRecord, identity: own.chain, time: 0, random: &random)
        var replica = try ScopeReplica<XWingHPKE>(
            scope: scope, user: own.chain.userID, entries: [draft.entry], floors: [])
        replica.open([OwnGrant(epoch: 0, sealed: draft.grants[0].sealed)], as: own)
        return replica
    }

    /// Of the SDK and the server: those that hold a secret as text, and those that lead to one.
    static func outside() throws -> [Shown] {
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        let transport = try HTTPTransport(server: "http://127.0.0.1:1")
        let account = try Account(seeds: [seed], transport: transport)
        let container = try Container("com.example.notes", account: account)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("sealkit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try KeyFile.write(account, to: file, passphrase: nil)
        var share = Share(recordZoneID: .default)
        share.url = "https://a/s/b#canary-url"
        share.oneTimeURLs = ["1": "https://a/s/b#canary-url"]
        share.title = "canary-title"
        var record = Record(recordType: "Note", recordID: Record.ID(recordName: "n"))
        record.encryptedValues["body"] = "canary-value"
        record["plain"] = "canary-value"
        let error = SealKitError(.serverRecordChanged, "the record changed", clientRecord: record)
        let mail = MailConfiguration(url: "smtp://a", from: "a@b.c", username: "u", password: "canary-password")
        return [
            Shown(type: "Account", value: account, description: "SealKit.Account", secrets: [seed.bytes]),
            Shown(type: "Container", value: container, description: "Container", secrets: [seed.bytes]),
            Shown(type: "Database", value: container.privateDatabase, description: "Database", secrets: [seed.bytes]),
            Shown(
                type: "KeyFile", value: try KeyFile(contentsOf: file),
                description: "KeyFile(http://127.0.0.1:1, sealed: false)", secrets: [seed.bytes]),
            Shown(
                type: "AccountSecrets", value: try account.secrets, description: "AccountSecrets(http://127.0.0.1:1)",
                secrets: [seed.bytes]),
            Shown(
                type: "Account.RecoveryPassphrase",
                value: try Account.RecoveryPassphrase(name: "canary-name", passphrase: "canary-passphrase"),
                description: "RecoveryPassphrase", texts: ["canary"]),
            Shown(type: "AccountKeys", value: account.keys, description: "SealKit.AccountKeys", secrets: [seed.bytes]),
            Shown(
                type: "OwnIdentity",
                value: try OwnIdentity(
                    [seed], container: "com.example.notes", using: XWingHPKE.self),
                description: "OwnIdentity",
                secrets: [seed.bytes]),
            Shown(
                type: "ScopeReplica", value: try replica(of: seed), description: "ScopeReplica", secrets: [seed.bytes]),
            Shown(
                type: "MemoryKeyStore", value: MemoryKeyStore(try account.secrets),
                description: "SealKit.MemoryKeyStore",
                secrets: [seed.bytes]),
            Shown(
                type: "FileKeyStore", value: FileKeyStore(file: URL(fileURLWithPath: "/k")),
                description: "FileKeyStore(/k)"),
            Shown(
                type: "VerificationToken", value: VerificationToken(text: "canary-token"),
                description: "VerificationToken", texts: ["canary"]),
            Shown(
                type: "ManagementToken",
                value: try ManagementToken("sealkit-management-" + Base64URL.encode(seed.bytes)),
                description: "ManagementToken", secrets: [seed.bytes]),
            Shown(type: "Share", value: share, description: "Share(_defaultZone, participants: 0)", texts: ["canary"]),
            Shown(type: "Record", value: record, description: "Record(Note n, keys: body plain)", texts: ["canary"]),
            Shown(
                type: "Record.EncryptedValues", value: record.encryptedValues, description: "EncryptedValues",
                texts: ["canary"]),
            Shown(
                type: "SealKitError", value: error, description: "serverRecordChanged: the record changed",
                texts: ["canary"]),
            Shown(
                type: "TransportResponse", value: TransportResponse(status: 200, body: Data("canary-token".utf8)),
                description: "TransportResponse(200, 12 bytes)", texts: ["canary", "99, 97"]),
            Shown(
                type: "Sessions.Issued", value: Sessions.Issued(token: "canary-token", expires: 1),
                description: "Sessions.Issued", texts: ["canary"]),
            Shown(
                type: "OutgoingMessage",
                value: OutgoingMessage(
                    id: "canary", recipient: "canary@example.org", subject: "canary", body: "12345678", html: "canary",
                    language: "en"),
                description: "OutgoingMessage", texts: ["canary", "12345678"]),
            Shown(
                type: "CodeMessage",
                value: CodeMessage(recipient: "canary@example.org", code: "12345678", language: "en"),
                description: "CodeMessage", texts: ["canary", "12345678"]),
            Shown(
                type: "SMSConfiguration", value: SMSConfiguration(url: "https://a.example/canary", token: "canary"),
                description: "SMSConfiguration(https://a.example", texts: ["canary"]),
            Shown(type: "Address", value: try Address("canary@example.org"), description: "Address", texts: ["canary"]),
            Shown(
                type: "MailConfiguration", value: mail,
                description: "MailConfiguration(url: smtp://a, from: a@b.c, startTLS: required)", texts: ["canary"]),
            Shown(
                type: "ServerConfiguration", value: ServerConfiguration(dataFolder: "/d", mail: mail),
                description: "ServerConfiguration", texts: ["canary"]),
        ]
    }

    private struct Holder {
        let name = "holder"
        let held: Any
    }

    @Test func `No type that holds a secret shows it, alone or inside others`() throws {
        for shown in try PrintingTests.core() + PrintingTests.outside() {
            var texts = ["\(shown.value)", String(describing: shown.value), String(reflecting: shown.value)]
            #expect(texts[0].hasPrefix(shown.description), "\(shown.type) calls itself \(texts[0])")
            let inside: [Any] = [
                Optional.some(shown.value) as Any, [shown.value], ["key": shown.value], (1, shown.value),
                Holder(held: shown.value), Result<Any, any Error>.success(shown.value),
            ]
            for value in [shown.value] + inside {
                texts += ["\(value)", String(reflecting: value)]
                var dumped = ""
                dump(value, to: &dumped)
                texts.append(dumped)
            }
            let text = texts.joined(separator: "\n")
            for spelling in shown.texts + shown.secrets.flatMap(PrintingTests.spellings) {
                #expect(!text.contains(spelling), "\(shown.type) shows a secret")
            }
        }
    }

    /// Parts of a secret as hexadecimal, decimal, base64 and as `dump` lists bytes.
    private static func spellings(_ secret: SecretBytes) -> [String] {
        let bytes = secret.copyBytes()
        return [0, 8, 24].flatMap { start in
            let part = [UInt8](bytes[start..<start + 6])
            return [
                Hex.encode(part), Hex.encode(part).uppercased(), part.map(String.init).joined(separator: ", "),
                part.map(String.init).joined(separator: " "),
                String(Data(bytes[start...]).base64EncodedString().prefix(8)),
                String(Base64URL.encode([UInt8](bytes[start...])).prefix(8)),
            ]
        }
    }

    @Test func `The spellings that are looked for are those that print`() throws {
        let bytes = (0..<32).map { UInt8($0 * 7 + 3) }
        let spellings = PrintingTests.spellings(SecretBytes(copying: bytes))
        for text in ["\(bytes)", Hex.encode(bytes), Base64URL.encode(bytes)] {
            #expect(spellings.contains { text.contains($0) })
        }
    }

    @Test func `No type of the core that holds a secret is left out here`() throws {
        let holders = try SecretTypes(modules: ["SealPrimitives", "SealStatements", "SealEnvelope"]).holders()
        let shown = Set(try PrintingTests.core().map(\.type))
        // It cannot be copied, and so not be printed.
        #expect(holders.subtracting(shown) == ["SealingKey"])
    }
}
