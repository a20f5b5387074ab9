import ArgumentParser
import SealKit

/// Of which requests something is shown or watched.
struct DimensionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("One operation alone, as records/modify.", valueName: "name"))
    var operation: String?

    @Option(help: ArgumentHelp("One container alone.", valueName: "name"))
    var container: String?

    @Option(help: ArgumentHelp("development or production alone.", valueName: "name"))
    var environment: String?

    @Option(help: ArgumentHelp("The public database alone, or private: all others.", valueName: "name"))
    var database: String?

    @Option(help: ArgumentHelp("One kind of client alone, as “swift/0.1.0 linux”.", valueName: "name"))
    var client: String?

    @Option(help: ArgumentHelp("Operation groups of one name alone.", valueName: "name"))
    var group: String?

    @Option(help: ArgumentHelp("Those alone that were refused with this code.", valueName: "code"))
    var code: String?

    var filters: [ServerOperator.Telemetry.Dimension: String] {
        let given: [(ServerOperator.Telemetry.Dimension, String?)] = [
            (.operation, operation), (.container, container), (.environment, environment), (.database, database),
            (.client, client), (.group, group), (.code, code),
        ]
        return given.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
}
