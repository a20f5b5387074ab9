/// A setting that the server cannot start with, and what to do about it.
public enum ConfigurationError: Error, Equatable, CustomStringConvertible {
    case missing(setting: String)
    case invalid(setting: String, expected: String)
    case unknownFlag(String)
    case unreadableFile(path: String)
    case unprotectedListener(address: String)
    case unprotectedRelay(host: String)
    case tlsFile(path: String)
    case secretsInsideData(path: String)

    public var description: String {
        switch self {
        case .missing(let setting): "The setting “\(setting)” is missing. Give --\(setting) or set it in the environment or file."
        case .invalid(let setting, let expected): "The setting “\(setting)” must be \(expected)."
        case .unknownFlag(let flag): "There is no setting “\(flag)”."
        case .unreadableFile(let path): "The configuration file \(path) cannot be read as YAML or JSON."
        case .unprotectedListener(let address):
            "Listening on \(address) without TLS would show sessions to the network. Give --tls-certificate and --tls-key, "
                + "or --behind-proxy when a proxy in front of this server ends TLS, or listen on 127.0.0.1."
        case .unprotectedRelay(let host):
            "Sending by way of \(host) like this could show codes, or the password there, to the network. Set --smtp-starttls required, "
                + "or use an smtps:// URL. Off, and opportunistic together with a password, are for a relay on this machine."
        case .tlsFile(let path): "\(path) is not a readable PEM file of the kind that TLS needs."
        case .secretsInsideData(let path):
            "The secrets folder \(path) lies inside the data folder, so backups of the data would hold it. Choose a sibling."
        }
    }
}
