import Foundation
import SealVectorChecks

enum Constructions {
    static let generatorVersion = "1"
    static let all: [any Construction.Type] = VectorConstruction.allCases.map { $0.generated }
    static let notes = [
        "Normal": "An ordinary case.",
        "Edge": "A case at a limit of the encoding.",
        "Altered": "One single thing is wrong: an altered, swapped, missing, added, replayed or foreign piece.",
        "Rule": "A rule of PROTOCOL.md, obeyed (valid) or broken (invalid).",
    ]

    static func file(of construction: any Construction.Type) throws -> VectorFile {
        var builder = VectorBuilder(construction)
        try construction.generate(into: &builder)
        return VectorFile(
            algorithm: construction.algorithm, schema: "schema/vectors.json", generatorVersion: generatorVersion,
            numberOfTests: builder.count, header: construction.header, notes: notes, testGroups: builder.groups)
    }
}

extension VectorConstruction {
    /// What generates it: every one has something.
    fileprivate var generated: any Construction.Type {
        switch self {
        case .pae: PAEVectors.self
        case .values: ValueVectors.self
        case .padding: PaddingVectors.self
        case .fields: FieldVectors.self
        case .identity: IdentityVectors.self
        case .safetyNumber: SafetyNumberVectors.self
        case .roster: RosterVectors.self
        case .epochs: EpochVectors.self
        case .grants: GrantVectors.self
        case .statements: StatementVectors.self
        case .statementTree: TreeVectors.self
        case .moves: MoveVectors.self
        case .placement: PlacementVectors.self
        case .deletions: DeletionVectors.self
        case .records: RecordVectors.self
        case .assets: AssetVectors.self
        case .publicDatabase: PublicVectors.self
        case .links: LinkVectors.self
        case .acceptance: AcceptanceVectors.self
        case .recovery: RecoveryVectors.self
        case .boxes: BoxVectors.self
        case .login: LoginVectors.self
        case .paseto: PasetoVectors.self
        case .enrolment: EnrolmentVectors.self
        case .clientJudge: ClientJudgeVectors.self
        case .clientAccept: ClientAcceptVectors.self
        case .clientWrite: ClientWriteVectors.self
        }
    }
}

extension VectorFile {
    init(decoding data: Data) throws { try self.init(JSONDecoder().decode(JSON.self, from: data)) }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(json) + Data("\n".utf8)
    }
}
