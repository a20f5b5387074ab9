import Foundation
import SealPrimitives
import SealWire
import Testing

@testable import SealServer

/// Of logins, recovery, new keys, deletion and devices.
extension RefusalTableTests {
    static let accounts: [Content] = {
        var all: [Content] = []
        all += [0, 1, 31, 33, 100_000].map {
            Content("/1/accounts/challenge", "{\"loginKey\":\(bytes($0))}", .invalidArguments)
        }
        all += [long, #"a\u0000"#, #"a\r\nb"#, #"\u007f"#].flatMap { name in
            ["/1/accounts/login", "/1/accounts/create"].map {
                Content(
                    $0,
                    "{\"loginKey\":\"\(Data(goodKey).base64EncodedString())\",\"deviceId\":\(id),\"deviceName\":\"\(name)\"}",
                    .invalidArguments)
            }
        }
        all += ["-9223372036854775808", "9223372036854775807", "0"].map {
            Content(
                "/1/accounts/login",
                "{\"loginKey\":\"\(Data(goodKey).base64EncodedString())\",\"deviceId\":\(id),\"challenge\":\(bytes(64)),\"time\":\"\($0)\"}",
                .notAuthenticated)
        }
        all += [0, 15, 17, 1_000_000].flatMap { count in
            ["/1/accounts/login", "/1/accounts/create"].map {
                Content(
                    $0, "{\"loginKey\":\"\(Data(goodKey).base64EncodedString())\",\"deviceId\":\(bytes(count))}",
                    .invalidArguments)
            }
        }
        all += [0, 31, 33, 100_000].map {
            Content("/1/accounts/delete", "{\"loginKey\":\(bytes($0))}", .invalidArguments)
        }
        all += ["-9223372036854775808", "9223372036854775807", "0"].map {
            Content(
                "/1/accounts/delete",
                "{\"loginKey\":\"\(Data(goodKey).base64EncodedString())\",\"challenge\":\(bytes(64)),\"time\":\"\($0)\"}",
                .notAuthenticated)
        }
        all += [0, 15, 17, 1_000_000].flatMap { count -> [Content] in
            ["/1/accounts/recover", "/1/accounts/recovery"].map {
                Content($0, "{\"recoveryId\":\(bytes(count))}", .invalidArguments)
            }
        }
        all += [0, 16_385].map {
            Content("/1/accounts/recovery", "{\"recoveryId\":\(id),\"sealed\":\(bytes($0))}", .invalidArguments)
        }
        all += ["4", "255", "4294967295"].map {
            Content("/1/accounts/recovery/delete", "{\"kind\":\($0)}", .invalidArguments)
        }
        let login = "\"login\":{\"loginKey\":\"\(Data(goodKey).base64EncodedString())\",\"deviceId\":\(id)}"
        all += [0, 31, 33, 100_000].flatMap { count -> [Content] in
            [
                Content("/1/accounts/rotate", "{\(login),\"formerLoginKey\":\(bytes(count))}", .invalidArguments),
                Content("/1/accounts/rotate", "{\"login\":{\"loginKey\":\(bytes(count))}}", .invalidArguments),
            ]
        }
        let former = "\"formerLoginKey\":\"\(Data(goodKey).base64EncodedString())\""
        all += [0, 1, 64, 65].map {
            Content("/1/accounts/rotate", "{\(login),\(former),\"formerSignature\":\(bytes($0))}", .notAuthenticated)
        }
        all += [2, 4, 1_000].map { count in
            let bundles = many(count) { _ in "{\"recoveryId\":\(id),\"sealed\":\(bytes(8))}" }
            return Content("/1/accounts/rotate", "{\(login),\(former),\"recovery\":\(bundles)}", .invalidArguments)
        }
        all += ["", "a b", "a/b", long, #"a\u0000b"#, "ü"].map {
            Content("/1/accounts/identity", "{\"container\":\"\($0)\"}", .badContainer)
        }
        all += [
            Content(
                "/1/accounts/identity",
                "{\"container\":\"a\",\"chain\":{\"identities\":\(many(1) { _ in "{\"statement\":\(bytes(5_000))}" })}}",
                .invalidArguments),
            Content(
                "/1/accounts/identity", "{\"container\":\"a\",\"chain\":{\"identities\":\(many(2_500) { _ in "{}" })}}",
                .invalidArguments),
        ]
        return all
    }()

    static let devices: [Content] = {
        var all: [Content] = []
        for count in [0, 15, 17, 1_000_000] {
            all += ["name", "revoke"].map { Content("/1/devices/\($0)", "{\"id\":\(bytes(count))}", .invalidArguments) }
            all += ["open", "claim", "answer", "reveal", "deliver", "state", "end"].map {
                Content("/1/devices/enrol/\($0)", "{\"enrolmentId\":\(bytes(count))}", .invalidArguments)
            }
            all.append(
                Content(
                    "/1/devices/enrol/open", "{\"enrolmentId\":\(id),\"commitment\":\(bytes(count))}", .invalidArguments
                ))
            all.append(
                Content(
                    "/1/devices/enrol/answer", "{\"enrolmentId\":\(id),\"answer\":\(bytes(count))}", .invalidArguments))
            all.append(
                Content(
                    "/1/devices/enrol/reveal",
                    "{\"enrolmentId\":\(id),\"ticket\":\(bytes(32)),\"grantKey\":\(bytes(count))}",
                    .invalidArguments))
        }
        for name in [long, #"a\u0000b"#, #"a\nb"#, #"\u007f"#] {
            all.append(Content("/1/devices/name", "{\"id\":\(id),\"name\":\"\(name)\"}", .invalidArguments))
        }
        all += [
            Content("/1/devices/name", "{\"id\":\(id),\"name\":\"a\",\"signature\":\(bytes(64))}", .notAuthenticated),
            Content("/1/devices/revoke", "{\"id\":\(id)}", .unknownItem),
            Content(
                "/1/devices/enrol/answer", "{\"enrolmentId\":\(id),\"answer\":\(bytes(32)),\"loginKey\":\(bytes(31))}",
                .invalidArguments),
            Content("/1/devices/enrol/deliver", "{\"enrolmentId\":\(id)}", .invalidArguments),
            Content("/1/devices/enrol/deliver", "{\"enrolmentId\":\(id),\"sealed\":\(bytes(1))}", .unknownItem),
            Content("/1/devices/enrol/claim", "{\"enrolmentId\":\(id)}", .unknownItem),
            Content("/1/devices/enrol/state", "{\"enrolmentId\":\(id),\"ticket\":\(bytes(31))}", .invalidArguments),
            Content("/1/devices/enrol/state", "{\"enrolmentId\":\(id),\"ticket\":\(bytes(32))}", .unknownItem),
        ]
        return all
    }()

    /// An Ed25519 key that is one.
    static let goodKey: [UInt8] = (try? TestClient.newKey().verificationKey.bytes) ?? []
}
