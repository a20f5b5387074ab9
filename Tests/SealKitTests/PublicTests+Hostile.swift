import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealLab
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

extension PublicTests {
    // MARK: Hostile servers

    @Test func nothingThatItsAuthorDidNotSignIsShown() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let saved = try await ann.container.publicDatabase.save(note("hers"))
        let other = try await bob.container.publicDatabase.save(note("his"))
        let theirs = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        _ = try await Container(ann.container.containerIdentifier, transport: theirs).publicDatabase.record(
            for: other.recordID)
        let foreign = try #require(theirs.records().first)
        let bobs = bob.container.core.identity().chain.wire
        let anns = ann.container.core.identity().chain.wire
        let lies: [@Sendable (inout Sealkit_V1_LookupRecordsResponse) throws -> Void] = [
            { $0.results[0].record.fields[0].plain.string = "forged" },
            { $0.results[0].record.fields = [] },
            {
                $0.results[0].record = foreign
                $0.authors.append(bobs)
            },
            { $0.results[0].record.recordType = "Other" },
            { $0.results[0].record.proof.signature[0] ^= 1 },
            { $0.results[0].record.statement[300] ^= 1 },
            { $0.results[0].record.deleted = true },
            // Another's keys, and nobody's.
            { $0.authors = [bobs] },
            { $0.authors = [] },
            { $0.authors = [.with { $0.identities = bobs.identities + anns.identities }] },
            { answer in
                let digest = try #require(saved.base?.digests["body"])
                answer.results[0].record.fields[0].omitted = Data(digest.bytes)
            },
            // Something sealed has no place here, however it is signed.
            { $0.results[0].record.fields[0].encrypted.sealed = Data(count: 72) },
        ]
        for (number, lie) in lies.enumerated() {
            let deceived = try deceived(ann, lie)
            #expect(
                await failure { _ = try await deceived.record(for: saved.recordID) } == .integrityFailure,
                "lie \(number)")
        }
        #expect(try await text("body", of: saved.recordID, in: deceived(ann) { _ in }) == "hers")
    }

    @Test func somebodyElsesSignatureMakesNoRecordOfMine() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let saved = try await ann.container.publicDatabase.save(note("hers"))
        let scope = try bob.container.core.publicScope(.default)
        var statement = try #require(saved.base?.statement)
        statement.salt = .zero
        let field = FieldDigest(name: "body", digest: try StoredField.plain(.string("forged")).digest(name: "body"))
        statement.fieldsDigest = try FieldSet.digest([field])
        // Everything as it should be, but by Bob's key under Ann's name.
        let bytes = statement.canonicalBytes()
        let signature = bob.container.core.identity().keys.signingKey.sign(
            StatementTree.signedBytes(root: Statement.hash(bytes), leafCount: 1))
        let proof = StatementProof(signature: signature, leafCount: 1, index: 0, path: [])
        let deceived = try deceived(ann) { answer in
            answer.results[0].record.statement = Data(bytes)
            answer.results[0].record.proof = proof.wire
            answer.results[0].record.fields[0].plain.string = "forged"
        }
        #expect(await failure { _ = try await deceived.record(for: saved.recordID) } == .integrityFailure)
        #expect(scope.owner == UserID(.zero))
    }

    @Test func nothingThatWasSeenGoesBackOrVanishes() async throws {
        let ann = try await Person()
        var record = try await ann.container.publicDatabase.save(note("first"))
        let before = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        _ = try await Container(ann.container.containerIdentifier, transport: before).publicDatabase.record(
            for: record.recordID)
        let old = try #require(before.records().first)
        record["body"] = "second"
        record = try await ann.container.publicDatabase.save(record)
        let trust = try TrustStore()
        #expect(try await text("body", of: record.recordID, in: world(ann, trust: trust)) == "second")
        let back = try deceived(ann, trust: trust) { $0.results[0].record = old }
        let last = record
        #expect(await failure { _ = try await back.record(for: last.recordID) } == .rollback)
        let gone = try deceived(ann, trust: trust) { answer in
            answer.results = [.with { $0.failure = Sealkit_V1_Failure(.unknownItem, "gone") }]
        }
        #expect(await failure { _ = try await gone.record(for: last.recordID) } == .rollback)
        // Who has not seen the newer one cannot know.
        #expect(
            try await text("body", of: record.recordID, in: deceived(ann) { $0.results[0].record = old }) == "first")
    }

    @Test func whatIsNotSealedIsNotTakenForPrivate() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        let hostile = RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
            guard path.hasSuffix("records/lookup") else { return body }
            var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
            answer.results[0].record.fields[0].publicAsset.root = Data(count: 32)
            return try answer.serializedData()
        }
        let deceived = try ann.through(hostile)
        #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .integrityFailure)
    }
}
