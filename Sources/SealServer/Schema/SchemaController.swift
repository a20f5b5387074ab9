import Hummingbird
import SealSchema
import SealService
import SealWire
import SwiftProtobuf

/// `schema/export`, `import`, `deploy`, `reset`: with a management token. The path's environment is the one that is
/// read or changed.
struct SchemaController: Sendable {
    let management: SchemaManagement

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.management.exportSchema) { _, call in
            let schema = try await management.schema(call.container, call.environment)
            return Sealkit_V1_ExportSchemaResponse.with { $0.schema = schema.text }
        }
        router.on(Endpoints.management.importSchema) { message, call in
            try await management.importing(message, call.container, call.environment)
        }
        router.on(Endpoints.management.deploySchema) { message, call in
            try await management.deploy(message, call.container, call.environment)
        }
        router.on(Endpoints.management.resetSchema) { message, call in
            try await management.reset(message, call.container, call.environment)
        }
    }
}
