import Foundation
import Testing

@testable import SealKit

/// Errors are equal by code, and are caught by it.
@Suite(.timeLimit(.minutes(60))) struct ErrorMatchingTests {
    @Test func errorsAreEqualByCode() {
        let one = SealKitError(.zoneNotFound, "one")
        #expect(one == SealKitError(.zoneNotFound, "another", remedy: "something", retryAfter: 3))
        #expect(one != SealKitError(.unknownItem, "one"))
        let results: [Result<Int, SealKitError>] = [.failure(one), .success(1)]
        #expect(results == [.failure(SealKitError(.zoneNotFound, "")), .success(1)])
    }

    @Test func aCodeIsAPatternForErrors() {
        func name(_ error: any Error) -> String {
            switch error {
            case SealKitError.Code.zoneNotFound: "zone"
            case SealKitError.Code.unknownItem: "item"
            default: "other"
            }
        }
        #expect(name(SealKitError(.zoneNotFound, "")) == "zone")
        #expect(name(SealKitError(.unknownItem, "")) == "item")
        #expect(name(SealKitError(.internalError, "")) == "other")
        #expect(name(CancellationError()) == "other")
    }
}
