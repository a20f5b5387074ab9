import Foundation
import Testing

@testable import SealKit
@testable import sealkit

/// `sealkit telemetry --of keys`, in its three forms.
@Suite(.timeLimit(.minutes(60))) struct KeysTextTests {
    private static let keys = ServerOperator.Telemetry.Keys(
        container: "org.example.notes", environment: "production", scopes: 12, due: 1,
        dueSince: Date(timeIntervalSince1970: 1_700_000_000), outdated: 3, behind: 2, unread: 1)

    @Test func eachFormSaysAll() {
        let line = KeysText.line(Self.keys)
        for word in [
            "org.example.notes production", "12 zones and shares", "1 new key due", "2023-11-14",
            "3 with an older key in use, by 2 keys at most", "1 too long to be read",
        ] { #expect(line.contains(word), "\(line)") }
        let csv = KeysText.csv([Self.keys])
        #expect(csv[0] == "container,environment,scopes,due,dueSince,outdated,behind,unread")
        #expect(csv[1].hasPrefix("org.example.notes,production,12,1,2023-11-14T22:13:20") && csv[1].hasSuffix(",3,2,1"))
        let json = KeysText.json(Self.keys)
        #expect(Set(json.keys) == Set(csv[0].split(separator: ",").map(String.init)))
    }
}
