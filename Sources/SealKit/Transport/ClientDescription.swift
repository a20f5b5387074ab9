/// What a request says of who sends it, for the server's telemetry: this library with its version, and the system.
/// Nothing of the app, the device or its user.
enum ClientDescription {
    static let headerName = "sealkit-client"
    static let value = "swift/\(version) \(system)"

    /// As the server's is.
    private static let version = "0.1.0"

    private static var system: String {
        #if os(Linux)
            "linux"
        #elseif os(macOS)
            "macos"
        #elseif os(iOS)
            "ios"
        #elseif os(tvOS)
            "tvos"
        #elseif os(watchOS)
            "watchos"
        #elseif os(visionOS)
            "visionos"
        #else
            "other"
        #endif
    }
}
