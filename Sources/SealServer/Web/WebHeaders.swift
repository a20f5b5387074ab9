import HTTPTypes

/// What goes with everything of the web client, so that a browser runs nothing that did not come from it, shows it in
/// nobody's frame, and tells nobody where it was.
enum WebHeaders {
    /// A worker is held by what comes with its own script, so files have the same as pages.
    private static func policy(_ server: WebServer) -> String {
        let calls = server.calls.isEmpty ? "'self'" : "'self' \(server.calls)"
        return [
            "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "connect-src \(calls)", "worker-src 'self'",
            "style-src 'self'", "img-src 'self' blob:", "media-src blob:", "frame-ancestors 'none'", "base-uri 'none'",
            "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types sealkit",
        ].joined(separator: "; ")
    }

    /// Passkeys, and nothing else that a browser asks its user for.
    static let permissions =
        ([
            "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture",
            "encrypted-media", "fullscreen", "geolocation", "gyroscope", "hid", "identity-credentials-get",
            "idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "otp-credentials", "payment",
            "picture-in-picture", "screen-wake-lock", "serial", "storage-access", "usb",
            "window-management", "xr-spatial-tracking",
        ].map { "\($0)=()" } + ["publickey-credentials-create=(self)", "publickey-credentials-get=(self)"])
        .joined(separator: ", ")

    /// Of what a server answers to the page's calls: at the page's own origin nothing of it may be a page.
    static let ofAnswers = "default-src 'none'; frame-ancestors 'none'; sandbox"

    /// Where the page calls the server that it comes from.
    static let all = all(.here)

    static func all(_ server: WebServer) -> HTTPFields {
        var fields: HTTPFields = [.contentSecurityPolicy: policy(server), .xContentTypeOptions: "nosniff"]
        for (name, value) in [
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"), ("Permissions-Policy", permissions),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }
}
