import Foundation
import SealKit
import SealVectorChecks
import Testing

@testable import SealVectors

/// The browser's module and this library have an X-Wing each. Its check opens what this one sealed (`grants.json`), and
/// this what it sealed: `Tests/Embedded/module.mjs` records it, and shows at each run that the module seals it still.
@Suite(.timeLimit(.minutes(60))) struct SealedInBrowserTests {
    private func recorded() throws -> (fields: Fields, shared: Fields) {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Embedded/sealed.json")
        let json = try #require(try JSONDecoder().decode(JSON.self, from: Data(contentsOf: file)).fields)
        return (try json.object("fields"), try json.object("shared"))
    }

    @Test func `A grant that the browser's module sealed opens`() throws {
        let (fields, shared) = try recorded()
        try VectorConstruction.grants.check(fields, shared: shared, type: "MemberGrant", using: XWingHPKE.self)
    }

    @Test func `One that was altered since does not`() throws {
        var (fields, shared) = try recorded()
        let sealed = try fields.string("sealed")
        fields.values["sealed"] = .string(String(sealed.dropLast()) + (sealed.last == "0" ? "1" : "0"))
        #expect(throws: VectorError.self) {
            try VectorConstruction.grants.check(fields, shared: shared, type: "MemberGrant", using: XWingHPKE.self)
        }
    }
}
