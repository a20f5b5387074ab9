import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealKit
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

/// What messages mean to the core, by hand and by SealCoding.
@Suite("Values of the core in messages", .timeLimit(.minutes(60)))
struct CoreValueTests {
    @Test("A value means the same, or is refused for the same reason")
    func values() throws {
        var (taken, refused) = (0, 0)
        for seed in 0..<400 {
            var filler = MessageFiller(seed: UInt64(seed))
            let wire = plainReference(filler.message(Wire.Value.self), seed)
            let generated = try Sealkit_V1_Value(serializedBytes: wire.protobuf())
            let (mine, theirs) = (outcome { try Value(wire) }, outcome { try Value(generated) })
            #expect(mine == theirs, "seed \(seed)")
            guard case .success(let value) = mine else {
                refused += 1
                continue
            }
            taken += 1
            #expect(try Wire.Value(value).protobuf() == value.wire.serializedBytes())
        }
        #expect(taken > 50)
        #expect(refused > 50)
    }

    @Test("Dates have one form")
    func dates() throws {
        for seconds in [0.0, -0.0, 1.5, .nan, .infinity] {
            for isPlace in [false, true] {
                let wire = Wire.Value.with {
                    $0.kind = isPlace ? .location(.with { $0.timestamp = seconds }) : .date(seconds)
                }
                let generated = try Sealkit_V1_Value(serializedBytes: wire.protobuf())
                #expect(outcome { try Value(wire) } == outcome { try Value(generated) }, "\(seconds)")
            }
        }
        #expect(try Wire.Value(.date(-0.0)).protobuf() == Value.date(-0.0).wire.serializedBytes())
    }

    @Test("A field means the same, or is refused for the same reason")
    func fields() throws {
        var (taken, refused) = (0, 0)
        for seed in 0..<600 {
            var filler = MessageFiller(seed: UInt64(seed))
            var wire = filler.message(Wire.Field.self)
            // Hashes are 32 bytes, or nothing would be read of most fields.
            if seed % 3 > 0 {
                let digest = [UInt8](repeating: UInt8(seed & 0xFF), count: 32)
                switch wire.content {
                case .asset(var asset):
                    (asset.salt, asset.root) = (digest, digest)
                    wire.content = .asset(asset)
                case .publicAsset(var asset):
                    asset.root = digest
                    wire.content = .publicAsset(asset)
                case .omitted: wire.content = .omitted(digest)
                case .encrypted(var sealed):
                    sealed.kind = UInt32(seed % 40)
                    wire.content = .encrypted(sealed)
                case .plain(let value): wire.content = .plain(plainReference(value, seed))
                case nil: break
                }
            }
            let generated = try Sealkit_V1_Field(serializedBytes: wire.protobuf())
            let mine = outcome { try WireField(wire).digest(name: wire.name) }
            let theirs = outcome { try WireField(generated).digest(name: generated.name) }
            #expect(mine == theirs, "seed \(seed)")
            guard case .success = mine else {
                refused += 1
                continue
            }
            taken += 1
            let field = try WireField(wire)
            #expect(try Wire.Field(field, name: wire.name).protobuf() == field.wire(name: wire.name).serializedBytes())
        }
        #expect(taken > 100)
        #expect(refused > 100)
    }

    @Test("An asset of the public database has 2⁴⁸ bytes at most")
    func largestPublicAsset() throws {
        for (size, isTaken) in [(1 << 48, true), (1 << 48 + 1, false), (.max, false)] as [(UInt64, Bool)] {
            let wire = Wire.Field.with {
                $0.name = "film"
                $0.content = .publicAsset(
                    .with {
                        $0.size = size
                        $0.root = [UInt8](repeating: 1, count: 32)
                    })
            }
            let generated = try Sealkit_V1_Field(serializedBytes: wire.protobuf())
            let outcomes = [outcome { _ = try WireField(wire) }, outcome { _ = try WireField(generated) }]
            for outcome in outcomes {
                switch outcome {
                case .success: #expect(isTaken)
                case .failure(let error): #expect(!isTaken && error == .invalidLength)
                }
            }
        }
    }

    @Test("A proof means the same", arguments: [0, 1, 31, 32, 64, 1_024, 1_056])
    func proofs(pathBytes: Int) throws {
        let wire = Wire.StatementProof.with {
            $0.signature = [UInt8](repeating: 1, count: 64)
            $0.leafCount = 3
            $0.index = .max
            $0.path = (0..<pathBytes).map { UInt8(truncatingIfNeeded: $0) }
        }
        let generated = try Sealkit_V1_StatementProof(serializedBytes: wire.protobuf())
        let mine = outcome { try StatementProof(wire) }
        #expect(mine == outcome { try StatementProof(generated) })
        let derived = Wire.DerivedDeletion.with { $0.path = wire.path }
        let generatedDerived = try Sealkit_V1_DerivedDeletion(serializedBytes: derived.protobuf())
        #expect(outcome { try derived.siblings() } == outcome { try generatedDerived.siblings() })
        guard case .success(let proof) = mine else { return }
        #expect(try Wire.StatementProof(proof).protobuf() == proof.wire.serializedBytes())
    }

    @Test("A grant's subject means the same", arguments: [0, 1, 2, 3, 257] as [UInt32], [15, 16, 17])
    func grants(kind: UInt32, bytes: Int) throws {
        let wire = Wire.Grant.with {
            $0.subjectKind = kind
            $0.subject = [UInt8](repeating: 5, count: bytes)
            $0.epoch = 7
            $0.sealed = [1, 2]
        }
        let generated = try Sealkit_V1_Grant(serializedBytes: wire.protobuf())
        let mine = outcome { try wire.grantSubject() }
        #expect(mine == outcome { try generated.grantSubject() })
        guard case .success(let subject) = mine else { return }
        #expect(
            try Wire.Grant(subject: subject, epoch: 7, sealed: [1, 2]).protobuf()
                == Sealkit_V1_Grant(subject: subject, epoch: 7, sealed: [1, 2]).serializedBytes())
    }

    @Test("Entries and identities come as they went")
    func signed() throws {
        let entry = SignedRosterEntry(bytes: [1, 2, 3], signature: [4])
        #expect(try Wire.SignedEntry(entry).protobuf() == entry.wire.serializedBytes())
        #expect(SignedRosterEntry(Wire.SignedEntry(entry)) == entry)
        let keys = try AccountSeed(SecretBytes(copying: [UInt8](repeating: 9, count: 32)))
            .identityKeys(container: "org.example.notes", using: XWingHPKE.self)
        let chain = try keys.firstIdentity(time: 5)
        let wire = Wire.IdentityChain(chain)
        #expect(try wire.protobuf() == chain.wire.serializedBytes())
        #expect(try IdentityChain(wire, container: "org.example.notes").userID == chain.userID)
        #expect(throws: SealError.self) { try IdentityChain(wire, container: "org.example.other") }
    }

    private func outcome<T>(_ body: () throws -> T) -> Result<T, SealError> {
        do { return .success(try body()) } catch {
            guard let refusal = error as? SealError else { preconditionFailure("no refusal of the core: \(error)") }
            return .failure(refusal)
        }
    }

    /// References name records, which what is made at random seldom does.
    private func plainReference(_ value: Wire.Value, _ seed: Int) -> Wire.Value {
        guard case .reference = value.kind, seed % 2 == 0 else { return value }
        return .with {
            $0.kind = .reference(
                .with {
                    $0.recordName = "n\(seed)"
                    $0.action = UInt32(seed / 2 % 3)
                })
        }
    }
}
