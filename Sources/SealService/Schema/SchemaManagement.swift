package import SealSchema
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Shows a container's schema, and changes it: development's by import and reset, production's by deployment, which
/// takes no type, field or role away. Of a change that is only asked about nothing is written.
package struct SchemaManagement: Sendable {
    private let transactions: Transactions
    private let schemas: SchemaStore
    private let jobs: Jobs
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    package init(
        transactions: Transactions, schemas: SchemaStore, jobs: Jobs, clock: @escaping @Sendable () -> Int64
    ) {
        self.transactions = transactions
        self.schemas = schemas
        self.jobs = jobs
        self.clock = clock
    }

    package func schema(_ container: String, _ environment: Environment) async throws -> Schema {
        try await transactions.read { [schemas] in try schemas.schema(container, environment, in: $0).schema }
    }

    /// With what names this content: see `importing`.
    package func version(
        _ container: String, _ environment: Environment
    ) async throws -> (schema: Schema, version: Int64) {
        let stored = try await transactions.read { [schemas] in try schemas.schema(container, environment, in: $0) }
        return (stored.schema, stored.version)
    }

    /// Replaces development's schema. Records stay as they are; those of types or fields that went can still be read.
    /// - Parameter shown: the version that was changed; nil to replace whatever there is.
    /// - Throws: `invalidArguments`; `serverRecordChanged` where development has another version by now.
    package func importing(
        _ message: Sealkit_V1_ImportSchemaRequest, _ container: String, _ environment: Environment,
        over shown: Int64? = nil
    ) async throws -> Sealkit_V1_ChangeSchemaResponse {
        guard environment == .development else {
            throw ServerError(
                .invalidArguments, "Schemas are imported into development only.",
                remedy: "Import the schema there, try it, then deploy it to production.")
        }
        let target: Schema
        do throws(SchemaError) { target = try Schema(parsing: message.schema).completed } catch {
            throw ServerError(
                .invalidArguments, "The schema is wrong at \(error).",
                remedy: "Mend it there; sealkit schema validate checks a file without a server.")
        }
        return try await change(
            container, .development, as: .schemaImported, dryRun: message.validateOnly, over: shown
        ) { _, production in
            let losses = SchemaDifference(from: production, to: target).losses
            guard losses.isEmpty else {
                throw ServerError(
                    .invalidArguments,
                    "Production has what this schema lacks or declares otherwise: \(Self.list(losses)).",
                    remedy: "Keep it: what was deployed stays. Export production's schema to see it.")
            }
            return target
        }
    }

    /// Brings production to development's schema: additive only.
    /// - Parameter shown: the version of development's that somebody has looked at; nil for whatever there is.
    /// - Throws: `invalidArguments`; `serverRecordChanged` where development has another version by now.
    package func deploy(
        _ message: Sealkit_V1_DeploySchemaRequest, _ container: String, _ environment: Environment,
        over shown: Int64? = nil
    ) async throws -> Sealkit_V1_ChangeSchemaResponse {
        guard environment == .production else {
            throw ServerError(
                .invalidArguments, "A deployment changes production.", remedy: "Name production in the path.")
        }
        return try await change(container, .production, as: .schemaDeployed, dryRun: message.dryRun, over: shown) {
            development, production in
            let losses = SchemaDifference(from: production, to: development).losses
            guard losses.isEmpty else {
                throw ServerError(
                    .invalidArguments, "Production would lose something: \(Self.list(losses)).",
                    remedy: "Bring it back in development: what was deployed stays. sealkit schema reset does so.")
            }
            return development
        }
    }

    /// Brings development back to production's schema. Records stay: the logs of their zones are signed by their
    /// owners, and no server can close them.
    /// - Parameter shown: the version of development's that somebody has looked at; nil for whatever there is.
    /// - Throws: `invalidArguments`; `serverRecordChanged` where development has another version by now.
    package func reset(
        _ message: Sealkit_V1_ResetSchemaRequest, _ container: String, _ environment: Environment,
        over shown: Int64? = nil
    ) async throws -> Sealkit_V1_ChangeSchemaResponse {
        guard environment == .development else {
            throw ServerError(
                .invalidArguments, "Production cannot be reset.", remedy: "Name development in the path.")
        }
        return try await change(
            container, .development, as: .schemaReset, dryRun: message.dryRun, over: shown
        ) { _, production in production }
    }

    /// - Parameters:
    ///   - shown: the version of development's that this is about; nil for whatever there is.
    ///   - target: what the environment is to have, from development's and production's schemas.
    private func change(
        _ container: String, _ environment: Environment, as kind: ManagementEvent.Kind, dryRun: Bool,
        over shown: Int64? = nil,
        to target: @escaping @Sendable (_ development: Schema, _ production: Schema) throws -> Schema
    ) async throws -> Sealkit_V1_ChangeSchemaResponse {
        let judge: @Sendable (any SQLConnection) throws -> (StoredSchema, Schema, SchemaDifference) = {
            [schemas] connection in
            let development = try schemas.schema(container, .development, in: connection)
            guard shown == nil || shown == development.version else {
                throw ServerError(
                    .serverRecordChanged, "Somebody has changed the schema since the page was loaded.",
                    remedy: "Go back, load the page again, and look at what it says now.")
            }
            let production = try schemas.schema(container, .production, in: connection)
            let target = try target(development.schema, production.schema)
            let stored = environment == .development ? development : production
            return (stored, target, SchemaDifference(from: stored.schema, to: target))
        }
        let difference: SchemaDifference
        if dryRun {
            difference = try await transactions.read { try judge($0).2 }
        } else {
            let now = clock()
            difference = try await transactions.write(at: .everything) { connection in
                let (stored, target, difference) = try judge(connection)
                guard !difference.changes.isEmpty else { return difference }
                let (_, change) = try SchemaTables.write(
                    target, over: stored, marksHistory: environment == .development, in: connection)
                try IndexBuilds.note(change, connection)
                let event = ManagementEvent(
                    kind, container: container, environment: environment.rawValue,
                    detail: difference.changes.map(\.description).joined(separator: ", "))
                try ManagementEvents.note(event, now: now, in: connection)
                return difference
            }
            jobs.wake(.indexes)
        }
        return .with {
            $0.applied = !dryRun
            $0.differences = difference.changes.map { change in
                .with {
                    $0.description_p = change.description
                    $0.loses = change.isLoss
                }
            }
        }
    }

    /// The first few, as people read them.
    private static func list(_ changes: [SchemaDifference.Change]) -> String {
        let shown = changes.prefix(5).map(\.description).joined(separator: ", ")
        return changes.count > 5 ? shown + " and \(changes.count - 5) more" : shown
    }
}
