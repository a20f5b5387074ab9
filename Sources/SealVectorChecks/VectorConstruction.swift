package import SealEnvelope
import SealPrimitives

/// A construction of the protocol whose bytes are pinned, by the name of its file.
package enum VectorConstruction: String, CaseIterable, Sendable {
    case pae, values, padding, fields, identity
    case safetyNumber = "safety-number"
    case roster, epochs, grants, statements
    case statementTree = "statement-tree"
    case moves, placement, deletions, records, assets
    case publicDatabase = "public"
    case links, acceptance, recovery, boxes, login, paseto, enrolment
    case clientJudge = "client-judge"
    case clientAccept = "client-accept"
    case clientWrite = "client-write"

    /// Does from the inputs what an implementation does, and holds every output against what comes out.
    /// - Throws: `refused` or `disbelieved` for what the protocol refuses, which is what an invalid test expects;
    ///   anything else is a miss.
    package func check<H: HybridEncryption>(
        _ test: Fields, shared: Fields, type: String, using hybrid: H.Type
    ) throws(VectorError) {
        switch self {
        case .pae: try PAEVectors.check(test, type: type)
        case .values: try ValueVectors.check(test)
        case .padding: try PaddingVectors.check(test, type: type)
        case .fields: try FieldVectors.check(test, type: type)
        case .identity: try IdentityVectors.check(test, type: type, using: H.self)
        case .safetyNumber: try SafetyNumberVectors.check(test)
        case .roster: try RosterVectors.check(test, shared: shared, type: type)
        case .epochs: try EpochVectors.check(test, shared: shared, type: type)
        case .grants: try GrantVectors.check(test, shared: shared, type: type, using: H.self)
        case .statements: try StatementVectors.check(test, shared: shared, type: type)
        case .statementTree: try TreeVectors.check(test, shared: shared)
        case .moves: try MoveVectors.check(test, shared: shared, type: type)
        case .placement: try PlacementVectors.check(test, shared: shared, type: type)
        case .deletions: try DeletionVectors.check(test, shared: shared, type: type)
        case .records: try RecordVectors.check(test, shared: shared, type: type)
        case .assets: try AssetVectors.check(test, type: type)
        case .publicDatabase: try PublicVectors.check(test, type: type)
        case .links: try LinkVectors.check(test, shared: shared, type: type, using: H.self)
        case .acceptance: try AcceptanceVectors.check(test)
        case .recovery: try RecoveryVectors.check(test, type: type)
        case .boxes: try BoxVectors.check(test, type: type)
        case .login: try LoginVectors.check(test, type: type)
        case .paseto: try PasetoVectors.check(test, type: type)
        case .enrolment: try EnrolmentVectors.check(test, type: type, using: H.self)
        case .clientJudge: try ClientJudgeVectors.check(test, shared: shared, type: type, using: H.self)
        case .clientAccept: try ClientAcceptVectors.check(test, shared: shared, type: type, using: H.self)
        case .clientWrite: try ClientWriteVectors.check(test, shared: shared, type: type)
        }
    }

    /// nil when the test's inputs are accepted, otherwise the name of the refusal.
    /// - Throws: `missing` or `differs`.
    package func outcome<H: HybridEncryption>(
        of fields: [String: JSON], shared: [String: JSON], type: String, using hybrid: H.Type
    ) throws(VectorError) -> String? {
        do {
            try check(Fields(values: fields), shared: Fields(values: shared), type: type, using: H.self)
            return nil
        } catch {
            switch error {
            case .refused, .disbelieved: return error.description
            case .missing, .differs: throw error
            }
        }
    }

    /// The ids of tests that do not hold.
    package func misses<H: HybridEncryption>(in file: VectorFile, using hybrid: H.Type) -> [String] {
        var misses: [String] = []
        var count = 0
        for group in file.testGroups {
            for test in group.tests {
                count += 1
                if test.tcId != count { misses.append("tcId \(test.tcId) is out of order") }
                do {
                    let reason = try outcome(of: test.fields, shared: group.shared, type: group.type, using: H.self)
                    let expected = test.result == "valid" ? nil : test.reason
                    guard test.result == "valid" || (test.result == "invalid" && test.reason != nil), reason == expected
                    else {
                        misses.append(
                            "\(test.tcId) “\(test.comment)”: \(reason ?? "accepted"), expected \(expected ?? "acceptance")"
                        )
                        continue
                    }
                } catch {
                    misses.append("\(test.tcId) “\(test.comment)”: \(error.description)")
                }
            }
        }
        if count != file.numberOfTests { misses.append("numberOfTests says \(file.numberOfTests), there are \(count)") }
        return misses
    }
}
