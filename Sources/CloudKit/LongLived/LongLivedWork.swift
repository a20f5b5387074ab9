import Foundation
import SealKit

/// What an operation has in the journal, once it outlasts its process.
protocol LongLivedWork: Sendable {
    func end() async throws(SealKitError)
}

extension SealKit.LongLivedModification: LongLivedWork {}
extension SealKit.LongLivedFetch: LongLivedWork {}

extension LongLivedWork {
    /// The app was told how the operation has ended.
    /// - Parameter failure: of the operation as a whole.
    func wasTold(_ failure: CKError?) async {
        guard failure?.leavesOperationBegun != true else { return }
        // In a task of its own: that of a cancelled operation can write nothing. What cannot be removed is told once
        // more after a restart.
        await Task { _ = try? await self.end() }.value
    }
}

extension LongLivedWork {
    /// The app wants no end of it. What cannot be removed is listed again after a restart.
    func giveUp() { Task { _ = try? await self.end() } }
}

extension CKError {
    /// There is something left to do for a long-lived operation that has failed with this: nobody has cancelled it, and
    /// a later attempt may go well.
    fileprivate var leavesOperationBegun: Bool {
        switch code {
        case .operationCancelled: false
        // One that is under way in another object is not this one's to end.
        case .constraintViolation: true
        default: (userInfo[NSUnderlyingErrorKey] as? SealKitError)?.isNoOutcome ?? false
        }
    }
}

extension CKOperation {
    /// The operation's ID as the journal has it.
    var journalID: String { operationID.replacingOccurrences(of: "-", with: "").lowercased() }

    /// Has the journal take the operation: nothing is asked for or sent before the app was told.
    /// - Parameter failure: why there is no journal, where there should be one.
    func keep<Work: LongLivedWork>(
        unless failure: SealKitError?, _ begin: () async throws(SealKitError) -> Work
    ) async throws(SealKitError) -> Work {
        if let failure { throw failure }
        let begun = try await begin()
        tell { self.longLivedOperationWasPersistedBlock() }
        await toldAll()
        return begun
    }
}
