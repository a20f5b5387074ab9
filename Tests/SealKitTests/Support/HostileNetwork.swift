import Foundation
import SealCoding
import SealKitTesting
import SealLab
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealKit

/// A server in an attacker's hands: the network that apps' tests have, in front of a server process. Beside the lies
/// of its catalogue (`ServerFault`) a test tells its own.
typealias HostileNetwork = TestNetwork

extension HostileNetwork {
    typealias Lie =
        @Sendable (_ path: String, _ request: Data, _ response: inout TransportResponse) async throws -> Void

    convenience init(_ server: ServerProcess) throws { self.init(try HTTPTransport(server: server.origin)) }

    // MARK: What the attacker does

    /// From now on.
    func lie(_ lie: @escaping Lie) {
        inject(ServerFault { call, response in try await lie(call.path, call.body, &response) })
    }

    /// Changes every answer to calls whose path ends so.
    func rewrite<Answer: Message>(
        _ suffix: String, _ type: Answer.Type, _ change: @escaping @Sendable (inout Answer) throws -> Void
    ) {
        inject(.rewriting(nil, suffix, type) { _, answer in try change(&answer) })
    }

    /// Look-ups and feeds answer with these records.
    func show(_ records: [Sealkit_V1_Record]) {
        rewrite("records/lookup", Sealkit_V1_LookupRecordsResponse.self) { answer in
            answer.results = records.map { record in .with { $0.record = record } }
        }
        rewrite("records/changes", Sealkit_V1_RecordChangesResponse.self) { $0.records = records }
    }

    /// Calls whose path ends so never reach the server: lies answer them.
    func swallow(_ suffix: String) { inject(ServerFault(swallowing: { $0.hasSuffix(suffix) })) }

    /// Changes whatever is downloaded of assets.
    func rewriteBlobs(_ lie: @escaping ServerFault.Downloading) { inject(ServerFault(downloading: lie)) }

    /// The next upload arrives as a whole, and its answer is lost; `then` runs before anything else is sent.
    func loseNextUpload(then: @escaping @Sendable () -> Void) {
        let next = Countdown(1)
        inject(
            ServerFault { call, _ in
                guard call.isUpload, next.isLeft() else { return }
                then()
                throw SealKitError(.serverResponseLost, "the hostile network lost the answer")
            })
    }

    /// The next download that starts there breaks off.
    /// - Returns: how many did.
    func breakDownloads(startingAt start: UInt64, after count: Int) -> LockedValue<Int> {
        let (next, broken) = (Countdown(1), LockedValue(0))
        inject(
            ServerFault(breaking: { range in
                guard range.lowerBound == start, next.isLeft() else { return nil }
                broken.change { $0 += 1 }
                return count
            }))
        return broken
    }

    // MARK: What the attacker heard

    /// Requests, answers, headers and uploads, one after the other.
    var everything: Data {
        var all = Data()
        for exchange in exchanges {
            all += Data("\(exchange.path)\n\(exchange.token ?? "")\n".utf8) + exchange.request + exchange.response
        }
        for upload in uploads { all += Data(upload.path.utf8) + upload.bytes }
        return all
    }

    /// Every record that came in look-ups, as it is stored.
    var records: [Sealkit_V1_Record] {
        var found: [Sealkit_V1_Record] = []
        for exchange in exchanges where exchange.path.hasSuffix("records/lookup") {
            guard let answer = try? Sealkit_V1_LookupRecordsResponse(serializedBytes: exchange.response) else {
                continue
            }
            found += answer.results.map { $0.hasServerRecord ? $0.serverRecord : $0.record }.filter {
                !$0.statement.isEmpty
            }
        }
        return found
    }
}

extension Person {
    /// The same device behind a network that an attacker controls.
    func behindAttacker() throws -> (person: Person, network: HostileNetwork) {
        let network = try HostileNetwork(server)
        return (try through(network), network)
    }

    /// The same person on a device that has seen nothing yet, behind such a network.
    func freshBehindAttacker() throws -> (person: Person, network: HostileNetwork) {
        let network = try HostileNetwork(server)
        return (try onFreshDevice(transport: network), network)
    }
}

extension Data {
    /// Whether these bytes come anywhere, as they are or as text that stands for them.
    func shows(_ secret: [UInt8]) -> Bool {
        let raw = Data(secret)
        let base64 = raw.base64EncodedString().replacing("=", with: "")
        let texts = [
            raw.map { String(format: "%02x", $0) }.joined(), raw.map { String(format: "%02X", $0) }.joined(), base64,
            base64.replacing("+", with: "-").replacing("/", with: "_"),
        ]
        return range(of: raw) != nil || texts.contains { range(of: Data($0.utf8)) != nil }
    }
}

extension HostileNetwork {
    /// Rosters that are asked for get these entries after their real ones.
    func serve(_ entries: [SignedRosterEntry]) {
        rewrite("rosters/fetch", Sealkit_V1_FetchRostersResponse.self) { answer in
            guard !answer.rosters.isEmpty, !answer.rosters[0].hasFailure else { return }
            answer.rosters[0].entries += entries.map(\.wire)
        }
    }
}
