import NIOCore

/// The parts of a request's body as long as its session is in force: what is sent after its end is not taken.
///
/// The database is asked only when a session, of whichever account, has ended since it was asked last.
struct SessionBody<Body: AsyncSequence>: AsyncSequence where Body.Element == ByteBuffer {
    let body: Body
    let session: Session
    let services: Services

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: Body.AsyncIterator
        /// Its generation is that of when it was last known to be in force.
        var session: Session
        let services: Services

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else { return nil }
            let (sessions, now) = (services.sessions, services.clock())
            if !sessions.isUnchanged(session, now: now) {
                let generation = sessions.generation
                try await services.database.read { [session] in try Sessions.check(session, now: now, in: $0) }
                session.generation = generation
            }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: body.makeAsyncIterator(), session: session, services: services)
    }
}
