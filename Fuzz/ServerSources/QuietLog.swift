import Logging

/// Keeps metadata, which a request is known by, and says nothing.
struct QuietLog: LogHandler {
    static var logger: Logger {
        var logger = Logger(label: "fuzz") { _ in QuietLog() }
        logger[metadataKey: "hb.request.id"] = "fuzz"
        return logger
    }

    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}
