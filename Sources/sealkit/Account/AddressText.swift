import ArgumentParser
import Foundation
import SealKit
import SealPrimitives

/// One of the account's addresses, as it is spelled or by the id that `list` shows.
struct AddressArgument: ParsableArguments {
    @Argument(help: "The address, or the id that `sealkit account address list` shows.")
    var address: String

    /// 32 hexadecimal digits, which no address is.
    var id: Data? { (try? Hex.decode(address)).flatMap { $0.count == 16 ? Data($0) : nil } }
}

extension LinkedAddress {
    var idText: String { Hex.encode([UInt8](id)) }

    private var kindText: String {
        switch kind {
        case .emailAddress: "e-mail"
        case .phoneNumber: "phone"
        case .unknown: "unknown"
        }
    }

    var line: String {
        "\(idText)  \(kindText)  linked \(Timestamp.shown(linked))  \(isDiscoverable ? "discoverable" : "not discoverable")"
    }

    var json: JSONValue {
        .object([
            "id": .string(idText), "kind": .string(kindText), "linked": .string(Timestamp.text(linked)),
            "discoverable": .bool(isDiscoverable),
        ])
    }
}
