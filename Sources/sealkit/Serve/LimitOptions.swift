import ArgumentParser

/// How much the server takes. 0 is no limit; of each rate, ten minutes' worth may come at once.
struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Requests of one account a second, in the long run. Default: 1000.", valueName: "number"))
    var requestRate: String?

    @Option(
        help: ArgumentHelp(
            "Records and zones that one account saves or deletes a second, and roster entries that it gives back to a restored server, in the long run. Default: 5000.",
            valueName: "number"))
    var writeRate: String?

    @Option(
        help: ArgumentHelp(
            "Records that one account asks for a second, in the long run. Default: 20000.", valueName: "number"))
    var readRate: String?

    @Option(
        help: ArgumentHelp(
            "Invitations, acceptances, look-ups of people and verifications of one account a second, in the long run. Default: 20.",
            valueName: "number"))
    var sharingRate: String?

    @Option(
        help: ArgumentHelp(
            "Requests without a session a second from one client address, in the long run. Default: 100.",
            valueName: "number"))
    var anonymousRate: String?

    @Option(help: ArgumentHelp("Requests that are worked on at once. Default: 4096.", valueName: "number"))
    var requestsInFlight: String?

    @Option(
        help: ArgumentHelp(
            "Bytes of requests that are worked on at once, and as much again of answers. Default: 256 MiB.",
            valueName: "bytes"))
    var bytesInFlight: String?

    @Option(
        help: ArgumentHelp(
            "How long one request may keep all other writes waiting. What takes longer is taken back. Default: 2.",
            valueName: "seconds"))
    var writeBudget: String?

    @Option(
        help: ArgumentHelp(
            "What one account may store: everything that is kept for it and in all its zones. Default: 10 GiB.",
            valueName: "bytes"))
    var storageQuota: String?

    @Option(help: ArgumentHelp("What one container's public database may hold. Default: 10 GiB.", valueName: "bytes"))
    var publicStorageQuota: String?

    @Option(help: ArgumentHelp("Records in one zone. Default: no limit.", valueName: "number"))
    var recordsPerZone: String?

    @Option(help: ArgumentHelp("Zones that one user has in one container. Default: 10000.", valueName: "number"))
    var zonesPerUser: String?

    @Option(help: ArgumentHelp("Mails with codes an hour, to everybody together. Default: 5000.", valueName: "number"))
    var mailPerHour: String?

    @Option(
        help: ArgumentHelp(
            "Text messages with codes an hour, to everybody together. Default: 500.", valueName: "number"))
    var textsPerHour: String?

    /// By name, where they were given.
    var flags: [String: String] {
        var flags: [String: String] = [:]
        flags["request-rate"] = requestRate
        flags["write-rate"] = writeRate
        flags["read-rate"] = readRate
        flags["sharing-rate"] = sharingRate
        flags["anonymous-rate"] = anonymousRate
        flags["requests-in-flight"] = requestsInFlight
        flags["bytes-in-flight"] = bytesInFlight
        flags["write-budget"] = writeBudget
        flags["storage-quota"] = storageQuota
        flags["public-storage-quota"] = publicStorageQuota
        flags["records-per-zone"] = recordsPerZone
        flags["zones-per-user"] = zonesPerUser
        flags["mail-per-hour"] = mailPerHour
        flags["texts-per-hour"] = textsPerHour
        return flags
    }
}
