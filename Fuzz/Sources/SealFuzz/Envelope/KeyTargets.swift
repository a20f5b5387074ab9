import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// The key before, sealed under an epoch's key.
enum PreviousKeyTarget: FuzzTarget {
    static let name = "previous-key"
    static let maximumLength = 512
    static let seeds = [
        Seed.hex("epochs", "sealed"), .hex("epochs", "previous"), .made(World.zone.keys[1].key.copyBytes()),
    ]

    static func run(_ input: [UInt8]) {
        let (key, before) = (World.zone.keys[2], World.zone.keys[1])
        let epoch = World.zone.roster.epochs[1]
        var pae = PAE(.previousKey, pieces: 4)
        key.context.add(to: &pae)
        let sealed = seal(input, under: key.key, pae)
        let open = { try key.openPrevious($0, epoch: epoch) }
        opensOnlyWhole(hostile: input, sealed: sealed, "a previous key", open: open)
        if input == before.key.copyBytes() {
            require((try? open(sealed))?.keyID == epoch.keyID, "the key before")
        } else {
            refuses("another key than the roster names", with: .keyMismatch) { try open(sealed) }
        }
    }
}

/// Record keys under an epoch's wrapping key, in statements as they come.
enum RecordKeyTarget: FuzzTarget {
    static let name = "record-key"
    static let maximumLength = 512
    static let seeds = [Seed.hex("records", "statement"), .made([UInt8](repeating: 7, count: 32))]

    static func run(_ input: [UInt8]) {
        let (record, key) = (World.record, World.zone.key)
        var pae = PAE(.recordKey, pieces: 5)
        key.context.add(to: &pae)
        pae.add(record.context)
        let sealed = seal(input, under: key.wrappingKey, pae)
        let unwraps = { (wrapped: [UInt8]) in
            var statement = record.statement
            statement.wrappedKey = wrapped
            return RecordOpener.unwraps(statement, with: key)
        }
        require(unwraps(sealed), "a wrapped key does not open")
        opensOnlyWhole(hostile: input, sealed: sealed, "a wrapped key") {
            if !unwraps($0) { throw SealError.authenticationFailed }
        }
        // What does not have a key's length never gets here: statements with it do not decode.
        var statement = record.statement
        statement.wrappedKey = sealed
        let isRead = (try? Statement(canonicalBytes: statement.canonicalBytes())) != nil
        require(isRead == (input.count == 32), "a record key of another length")
        if let hostile = try? Statement(canonicalBytes: input) {
            require(!RecordOpener.unwraps(hostile, with: key), "a hostile statement's key opens")
        }
    }
}
