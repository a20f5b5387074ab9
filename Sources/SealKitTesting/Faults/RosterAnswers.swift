import Foundation
import SealCoding
import SealKit
import SealStatements
import SealWire
import SwiftProtobuf

/// What a server knows of rosters, asked for in the name of whoever asks it for something else.
enum RosterAnswers {
    /// A zone's log, from its beginning.
    static func log(of zone: RecordZone.ID, _ call: TestNetwork.Call) async throws -> [SignedRosterEntry] {
        let base = call.path.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        let request = Sealkit_V1_FetchRostersRequest.with {
            $0.rosters = [
                .with {
                    $0.zone = zone.onWire
                    $0.fromStart = true
                }
            ]
        }
        let response = try await call.server.post(
            base + "/rosters/fetch", body: try request.serializedData(), token: call.token)
        guard response.status < 400 else { throw response.failure }
        let answer = try Sealkit_V1_FetchRostersResponse(serializedBytes: response.body)
        return (answer.rosters.first?.entries ?? []).map(SignedRosterEntry.init)
    }

    static func roster(of zone: RecordZone.ID, _ call: TestNetwork.Call) async throws -> Roster {
        let (container, environment) = try place(of: call)
        let log = try await log(of: zone, call)
        guard let first = log.first else { throw RecordAnswers.NothingToShow() }
        // Whoever opens a zone owns it.
        let owner = try RosterEntry(canonicalBytes: first.bytes, container: container).author
        let scope = Scope(container: container, environment: environment, owner: owner, zoneName: zone.zoneName)
        guard let roster = try Roster(replaying: log, scope: scope) else { throw RecordAnswers.NothingToShow() }
        return roster
    }

    /// Container and environment: `/database/1/{container}/{environment}/…`.
    private static func place(of call: TestNetwork.Call) throws -> (String, SealStatements.Environment) {
        let parts = call.path.split(separator: "/").map(String.init)
        guard parts.count > 3, let environment = SealStatements.Environment(name: parts[3]) else {
            throw RecordAnswers.NothingToShow()
        }
        return (parts[2], environment)
    }
}
