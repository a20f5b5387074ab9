extension ServerConfiguration {
    private static let variablePrefix = "SEALKIT_"

    /// `SEALKIT_TLS_KEY`.
    static func environmentName(of setting: String) -> String {
        variablePrefix + setting.uppercased().replacing("-", with: "_")
    }

    /// The variables of the settings.
    private static let settingVariables = Set(settings.keys.map(environmentName))

    /// What other commands of `sealkit` read: it may well be there too where a server starts.
    private static let clientVariables = Set(
        [
            "ACCOUNT", "CA_FILE", "CONTAINER", "ENVIRONMENT", "KEY_FILE", "MANAGEMENT_TOKEN", "NEW_PASSPHRASE",
            "OPERATOR_TOKEN", "PASSPHRASE", "RECOVERY_PASSPHRASE",
        ].map { variablePrefix + $0 })

    /// What the module CloudKit reads beside those, and no command.
    private static let moduleVariables: Set = [variablePrefix + "STATE"]

    /// What this project's own tests and tools read.
    private static let toolVariables = Set(
        [
            "ATTACK_OUTCOMES", "FULL_DISK", "FUZZ", "MEASURE", "PUBLISHED_VECTORS", "SERVE", "STRICT", "TEST_DATABASE",
            "TEST_LOG", "TEST_POSTGRES", "TEST_POSTGRES_ARCHIVE", "TEST_POSTGRES_DATA", "TEST_S3", "TEST_S3_FOLDER",
            "TEST_SMTP",
            "TEST_SMTP_CA", "TEST_SMTP_USER",
        ].map { variablePrefix + $0 })

    /// Throws for a variable that looks like a setting and is none.
    static func requireKnown(_ environment: [String: String]) throws(ConfigurationError) {
        if let name = unknown(in: environment) {
            throw .unknownVariable(name: name, meant: meant(by: name, among: settingVariables))
        }
    }

    /// The same for a command that is no server: what was meant is something that such commands read, else a setting.
    public static func requireKnownToClients(_ environment: [String: String]) throws(ConfigurationError) {
        if let name = unknown(in: environment) {
            throw .unknownClientVariable(
                name: name,
                meant: meant(by: name, among: clientVariables) ?? meant(by: name, among: settingVariables),
                known: clientVariables.sorted())
        }
    }

    /// The first that looks as if it were for this program, and is not.
    private static func unknown(in environment: [String: String]) -> String? {
        environment.keys.filter { $0.hasPrefix(variablePrefix) }.sorted().first { name in
            !settingVariables.contains(name) && !clientVariables.contains(name) && !toolVariables.contains(name)
                && !moduleVariables.contains(name)
                && !isOfAService(name, environment[name] ?? "")
        }
    }

    /// Kubernetes gives every container the addresses of the services beside it, by their names: of one that is called
    /// `sealkit-db`, say, with `_DB` and then `_SERVICE_HOST`, `_SERVICE_PORT_HTTP`, `_PORT=tcp://10.0.0.1:8080`,
    /// `_PORT_8080_TCP_ADDR` and so on.
    private static func isOfAService(_ name: String, _ value: String) -> Bool {
        name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
            || (name.hasSuffix("_PORT") && value.contains("://"))
            || name.contains(/_PORT_[0-9]+_(TCP|UDP|SCTP)(_ADDR|_PORT|_PROTO)?$/)
    }

    /// The only one that begins so, or the nearest one; nil where none is close.
    private static func meant(by name: String, among names: Set<String>) -> String? {
        let longer = names.filter { $0.hasPrefix(name) }
        if let only = longer.first, longer.count == 1 { return only }
        return Misspelling.nearest(to: name, among: names) { $0 }
    }
}
