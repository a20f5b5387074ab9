import Foundation
import SealPrimitives
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The mailboxes by which one device enrols another: the server passes on, once each, and keeps nothing.
@Suite(.timeLimit(.minutes(60))) struct ServerEnrolmentTests {
    private let commitment = randomBytes(32)
    private let answer = randomBytes(32)
    private let key = randomBytes(1_216)
    private let nonce = randomBytes(32)
    private let sealed = randomBytes(5_000)

    @Test func messagesGoThroughInTheirOrder() async throws {
        try await RunningServer.with { server in
            let new = try TestClient(server)
            let old = try await TestClient.ready(server)
            let id = ID16.random()
            let opened = try await new.openEnrolment(id, commitment: commitment)
            #expect(opened.ticket.count == 32)
            #expect(opened.expires == server.clock.now + 600_000_000)
            #expect(try await new.enrolmentState(id, ticket: opened.ticket) == Sealkit_V1_EnrolmentStateResponse())
            // Nothing is revealed before the answer, nothing delivered before the reveal, nothing answered before the
            // claim.
            try await expectRefusal(.serverRejectedRequest) {
                try await new.revealEnrolment(id, ticket: opened.ticket, key: key, nonce: nonce)
            }
            try await expectRefusal(.unknownItem) { try await old.answerEnrolment(id, answer) }
            let claimed = try await old.claimEnrolment(id)
            #expect([UInt8](claimed.commitment) == commitment)
            #expect(claimed.expires == opened.expires)
            try await expectRefusal(.serverRejectedRequest) { try await old.deliverEnrolment(id, sealed) }
            // Each message twice: an answer that was lost costs nothing.
            for _ in 0..<2 { try await old.answerEnrolment(id, answer) }
            let answered = try await new.enrolmentState(id, ticket: opened.ticket)
            #expect([UInt8](answered.answer) == answer)
            #expect([UInt8](answered.loginKey) == old.loginKey.verificationKey.bytes)
            for _ in 0..<2 { try await new.revealEnrolment(id, ticket: opened.ticket, key: key, nonce: nonce) }
            let revealed = try await old.enrolmentState(id)
            #expect([UInt8](revealed.grantKey) == key)
            #expect([UInt8](revealed.nonce) == nonce)
            for _ in 0..<2 { try await old.deliverEnrolment(id, sealed) }
            #expect(try await [UInt8](new.enrolmentState(id, ticket: opened.ticket).sealed) == sealed)
            // Another message of the same kind takes no other's place.
            try await expectRefusal(.constraintViolation) { try await old.answerEnrolment(id, randomBytes(32)) }
            try await expectRefusal(.constraintViolation) {
                try await new.revealEnrolment(id, ticket: opened.ticket, key: key, nonce: randomBytes(32))
            }
            try await expectRefusal(.constraintViolation) { try await old.deliverEnrolment(id, randomBytes(10)) }
            try await new.endEnrolment(id, ticket: opened.ticket)
            try await expectRefusal(.unknownItem) { try await new.enrolmentState(id, ticket: opened.ticket) }
            try await expectRefusal(.unknownItem) { try await old.claimEnrolment(id) }
            try await new.endEnrolment(id, ticket: opened.ticket)
            let left = try await server.services.database.read { try $0.exists("SELECT 1 FROM enrolment") }
            #expect(!left)
        }
    }

    @Test func strangersSeeAndChangeNothing() async throws {
        try await RunningServer.with { server in
            let new = try TestClient(server)
            let old = try await TestClient.ready(server)
            let stranger = try await TestClient.ready(server)
            let id = ID16.random()
            let ticket = try await new.openEnrolment(id, commitment: commitment).ticket
            try await expectRefusal(.constraintViolation, "the same id") { try await stranger.openEnrolment(id) }
            _ = try await old.claimEnrolment(id)
            _ = try await old.claimEnrolment(id)
            try await expectRefusal(.constraintViolation) { try await stranger.claimEnrolment(id) }
            try await old.answerEnrolment(id, answer)
            try await expectRefusal(.unknownItem) { try await stranger.answerEnrolment(id, answer) }
            let wrong = Data(randomBytes(32))
            try await expectRefusal(.unknownItem) {
                try await stranger.revealEnrolment(id, ticket: wrong, key: key, nonce: nonce)
            }
            try await new.revealEnrolment(id, ticket: ticket, key: key, nonce: nonce)
            try await expectRefusal(.unknownItem) { try await stranger.deliverEnrolment(id, sealed) }
            try await expectRefusal(.unknownItem) { try await stranger.enrolmentState(id) }
            try await expectRefusal(.unknownItem) { try await new.enrolmentState(id, ticket: wrong) }
            try await expectRefusal(.notAuthenticated, "neither ticket nor session") {
                try await new.enrolmentState(id)
            }
            try await stranger.endEnrolment(id)
            try await stranger.endEnrolment(id, ticket: wrong)
            try await old.deliverEnrolment(id, sealed)
            #expect(try await [UInt8](new.enrolmentState(id, ticket: ticket).sealed) == sealed)
            try await old.endEnrolment(id)
            try await expectRefusal(.unknownItem) { try await new.enrolmentState(id, ticket: ticket) }
        }
    }

    @Test func anEnrolmentIsOverAfterTenMinutesWhateverStepItIsAt() async throws {
        try await RunningServer.with { server in
            let new = try TestClient(server)
            let old = try await TestClient.ready(server)
            var all: [(id: ID16, ticket: Data)] = []
            for step in 0..<4 {
                let id = ID16.random()
                let ticket = try await new.openEnrolment(id, commitment: commitment).ticket
                if step > 0 { _ = try await old.claimEnrolment(id) }
                if step > 1 { try await old.answerEnrolment(id, answer) }
                if step > 2 { try await new.revealEnrolment(id, ticket: ticket, key: key, nonce: nonce) }
                all.append((id, ticket))
            }
            server.clock.advance(seconds: 600)
            for (id, ticket) in all {
                try await expectRefusal(.unknownItem) { try await new.enrolmentState(id, ticket: ticket) }
                try await expectRefusal(.unknownItem) { try await old.claimEnrolment(id) }
                try await expectRefusal(.unknownItem) { try await old.answerEnrolment(id, answer) }
                try await expectRefusal(.unknownItem) {
                    try await new.revealEnrolment(id, ticket: ticket, key: key, nonce: nonce)
                }
                try await expectRefusal(.unknownItem) { try await old.deliverEnrolment(id, sealed) }
            }
            // The next one to open sweeps them away.
            let last = ID16.random()
            _ = try await new.openEnrolment(last)
            let left = try await server.services.database.read { connection in
                try connection.rows("SELECT id FROM enrolment") { try $0.bytes("id") }
            }
            #expect(left == [last.bytes])
        }
    }

    @Test func twoAtOnceKeepApart() async throws {
        try await RunningServer.with { server in
            let old = try await TestClient.ready(server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        let new = try TestClient(server)
                        let id = ID16.random()
                        let (answer, nonce, sealed) = (randomBytes(32), randomBytes(32), randomBytes(100 + index))
                        let ticket = try await new.openEnrolment(id).ticket
                        _ = try await old.claimEnrolment(id)
                        try await old.answerEnrolment(id, answer)
                        let state = try await new.enrolmentState(id, ticket: ticket)
                        #expect([UInt8](state.answer) == answer)
                        try await new.revealEnrolment(id, ticket: ticket, key: randomBytes(1_216), nonce: nonce)
                        #expect(try await [UInt8](old.enrolmentState(id).nonce) == nonce)
                        try await old.deliverEnrolment(id, sealed)
                        #expect(try await [UInt8](new.enrolmentState(id, ticket: ticket).sealed) == sealed)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
