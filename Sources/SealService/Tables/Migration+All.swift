package import SealStorage

extension Migration {
    /// What every database goes through, oldest first.
    package static let all: [Migration] = MigrationStep.allCases.map { step in
        Migration(named: step.rawValue, sql: sql(of: step, in: .sqlite), postgres: sql(of: step, in: .postgres))
    }

    private static func sql(of step: MigrationStep, in dialect: SQLDialect) -> String {
        var statements = Tables.all.compactMap { $0.statements(of: step, in: dialect) }
        if step == .baseline { statements.append(BilledTable.triggers(of: firstBilled, in: dialect)) }
        return statements.joined(separator: "\n")
    }

    /// Whose triggers the baseline makes, in its order; a table that is billed later has them in its own history.
    private static let firstBilled = [
        "record", "departure", "taken_deletion", "taken_record", "blob", "asset_part", "zone", "share", "roster_entry",
        "abandoned_entry", "epoch_grant", "link", "placeholder_address", "sealed_link", "access_request",
        "subscription", "identity", "login_key", "linked_address", "device", "recovery_bundle", "server_key",
        "operation",
    ]
}
