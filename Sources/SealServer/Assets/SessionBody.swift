import NIOCore

/// The parts of a request's body as long as its session is in force: what is sent after its end is not taken.
///
/// The database is asked at the first part, since the session may have ended after it was looked up, and then only when a
/// session, of whichever account, has ended since the part before.
struct SessionBody<Body: AsyncSequence>: AsyncSequence where Body.Element == ByteBuffer {
    let body: Body
    let session: Session
    let services: Services

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: Body.AsyncIterator
        let session: Session
        let services: Services
        /// As of the part before; nil at the first.
        var generation: UInt64?

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else { return nil }
            let current = services.sessions.generation
            if current != generation {
                let (session, now) = (session, services.clock())
                try await services.database.read { try Sessions.check(session, now: now, in: $0) }
                generation = current
            }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: body.makeAsyncIterator(), session: session, services: services)
    }
}
