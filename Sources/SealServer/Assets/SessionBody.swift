import Hummingbird
import NIOCore
import SealService
import SealStorage

/// The parts of an upload's body as long as its session is in force, and while it comes at a pace: what is sent after
/// the session's end is not taken.
///
/// The database is asked only when a session, of whichever account, has ended since it was asked last.
struct SessionBody: AsyncSequence {
    typealias Element = ByteBuffer

    let body: RequestBody
    let session: Session
    let transactions: Transactions
    let transfers: Transfers
    let context: SealRequestContext
    let pace: TransferPace
    /// As much of it as is in memory at once, in bytes: what came earlier is on disk by then.
    let mostHeld: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: RequestBody.AsyncIterator
        /// Its generation is that of when it was last known to be in force.
        var session: Session
        let transactions: Transactions
        let pass: LoadGate.Pass?
        let note: RequestNote
        var room: Int
        let transfer: OpenTransfer

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else {
                try transfer.transfer.requireUncut()
                return nil
            }
            try transfer.transfer.took(part.readableBytes)
            note.took(part.readableBytes)
            let held = Swift.min(room, part.readableBytes)
            try pass?.take(held)
            room -= held
            session = try await transactions.recheck(session)
            return part
        }
    }

    /// Ends with the last iterator that has it.
    final class OpenTransfer: Sendable {
        let transfer: Transfer
        init(_ transfer: Transfer) { self.transfer = transfer }
        deinit { transfer.end() }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            parts: body.makeAsyncIterator(), session: session, transactions: transactions, pass: context.pass,
            note: context.note, room: mostHeld,
            transfer: OpenTransfer(transfers.begin(pace, on: context.channel)))
    }
}
