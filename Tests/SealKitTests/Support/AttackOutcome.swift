import Foundation
import SealKit
import SealPrimitives
import Synchronization
import Testing

/// What became of an attack, for the table that `make attacks` prints: noted while its test runs, so that the table
/// says what happened and not what somebody once wrote down.
enum AttackOutcome {
    private static let file = Mutex<FileHandle?>(
        ProcessInfo.processInfo.environment["SEALKIT_ATTACK_OUTCOMES"].flatMap { FileHandle(forWritingAtPath: $0) })

    /// Nothing was there to refuse: what the attacker got is worth nothing.
    static func held(_ what: String) { note(what, kind: "held") }

    fileprivate static func note(_ text: String, kind: String = "refused") {
        guard let test = Test.current?.name.prefix(while: { $0 != "(" }) else { return }
        file.withLock { file in
            guard let file else { return }
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: Data("\(test)\t\(kind)\t\(text)\n".utf8))
        }
    }
}

/// Expects that the SDK refuses, with this code and, where one is named, because of this check of the core.
@discardableResult
func expectRefused(
    _ code: SealKitError.Code, by check: SealError? = nil, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> SealKitError? {
    do {
        try await body()
        Issue.record(comment ?? "the attack succeeded", sourceLocation: sourceLocation)
        return nil
    } catch let error as SealKitError {
        expectRefused(error, code, by: check, comment, sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, comment, sourceLocation: sourceLocation)
        return nil
    }
}

/// The same of an error that is at hand: one record's among others.
func expectRefused(
    _ error: SealKitError?, _ code: SealKitError.Code, by check: SealError? = nil, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard let error else {
        Issue.record(comment ?? "the attack succeeded", sourceLocation: sourceLocation)
        return
    }
    #expect(error.code == code, comment, sourceLocation: sourceLocation)
    if let check { #expect(error.reason.contains("(\(check))"), "\(error)", sourceLocation: sourceLocation) }
    AttackOutcome.note("\(error.code)" + (check.map { " (\($0))" } ?? ""))
}

/// Expects that the core refuses for exactly this reason.
func expectRefused(
    _ check: SealError, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record(comment ?? "the attack succeeded", sourceLocation: sourceLocation)
    } catch let error as SealError {
        #expect(error == check, comment, sourceLocation: sourceLocation)
        AttackOutcome.note("\(error)")
    } catch {
        Issue.record(error, comment, sourceLocation: sourceLocation)
    }
}

extension Result where Failure == SealKitError {
    var error: SealKitError? { if case .failure(let error) = self { error } else { nil } }
}
