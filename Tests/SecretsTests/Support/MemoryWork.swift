import SealPrimitives
import SealService
import SealStatements

@testable import SealEnvelope
@testable import SealKit

/// The work that keys are for. All that it makes is released when a function returns; the vault knows what to look for.
enum MemoryWork {
    static let container = "com.example.notes"

    @inline(never)
    static func account(_ vault: Vault) throws {
        var random = SystemRandom()
        let seed = AccountSeed(random: &random)
        vault.remember("account seed", seed.bytes)
        let name = [UInt8](container.utf8)
        vault.remember("signing seed", Hash.derive(seed.bytes, .signingSeed, name))
        vault.remember("X-Wing seed of an identity", Hash.derive(seed.bytes, .grantSeed, name))
        vault.remember("login seed", Hash.derive(seed.bytes, .loginSeed, []))
        vault.remember("storage key", seed.storageKey())
        let keys = try seed.identityKeys(container: container, using: XWingHPKE.self)
        _ = try keys.firstIdentity(time: 1)
        _ = try seed.loginKey().sign(message: [1, 2, 3])
        let box = StorageBox.seal(
            keys.grantSeed, purpose: "test", context: [1], under: seed.storageKey(), random: &random)
        _ = try StorageBox.open(box, purpose: "test", context: [1], under: seed.storageKey())
        _ = "\(seed) \(keys)"
    }

    @inline(never)
    static func recovery(_ vault: Vault) throws {
        var random = SystemRandom()
        let key = RecoveryKey(random: &random)
        let seeds = (0..<5).map { _ in AccountSeed(random: &random) }
        vault.remember("recovery key", key.bytes)
        vault.remember("bundle key", Hash.derive(key.bytes, .recoveryKey, []))
        for seed in seeds { vault.remember("seed", seed.bytes) }
        let sealed = key.seal(seeds, random: &random)
        _ = try key.open(sealed)
        _ = key.bundleID
        _ = try? RecoveryKey(random: &random).open(sealed)
    }

    @inline(never)
    static func passwordBox(_ vault: Vault) throws {
        var random = SystemRandom()
        let password = SecretBytes(random: &random)
        let secret = SecretBytes(random: &random, count: 64)
        vault.remember("password", password)
        vault.remember("boxed secret", secret)
        let box = try PasswordBox.seal(secret, password: password, random: &random)
        let salt = [UInt8](box[8..<24])
        vault.remember("box key", try PasswordParameters.moderate.derive(password, salt: salt))
        _ = try PasswordBox.open(box, password: password)
    }

    @inline(never)
    static func records(_ vault: Vault) throws {
        var random = SystemRandom()
        let keys = try AccountSeed(random: &random).identityKeys(container: container, using: XWingHPKE.self)
        let identity = try keys.firstIdentity(time: 1)
        let author = RosterAuthor<XWingHPKE>(user: identity.userID, keys: keys)
        let scope = Scope(container: container, environment: .production, owner: identity.userID, zoneName: "Notes")
        let opening = try author.open(
            scope, following: nil, encryptionScope: .perRecord, identity: identity, time: 1, random: &random)
        var roster = try Roster(opening: opening.entry, scope: scope)
        guard let first = opening.epochKey else { throw SealError.missingKey }
        remember(first, "first epoch", vault)
        vault.remember("X-Wing seed of a grant's reader", keys.grantSeed)
        let again = try Grants<XWingHPKE>.open(
            opening.grants[0].sealed, epoch: roster.currentEpoch, as: identity.userID, keys: keys)
        let link = LinkSecret(random: &random)
        try roster.append(author.plain(.settings(.init(linkID: link.id(in: scope.id))), on: roster, time: 1).entry)
        let next = try author.next(on: roster, changes: [], rotating: true, current: again, time: 1, random: &random)
        try roster.append(next.entry)
        guard let second = next.epochKey else { throw SealError.missingKey }
        remember(second, "second epoch", vault)
        _ = try second.openPrevious(roster.currentEpoch.previousKey, epoch: roster.epochs[0])
        try sealAndOpen(vault, roster, keys, second)
    }

    private static func remember(_ key: EpochKey, _ name: String, _ vault: Vault) {
        vault.remember("\(name): key", key.key)
        vault.remember("\(name): wrapping key", key.wrappingKey)
    }

    private static func sealAndOpen(_ vault: Vault, _ roster: Roster, _ keys: IdentityKeys, _ key: EpochKey) throws {
        var random = SystemRandom()
        let scope = roster.scope
        let statement = Statement(
            kind: .save, container: scope.container, environment: scope.environment, owner: scope.owner,
            zoneName: scope.zoneName, zoneIncarnation: 1, recordName: "Note-1", recordType: "Note",
            creator: scope.owner,
            author: scope.owner, clientTime: 1, revision: 1, previous: .zero, scopeID: roster.scopeID,
            scopeIncarnation: 1,
            epoch: 1, wrappedKey: [], rosterSequence: roster.sequence, rosterHead: roster.head,
            checkpoint: Checkpoint.none,
            parent: nil, share: nil,
            salt: .zero, fieldsDigest: .zero)
        let fileKey = SecretBytes(random: &random)
        vault.remember("file key", fileKey)
        let salt = Digest(random: &random)
        vault.remember("chunk key", Hash.derive(fileKey, .assetChunks, salt.bytes))
        let layout = AssetLayout(size: 100)
        let asset = SealedAsset(fileKey: fileKey, size: 100, salt: salt, chunkCount: 1, root: .zero)
        let chunk = [UInt8](repeating: 1, count: layout.plaintextBytes(ofChunk: 0))
        var sealedChunk = [UInt8](repeating: 0, count: chunk.count + 16)
        var opened = chunk
        try sealedChunk.withUnsafeMutableBytes { output in
            try chunk.withUnsafeBytes { try AssetCipher(asset).seal(chunk: 0, $0, into: output) }
        }
        try opened.withUnsafeMutableBytes { output in
            try sealedChunk.withUnsafeBytes { try AssetCipher(asset).open(chunk: 0, $0, into: output) }
        }
        let fields: [(name: String, field: FieldDraft)] = [
            ("asset", .asset(asset)), ("text", .encrypted(.string("text"))),
        ]
        let drafts = (0..<3).map { _ in RecordDraft(statement: statement, recordKey: nil, fields: fields) }
        let (records, signature) = try RecordSealer.seal(
            drafts, epochKey: key, signingKey: keys.signingKey, random: &random)
        let tree = try StatementTree(leaves: records.map(\.hash))
        var verifier = StatementVerifier(roster: roster)
        for (index, record) in records.enumerated() {
            vault.remember("record key", record.recordKey)
            let proof = StatementProof(signature: signature, leafCount: 3, index: index, path: tree.path(to: index))
            let opener = try RecordOpener(
                verifier.verify(record.statementBytes, proof: proof, recordName: nil), epochKey: key)
            for (name, content, _) in record.fields {
                guard case .stored(let field) = content else { continue }
                _ = try opener.open(field, name: name)
            }
        }
    }

    @inline(never)
    static func enrolment(_ vault: Vault) throws {
        var random = SystemRandom()
        let seeds = (0..<3).map { _ in AccountSeed(random: &random) }
        for seed in seeds { vault.remember("enrolled seed", seed.bytes) }
        let device = try Enrolment.NewDevice<XWingHPKE>(random: &random)
        vault.remember("X-Wing seed of an enrolment", device.seed)
        let loginKey = try seeds[2].loginKey().verificationKey
        let transcript = try device.transcript(answer: Digest(random: &random), loginKey: loginKey)
        let heads = (0..<40).map { _ in Enrolment.Head(scopeID: Digest(random: &random), sequence: 1, hash: .zero) }
        let sealed = try Enrolment.seal(
            Enrolment.Package(seeds: seeds, heads: heads), to: transcript.confirmedByUser(), using: XWingHPKE.self)
        _ = try device.open(sealed, confirmed: transcript.confirmedByUser())
    }

    @inline(never)
    static func links(_ vault: Vault) throws {
        var random = SystemRandom()
        let link = LinkSecret(random: &random)
        let scopeID = Digest(random: &random)
        let invitation = ID16(random: &random)
        vault.remember("link secret", link.bytes)
        vault.remember(
            "invitation signing seed", Hash.derive(link.bytes, .invitationSign, scopeID.bytes, invitation.bytes))
        vault.remember(
            "X-Wing seed of an invitation", Hash.derive(link.bytes, .invitationGrant, scopeID.bytes, invitation.bytes))
        vault.remember("preview key", Hash.derive(link.bytes, .previewKey, scopeID.bytes))
        let reader = try AccountSeed(random: &random).identityKeys(container: container, using: XWingHPKE.self)
        vault.remember("X-Wing seed of a link's reader", reader.grantSeed)
        let administrator = try reader.firstIdentity(time: 1)
        let kept = try SealedLinks<XWingHPKE>.seal(link, scopeID: scopeID, to: administrator)
        _ = try SealedLinks<XWingHPKE>.open(
            kept, scopeID: scopeID, linkID: link.id(in: scopeID), as: administrator.userID, keys: reader)
        let keys = try link.invitationKeys(scopeID: scopeID, invitationID: invitation)
        _ = keys.signingKey.sign(message: [1])
        let epoch = EpochKey(
            random: &random,
            context: EpochContext(scopeID: scopeID, incarnations: Incarnations(zone: 1, scope: 1), epoch: 0))
        remember(epoch, "epoch in a grant", vault)
        _ = try Grants<XWingHPKE>.seal(
            epoch, invitationID: invitation, invitationKey: XWingHPKE.publicKey(seed: keys.grantSeed), invitee: nil)
        let shown = SignedPreview(
            SharePreview(title: "Title"), author: administrator.userID, rosterSequence: 0, rosterHead: .zero, time: 1,
            signature: [UInt8](repeating: 0, count: SigningKey.signatureBytes))
        let preview = try link.seal(shown, scopeID: scopeID, random: &random)
        _ = try link.openPreview(preview, scopeID: scopeID)
    }

    @inline(never)
    static func texts(_ vault: Vault) throws {
        var random = SystemRandom()
        let key = RecoveryKey(random: &random)
        vault.remember("recovery key", key.bytes)
        _ = try RecoveryKey(text: key.text().lowercased())
        let link = LinkSecret(random: &random)
        vault.remember("link secret", link.bytes)
        let url = ShareURL(
            origin: "https://example.org", routingID: ID16(random: &random), secret: link, scopeID: .zero)
        _ = try ShareURL(url.text())
        let secret = SecretBytes(random: &random, count: 96)
        vault.remember("secret in base64", secret)
        _ = try Base64URL.decodeSecret(Base64URL.encode(secret))
    }
}
