import ArgumentParser
import SealKit
import SealQuery

struct RecordQuery: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Find records by their plain fields.",
        discussion: """
            The predicate is in CloudKit's language; %@ stands for the next --arg. Encrypted fields cannot be asked for: the server \
            does not read them.

              sealkit record query "folder = 'work' AND size > %@" --arg int=3 --type Note --zone Notes
              sealkit record query "self CONTAINS 'plans'" --type Note --sort -creationDate
              sealkit record query --type Note --limit 20 --json
              sealkit record query "city = 'Berlin'" --type Place --database public

            Files stay on the server: sealkit record asset fetches one.

            --arg takes kind=value, with the kinds of `sealkit help record save`. Each record is verified and held against the \
            query; one that does not hold is reported, and nothing of it is shown; the exit code is then 76, \
            whatever else could not be shown.
            """)

    @Argument(help: "The predicate; all records of the type without one.")
    var predicate: String = "TRUEPREDICATE"

    @Option(help: "The record type.")
    var type: String

    @Option(
        name: .customLong("arg"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A value for the predicate's next %@, %K, %d or %f.", valueName: "kind=value"))
    var arguments: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Sort by this field; with a minus in front, descending. May be repeated.", valueName: "key"))
    var sort: [String] = []

    @Option(help: "The zone's name; without it, all of one's own zones.")
    var zone: String?

    @OptionGroup var shared: OwnerOption

    @Option(help: "public: the container's public database. Default: one's own zones, or the zone that is named.")
    var database: PlaceOptions.DatabaseName?

    @Option(help: "How many records at most.")
    var limit: Int?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if zone == nil, shared.owner != nil {
            throw ValidationError("Name the --zone as well: in zones of others a query is about one.")
        }
        if database == .public, zone != nil || shared.owner != nil {
            throw ValidationError("The public database has no zones, and is nobody's: leave --zone and --owner out.")
        }
        if let limit, limit < 1 { throw ValidationError("The --limit is at least 1.") }
    }

    func run(_ client: Client) async throws {
        let query = try query()
        let (database, zoneID) = place(client)
        var rest = limit
        var shown = ShownRecords()
        var page = try await database.records(
            matching: query, inZoneWith: zoneID, resultsLimit: rest ?? Query.maximumResults)
        while true {
            try shown.show(page.matchResults, output)
            rest = rest.map { $0 - page.matchResults.count }
            guard let cursor = page.queryCursor, rest ?? 1 > 0 else { break }
            page = try await database.records(continuingMatchFrom: cursor, resultsLimit: rest ?? Query.maximumResults)
        }
        if let failed = shown.failed { throw failed }
        output.note(shown.countText)
    }

    /// - Returns: no zone for all of the database's.
    private func place(_ client: Client) -> (database: Database, zoneID: RecordZone.ID?) {
        guard database == nil else { return (client.container.publicDatabase.fetchingAssets(.onDemand), nil) }
        let own = shared.resolve(zone ?? RecordZone.defaultName, client)
        return (own.database, zone == nil ? nil : own.zoneID)
    }

    private func query() throws(SealKitError) -> Query {
        var values: [any Query.Argument] = []
        for argument in arguments { values.append(try FieldArgument("argument:\(argument)").value) }
        let read: Query.Predicate
        do throws(QueryError) { read = try Query.Predicate(text: predicate, arguments: values) } catch {
            let place = error.offset.map { ", at character \($0 + 1)" } ?? ""
            throw SealKitError(.invalidArguments, error.reason + place, remedy: error.remedy)
        }
        let descriptors = sort.map { key in
            key.hasPrefix("-")
                ? Query.SortDescriptor(key: String(key.dropFirst()), ascending: false)
                : Query.SortDescriptor(key: key, ascending: true)
        }
        return Query(recordType: type, predicate: read, sortDescriptors: descriptors)
    }
}
