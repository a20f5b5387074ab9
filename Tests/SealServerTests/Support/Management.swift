import Foundation
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Somebody with a management token.
struct Management: Sendable {
    let client: TestClient
    var token: String

    /// With the operator's token.
    init(_ server: RunningServer) throws {
        client = try TestClient(server)
        let file = server.folder.file("data.secrets/management.token")
        token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    func call<Answer: Message>(
        _ call: String, _ environment: SealStatements.Environment, _ message: any Message, as: Answer.Type,
        container: String = TestClient.container
    ) async throws -> Answer {
        try await client.call(
            "/database/1/\(container)/\(environment.name)/schema/\(call)", message, as: Answer.self, token: token)
    }

    func export(_ environment: SealStatements.Environment = .development) async throws -> String {
        try await call(
            "export", environment, Sealkit_V1_ExportSchemaRequest(), as: Sealkit_V1_ExportSchemaResponse.self
        ).schema
    }

    @discardableResult
    func importing(_ text: String, validateOnly: Bool = false) async throws -> Sealkit_V1_ChangeSchemaResponse {
        let request = Sealkit_V1_ImportSchemaRequest.with { ($0.schema, $0.validateOnly) = (text, validateOnly) }
        return try await call("import", .development, request, as: Sealkit_V1_ChangeSchemaResponse.self)
    }

    @discardableResult
    func deploy(dryRun: Bool = false) async throws -> Sealkit_V1_ChangeSchemaResponse {
        try await call(
            "deploy", .production, Sealkit_V1_DeploySchemaRequest.with { $0.dryRun = dryRun },
            as: Sealkit_V1_ChangeSchemaResponse.self)
    }

    func reset(dryRun: Bool = false) async throws -> Sealkit_V1_ChangeSchemaResponse {
        try await call(
            "reset", .development, Sealkit_V1_ResetSchemaRequest.with { $0.dryRun = dryRun },
            as: Sealkit_V1_ChangeSchemaResponse.self)
    }
}

extension Schema {
    func adding(types: [String: [String: RecordType.Field]]) -> Schema {
        var schema = self
        for (name, fields) in types { schema.types[name] = RecordType(name: name, fields: fields) }
        return schema
    }
}

extension RunningServer {
    func schema(_ environment: SealStatements.Environment = .development) async throws -> StoredSchema {
        let schemas = services.schemas
        return try await services.database.read { try schemas.schema(TestClient.container, environment, in: $0) }
    }

    /// Puts a schema in place, whatever was there.
    func deploy(_ schema: Schema, to environment: SealStatements.Environment = .production) async throws {
        let schemas = services.schemas
        try await services.database.write(at: .everything) { connection in
            let stored = try schemas.schema(TestClient.container, environment, in: connection)
            _ = try SchemaTables.write(schema, over: stored, in: connection)
        }
    }
}
