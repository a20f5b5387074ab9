package import Foundation
package import SealKit
package import SwiftProtobuf

/// One way in which a server, or whoever stands between, does harm: put into a device's network by
/// ``TestNetwork/inject(_:)``.
///
/// <doc:Faults> lists all of them: what each does, and what an app has to see.
public struct ServerFault: Sendable, CustomStringConvertible {
    /// Nil for a lie of a test's own.
    let kind: Kind?
    /// Before anything reaches the server: throws where it does not.
    let arriving: (@Sendable (_ path: String) async throws(SealKitError) -> Void)?
    /// Once the server has answered: changes what it said, or throws where nothing of it arrives.
    let answering: Answering?
    /// Which calls never reach the server: what answers them is for `answering` to say.
    let swallowing: (@Sendable (_ path: String) -> Bool)?
    let downloading: Downloading?
    /// How many bytes of a download arrive before it breaks off; nil for all.
    let breaking: (@Sendable (_ range: Range<UInt64>) -> Int?)?
    /// Who answers in the server's place.
    let elsewhere: (any Transport)?
    /// Whether no stream and no download that is open outlasts it.
    let endsConnections: Bool

    package typealias Answering =
        @Sendable (_ call: TestNetwork.Call, _ response: inout TransportResponse) async throws -> Void
    package typealias Downloading =
        @Sendable (_ path: String, _ range: Range<UInt64>, _ bytes: Data) throws -> Data

    package init(
        _ kind: Kind? = nil, answering: Answering? = nil,
        arriving: (@Sendable (_ path: String) async throws(SealKitError) -> Void)? = nil,
        swallowing: (@Sendable (_ path: String) -> Bool)? = nil, downloading: Downloading? = nil,
        breaking: (@Sendable (_ range: Range<UInt64>) -> Int?)? = nil,
        elsewhere: (any Transport)? = nil, endsConnections: Bool = false
    ) {
        (self.kind, self.arriving, self.answering) = (kind, arriving, answering)
        self.swallowing = swallowing
        (self.downloading, self.breaking, self.elsewhere) = (downloading, breaking, elsewhere)
        self.endsConnections = endsConnections
    }

    public var description: String { kind?.rawValue ?? "a lie of the test's own" }

    /// Changes every good answer to calls whose path ends so.
    package static func rewriting<Answer: Message>(
        _ kind: Kind? = nil, _ suffix: String, _ type: Answer.Type,
        _ change: @escaping @Sendable (TestNetwork.Call, inout Answer) async throws -> Void
    ) -> ServerFault {
        ServerFault(kind) { call, response in
            guard call.isTo(suffix), response.status < 400 else { return }
            try await response.rewrite(Answer.self) { answer in try await change(call, &answer) }
        }
    }

    /// Several lies that go together.
    static func all(_ kind: Kind, _ faults: [ServerFault]) -> ServerFault {
        ServerFault(kind) { call, response in
            for fault in faults { try await fault.answering?(call, &response) }
        }
    }
}

extension TransportResponse {
    /// Changes what the body says. One in which nothing changes stays as it came, byte for byte: nothing was told.
    mutating func rewrite<Answer: Message>(
        _ type: Answer.Type, _ change: (inout Answer) async throws -> Void
    ) async throws {
        let honest = try Answer(serializedBytes: body)
        var answer = honest
        try await change(&answer)
        if !answer.isEqualTo(message: honest) { body = try answer.serializedData() }
    }

    func isSame(as other: TransportResponse) -> Bool {
        (status, body, contentType, retryAfter, deviceRevision)
            == (other.status, other.body, other.contentType, other.retryAfter, other.deviceRevision)
    }

    /// What a server says in the place of its answer.
    static func saying(_ message: some Message, status: Int = 200) throws -> TransportResponse {
        TransportResponse(
            status: status, body: try message.serializedData(), contentType: HTTPTransport.contentType)
    }
}
