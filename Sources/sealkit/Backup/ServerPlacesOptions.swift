import ArgumentParser
import Foundation
import SealServer

/// Where a server has what.
struct ServerPlacesOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The server's data folder, as with serve. Default: $SEALKIT_DATA.", valueName: "folder"),
        completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp("Its secrets folder. Default: $SEALKIT_SECRETS, else <data>.secrets.", valueName: "folder"),
        completion: .directory)
    var secrets: String?

    @Option(
        help: ArgumentHelp("The settings file that it is started with, which may name both.", valueName: "file"),
        completion: .file())
    var config: String?

    /// - Parameter instead: what to use where the database is no file.
    /// - Throws: `Failure.Local` where no folder is named, or the database is PostgreSQL; what is wrong with the file.
    func resolved(instead: String) throws -> (data: String, secrets: String, origin: String?) {
        try Self.resolved(data: data, secrets: secrets, config: config, instead: instead)
    }

    static func resolved(
        data: String?, secrets: String?, config: String?, instead: String
    ) throws -> (data: String, secrets: String, origin: String?) {
        let places = try ServerConfiguration.places(
            data: data, secrets: secrets, environment: ProcessInfo.processInfo.environment, file: config)
        guard let data = places.data, let secrets = places.secrets else {
            throw Failure.Local(
                status: .badInput, reason: "no data folder was named",
                remedy: "give the --data or --config that the server runs with")
        }
        if let database = DatabaseMark(in: data).database
            ?? (places.hasDatabaseServer ? "a database of PostgreSQL" : nil)
        {
            throw Failure.Local(
                status: .badInput,
                reason: "the server at \(data) has \(database), and this command is for SQLite's file",
                remedy: instead)
        }
        return (data, secrets, places.origin)
    }
}

/// How a command of the operator's says what came of it.
struct ShownOptions: ParsableArguments {
    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Flag(help: "Print the bare result only.")
    var quiet = false

    var output: Output { Output(isJSON: json, isQuiet: quiet) }
}
