import SealPrimitives

@testable import SealEnvelope
@testable import SealStatements

/// One zone with a share in it and their people, made once: what the targets open, verify and continue.
enum World {
    static let container = "com.example.notes"
    /// No secret of the vectors': none of their sealed bytes opens here.
    static let link = certain("a link secret") { try LinkSecret(secret(0xA1)) }
    /// The share-wide one that comes after it.
    static let nextLink = certain("a link secret") { try LinkSecret(secret(0xA2)) }
    static let scope = Scope(container: container, environment: .production, owner: Person(1).userID, zoneName: "Notes")
    static let shareScope = Scope(
        container: container, environment: .production, owner: Person(1).userID, zoneName: "Notes",
        shareRecordName: "Share-1")
    /// The owner first. The last is the one before with a newer generation.
    static let people: [Person] = {
        let six = (1...6).map { Person($0) }
        return six + [six[5].next(Person(7).keys)].compactMap { $0 }
    }()
    /// Keys of generations to come: nobody's yet, and for whom they are the fuzzer says.
    static let spareKeys = (7...12).map { Person($0).keys }
    /// All keys there are, by the public one.
    static let keyring = Dictionary(
        (people.prefix(6).map(\.keys) + spareKeys).map { ($0.signingKey.verificationKey, $0) }, uniquingKeysWith: { $1 }
    )
    static let seats = (1...16).map { Seat($0, in: scope) }
    static let shareSeats = (1...16).map { Seat($0, in: shareScope) }
    static let zone = Zone.wholeZone()
    static let share = Zone.hierarchicalShare()
    static let record = Record()

    static func prepare() { _ = (people, spareKeys, keyring, seats, shareSeats, zone, share, record) }
}
