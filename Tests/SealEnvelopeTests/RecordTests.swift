import SealPrimitives
import SealStatements
import Testing

@testable import SealEnvelope

@Suite(.timeLimit(.minutes(60))) struct RecordTests {
    var zone: Zone

    init() throws { zone = try Zone() }

    static let values: [(String, Value)] = [
        ("count", .int64(-1)), ("body", .string("Dear diary")), ("data", .data([1, 2, 3])), ("price", .double(1.5)),
        ("when", .date(12)), ("where", .location(Location(latitude: 1, longitude: 2))), ("tags", .list([])),
        ("more", .list([.int64(1), .int64(2)])),
    ].sorted { $0.0 < $1.0 }

    mutating func sealed(_ record: String = "Note-1", key: SecretBytes? = nil) throws -> (
        record: SealedRecord, verified: VerifiedStatement
    ) {
        let draft = RecordDraft(
            statement: zone.statement(record), recordKey: key, fields: Self.values.map { ($0.0, .encrypted($0.1)) })
        let (records, signature) = try zone.seal([draft])
        return (records[0], try zone.verify(records, signature)[0])
    }

    @Test mutating func `What is sealed verifies, and opens with the epoch's key`() throws {
        let (record, verified) = try sealed()
        let opener = try RecordOpener(verified, epochKey: zone.key)
        for (name, value) in Self.values {
            #expect(try opener.open(#require(record.stored(name)), name: name).value == value)
        }
        try verified.check(
            try record.fields.map {
                try FieldDigest(name: $0.name, digest: #require(record.stored($0.name)).digest(name: $0.name))
            })
    }

    @Test mutating func `A changed field is sealed next to carried ones, under the record's key`() throws {
        let (record, verified) = try sealed()
        let opener = try RecordOpener(verified, epochKey: zone.key)
        let fields: [(name: String, field: FieldDraft)] = try Self.values.map { name, value in
            name == "body"
                ? (name, .encrypted(.string("New")))
                : (name, .carried(try #require(record.stored(name)).digest(name: name)))
        }
        let statement = zone.statement(revision: 2, previous: verified.hash)
        let (records, signature) = try zone.seal([
            RecordDraft(statement: statement, recordKey: opener.recordKey, fields: fields)
        ])
        let next = try zone.verify(records, signature)[0]
        let reopened = try RecordOpener(next, epochKey: zone.key)
        #expect(try reopened.open(#require(records[0].stored("body")), name: "body").value == .string("New"))
        #expect(try reopened.open(#require(record.stored("count")), name: "count").value == .int64(-1))
        try next.check(
            try Self.values.map { name, _ in
                let stored = records[0].stored(name) ?? record.stored(name)
                return FieldDigest(name: name, digest: try #require(stored).digest(name: name))
            })
    }

    @Test mutating func `A field does not open as another field, of another record, or as another type`() throws {
        let (record, verified) = try sealed()
        let key = secret(3)
        let (one, oneVerified) = try sealed("Note-2", key: key)
        let (_, otherVerified) = try sealed("Note-3", key: key)
        let opener = try RecordOpener(verified, epochKey: zone.key)
        let count = try #require(record.stored("count"))
        guard case .encrypted(_, let sealed) = count else { return }
        #expect(throws: SealError.authenticationFailed, "another name") { try opener.open(count, name: "body") }
        #expect(throws: SealError.authenticationFailed, "another type") {
            try opener.open(.encrypted(.type(ValueType(.date)), sealed: sealed), name: "count")
        }
        #expect(throws: SealError.authenticationFailed, "a list") {
            try opener.open(.encrypted(.type(ValueType(.int64, isList: true)), sealed: sealed), name: "count")
        }
        let field = try #require(one.stored("count"))
        _ = try RecordOpener(oneVerified, epochKey: zone.key).open(field, name: "count")
        #expect(throws: SealError.authenticationFailed, "another record, though its key were the same") {
            try RecordOpener(otherVerified, epochKey: zone.key).open(field, name: "count")
        }
        for altered in alterations(of: sealed) {
            #expect(throws: SealError.authenticationFailed) {
                try opener.open(.encrypted(.type(ValueType(.int64)), sealed: altered), name: "count")
            }
        }
    }

    @Test mutating func `Another epoch's key, life or scope opens nothing`() throws {
        let (_, verified) = try sealed()
        let context = zone.key.context
        func other(_ context: EpochContext) -> EpochKey {
            var random = FixedRandom(77)
            return EpochKey(random: &random, context: context)
        }
        let lives = Incarnations(zone: 2, scope: 2)
        for context in [
            EpochContext(scopeID: context.scopeID, incarnations: context.incarnations, epoch: 1),
            EpochContext(scopeID: context.scopeID, incarnations: lives, epoch: 0),
            EpochContext(scopeID: GrantHash.of([1]), incarnations: context.incarnations, epoch: 0),
        ] {
            #expect(throws: SealError.missingKey) { try RecordOpener(verified, epochKey: other(context)) }
        }
        #expect(throws: SealError.authenticationFailed) { try RecordOpener(verified, epochKey: other(context)) }
    }

    @Test mutating func `What the author may not seal is refused`() throws {
        func seal(_ statement: Statement, _ fields: [(name: String, field: FieldDraft)]) throws(SealError) {
            var copy = zone
            _ = try copy.seal([RecordDraft(statement: statement, recordKey: nil, fields: fields)])
        }
        let statement = zone.statement()
        #expect(throws: SealError.unsupported, "a reference") {
            try seal(statement, [("a", .encrypted(.reference(ReferenceValue(recordName: "b"))))])
        }
        #expect(throws: SealError.malformed, "a mixed list") {
            try seal(statement, [("a", .encrypted(.list([.double(1), .int64(1)])))])
        }
        #expect(throws: SealError.malformed, "out of order") {
            try seal(statement, [("b", .plain(.int64(1))), ("a", .plain(.int64(1)))])
        }
        #expect(throws: SealError.malformed, "twice") {
            try seal(statement, [("a", .plain(.int64(1))), ("a", .plain(.int64(1)))])
        }
        #expect(throws: SealError.invalidName, "no identifier") { try seal(statement, [("_a", .plain(.int64(1)))]) }
        var wrong = statement
        wrong.epoch = 1
        #expect(throws: SealError.wrongContext, "another epoch") { try seal(wrong, []) }
        wrong = statement
        wrong.zoneIncarnation = 2
        #expect(throws: SealError.wrongContext, "another life") { try seal(wrong, []) }
        #expect(throws: SealError.invalidLength, "no record") {
            var copy = zone
            _ = try copy.seal([])
        }
    }

    @Test mutating func `A deletion has no key and opens to nothing`() throws {
        var statement = zone.statement()
        statement.kind = .delete
        let (records, signature) = try zone.seal([RecordDraft(statement: statement, recordKey: nil, fields: [])])
        #expect(records[0].statement.wrappedKey.isEmpty)
        let verified = try zone.verify(records, signature)[0]
        #expect(throws: SealError.missingKey) { try RecordOpener(verified, epochKey: zone.key) }
    }

    @Test mutating func `No nonce comes twice in a save, whatever keys it seals under`() throws {
        let key = secret(3)
        let drafts = (0..<40).map { number in
            RecordDraft(
                statement: zone.statement("Note-\(number)"), recordKey: number % 2 == 0 ? key : nil,
                fields: Self.values.map { ($0.0, .encrypted($0.1)) })
        }
        var nonces: Set<[UInt8]> = []
        let records = try zone.seal(drafts).records
        for record in records {
            nonces.insert([UInt8](record.statement.wrappedKey.prefix(AEAD.nonceBytes)))
            for field in record.fields {
                if case .stored(.encrypted(_, let sealed)) = field.content {
                    nonces.insert([UInt8](sealed.prefix(AEAD.nonceBytes)))
                }
            }
        }
        #expect(nonces.count == 40 * (Self.values.count + 1))
    }

    /// One key for several would give all of them to whoever is given one: a share's participants, say.
    @Test mutating func `Each record of a save has a key and a salt of its own`() throws {
        let drafts = (0..<50).map {
            RecordDraft(
                statement: zone.statement("Note-\($0)"), recordKey: nil, fields: [("body", .encrypted(.string("x")))])
        }
        let (records, signature) = try zone.seal(drafts)
        let keys = Set(records.map { $0.recordKey.copyBytes() })
        #expect(keys.count == 50)
        #expect(Set(records.map(\.statement.salt)).count == 50)
        // Nor does one open another's fields, wherever these are put.
        let verified = try zone.verify(records, signature)
        for (index, one) in verified.enumerated() {
            let opener = try RecordOpener(one, epochKey: zone.key)
            #expect(opener.recordKey.copyBytes() == records[index].recordKey.copyBytes())
        }
    }

    @Test mutating func `A value of another type than its field shows is no value`() throws {
        let (_, verified) = try sealed()
        let opener = try RecordOpener(verified, epochKey: zone.key)
        var random = SystemRandom()
        let (shown, number) = (Value.string("7").tag, Value.int64(7))
        func seal(_ value: Value, as tag: ValueTag) throws -> StoredField {
            let padded = Padding.pad(try value.canonicalBytes())
            let data = RecordBinding(verified.statement).fieldData("count", tag: tag)
            return .encrypted(
                tag, sealed: AEAD.seal(padded, under: opener.recordKey, associatedData: data, random: &random))
        }
        // Its author sealed it so, and signed it: readers that go by the field's type would take it for what it is not.
        #expect(try opener.open(seal(number, as: number.tag), name: "count").value == number)
        let others: [(Value, ValueTag)] = [
            (number, shown), (.list([number]), number.tag), (number, Value.list([number]).tag),
            (.date(7), Value.double(7).tag),
        ]
        for (value, tag) in others {
            let field = try seal(value, as: tag)
            #expect(throws: SealError.malformed) { try opener.open(field, name: "count") }
        }
        // A reference is not encrypted, whatever it is shown as.
        let reference = Value.reference(ReferenceValue(recordName: "b"))
        let field = try seal(reference, as: reference.tag)
        #expect(throws: SealError.malformed) { try opener.open(field, name: "count") }
    }

    /// Whoever seals there next has to know that people of the epoch before hold the key.
    @Test mutating func `A record that is wrapped for another epoch says that its key was carried there`() throws {
        let key = secret(3)
        let (record, verified) = try sealed(key: key)
        let fields = record.fields.map { FieldDigest(name: $0.name, digest: $0.digest) }
        func rewrapped(_ roster: Roster) throws -> Statement {
            try RecordDraft(
                rewrapping: verified, fields: fields, recordKey: key, into: roster, by: zone.owner.userID, clientTime: 2
            ).statement
        }
        // Nothing has changed but the time: nobody else holds it.
        let same = try rewrapped(zone.roster)
        #expect(!same.isKeyCarried)
        #expect(same.formerScope == nil)
        #expect(same.revision == 2)
        #expect(same.previous == verified.hash)
        // The same scope, under its next key.
        let rotated = try zone.owner.author.next(
            on: zone.roster, changes: [], rotating: true, current: zone.key, time: 2, random: &zone.random)
        var roster = zone.roster
        try roster.append(rotated.entry)
        let carried = try rewrapped(roster)
        #expect(carried.epoch == 1)
        #expect(carried.isKeyCarried)
        #expect(carried.formerScope == nil)
        // Another scope of the same epoch.
        let other = try Zone("Other").roster
        let moved = try rewrapped(other)
        #expect(moved.epoch == 0)
        #expect(moved.isKeyCarried)
        #expect(moved.formerScope == verified.statement.place)
        let wrong = fields.dropLast()
        #expect(throws: SealError.fieldMismatch) {
            try RecordDraft(
                rewrapping: verified, fields: Array(wrong), recordKey: key, into: roster, by: zone.owner.userID,
                clientTime: 2)
        }
    }

    @Test mutating func `Without a given key every save makes a fresh one`() throws {
        let one = try RecordOpener(sealed().verified, epochKey: zone.key).recordKey
        let other = try RecordOpener(sealed().verified, epochKey: zone.key).recordKey
        #expect(!SecretBytes.areEqual(one, other))
    }
}

@Suite(.timeLimit(.minutes(60))) struct PaddingTests {
    /// PURBs, section 4.3: E = ⌊log₂ L⌋, S = ⌊log₂ E⌋ + 1, the last E − S bits are zero.
    @Test(
        arguments: [
            (0, 32), (1, 32), (32, 32), (33, 36), (36, 36), (63, 64), (65, 72), (100, 104), (129, 144), (1000, 1024),
            (1025, 1088),
            (65_537, 67_584), (1_000_000, 1_015_808),
        ] as [(UInt64, UInt64)]) func `Lengths are padded by Padmé, to 32 at least`(count: UInt64, padded: UInt64)
    {
        #expect(Padding.paddedLength(count) == padded)
    }

    @Test func `Padding never shortens, is idempotent, monotonic, and adds an eighth at most`() {
        var last: UInt64 = 0
        for count in 32..<20_000 as Range<UInt64> {
            let padded = Padding.paddedLength(count)
            #expect(padded >= count)
            #expect(padded >= last)
            #expect(padded * 8 <= count * 9)
            #expect(Padding.paddedLength(padded) == padded)
            last = padded
        }
    }

    @Test func `A padded value has zeros after it, and exactly as many as it should`() throws {
        let bytes = try Value.string("secret").canonicalBytes()
        let padded = Padding.pad(bytes)
        #expect(try Value(padded: padded) == .string("secret"))
        #expect(throws: SealError.malformed, "unpadded") { try Value(padded: bytes) }
        #expect(throws: SealError.malformed, "one zero less") { try Value(padded: [UInt8](padded.dropLast())) }
        #expect(throws: SealError.malformed, "one zero more") { try Value(padded: padded + [0]) }
        #expect(throws: SealError.malformed, "padded twice") {
            try Value(padded: padded + [UInt8](repeating: 0, count: 32))
        }
        for index in bytes.count..<padded.count {
            var altered = padded
            altered[index] = 1
            #expect(throws: SealError.malformed, "not zero") { try Value(padded: altered) }
        }
    }

    @Test func `Values of one bucket are sealed to one length`() throws {
        let lengths = try (0...27).map {
            Padding.pad(try Value.string(String(repeating: "a", count: $0)).canonicalBytes()).count
        }
        #expect(Set(lengths) == [32])
    }
}
