import Foundation
import SealKit
import SealLab

/// What the crash torture plays on: servers, what they keep, and what of it is struck.
protocol Ground: AnyObject, Sendable {
    /// To whichever server is there, as clients have it.
    func transport() throws -> any Transport
    /// For looking at what is there once all have risen: the answer may need a second try where a database was away.
    func patientTransport() throws -> any Transport
    /// Has the secrets of the servers, in `data.secrets`, and room for the torture's own files.
    var folder: URL { get }

    /// Strikes while clients are at work, and has the journal say when they are to stop.
    /// - Parameter isLast: no other blow follows.
    func strike(_ journal: Journal, isLast: Bool, _ random: inout SeededRandom) async throws
    /// Everything runs again, and nothing that was under way when it was struck goes on any more.
    func rise(_ random: inout SeededRandom) async throws
    /// Whether all that is kept is sound and belongs to something; while servers run, and nobody writes.
    func inspect() async throws
    /// Ends all of it and removes what it has kept.
    func remove() async
    /// How often it was struck, and how.
    var blows: String { get }
    /// What `inspect` has looked at.
    var soundness: String { get }
}

extension Ground {
    /// Removes it after that, whatever came of it.
    func used<T>(_ play: () async throws -> T) async throws -> T {
        let result: Result<T, any Error>
        do { result = .success(try await play()) } catch { result = .failure(error) }
        await remove()
        return try result.get()
    }
}
